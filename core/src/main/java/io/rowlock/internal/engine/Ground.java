package io.rowlock.internal.engine;

import io.rowlock.internal.sql.Names;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.PayloadCodec;

/** What every worker of one Rowlock stands on: its database, the names there, the codec, and who is told of events. */
public record Ground(ConnectionSource connections, Names names, PayloadCodec codec, Events events) {}
