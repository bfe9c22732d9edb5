package io.rowlock.internal.engine;

import io.rowlock.error.RowlockException;
import io.rowlock.internal.outbox.PayloadVersion;
import io.rowlock.internal.sql.ClaimSql.ClaimedRow.Contents;
import io.rowlock.job.JobKind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.Snooze;
import io.rowlock.spi.PayloadCodec;
import io.rowlock.worker.HandlerBinding;
import io.rowlock.worker.PayloadUpcast;
import io.rowlock.worker.PayloadUpcast.OfJson;
import io.rowlock.worker.PayloadUpcast.OfType;
import java.util.List;

/*
 * A payload has the version that its writer knew:
 *
 *   older than the handler's    goes through the upcasts, from its own version on
 *   the same                    is read
 *   newer, in a rolling deploy  is read as if it were the same: what is unknown is ignored. If that fails, the attempt fails
 *                               like any other, and by the next one a newer worker may have the job
 */

/** Reads a job's payload as its handler's type. What cannot be read is that job's failure alone. */
final class Payloads {
    private final PayloadCodec codec;

    Payloads(PayloadCodec codec) {
        this.codec = codec;
    }

    <T> T read(Contents contents, HandlerBinding<T> binding) throws Exception {
        JobKind<T> kind = binding.kind();
        int written = PayloadVersion.of(contents.headers());
        if (written < kind.version()) {
            String json =
                    upcast(contents.payload(), written, kind, binding.settings().upcasts());
            return codec.decode(json, kind.payloadType());
        }
        try {
            return codec.decode(contents.payload(), kind.payloadType());
        } catch (Exception e) {
            if (written == kind.version()) {
                throw e;
            }
            throw new RowlockException(
                    "The payload has version " + written + " of kind " + kind.name()
                            + ", and cannot be read as version "
                            + kind.version() + ", which this worker knows; a newer worker may read it: "
                            + Described.message(e),
                    e);
        }
    }

    private String upcast(String payload, int written, JobKind<?> kind, List<PayloadUpcast> chain) {
        String json = payload;
        int version = written;
        for (PayloadUpcast each : chain) {
            if (each.fromVersion() == version) {
                json = next(json, each, kind);
                version++;
            }
        }
        if (version < kind.version()) {
            throw new RowlockException("The payload has version " + written + " of kind " + kind.name()
                    + ", and there is no upcast from it to version " + kind.version() + "; add upcast(" + written
                    + ", ...) to its handler");
        }
        return json;
    }

    private String next(String json, PayloadUpcast upcast, JobKind<?> kind) {
        try {
            String next = upcast instanceof OfJson text ? text.json().apply(json) : ofType(json, (OfType<?>) upcast);
            if (next == null) {
                throw new RowlockException("it gave null");
            }
            return next;
        } catch (PermanentFailure | RetryAfter | Snooze saysWhatFollows) {
            throw saysWhatFollows;
        } catch (Exception | StackOverflowError e) {
            throw new RowlockException(
                    "The upcast from version " + upcast.fromVersion() + " of kind " + kind.name() + " failed: "
                            + Described.message(e),
                    e);
        }
    }

    private <O> String ofType(String json, OfType<O> upcast) throws Exception {
        Object next = upcast.payload().apply(codec.decode(json, upcast.oldType()));
        if (next == null) {
            throw new RowlockException("it gave null");
        }
        return codec.encode(next);
    }
}
