-- Rowlock 5: suspects with keys in an index of their own, cancels of jobs whose rows are locked, all of Java's checks in rowlock_enqueue.

CREATE INDEX rowlock_job_keyed_suspect ON rowlock_job (queue, kind, priority, run_at, id)
  WHERE state = 'ready' AND (ordering_key IS NOT NULL OR limit_key IS NOT NULL) AND losses > 0;

-- Of rows that others write: a worker could not count these up, or lock that key. Rows of before are not looked at.
ALTER TABLE rowlock_job ADD CONSTRAINT rowlock_job_bounds CHECK (
  attempts < 2147483647 AND losses < 2147483647 AND token < 9223372036854775807 AND ordering_key <> '') NOT VALID;

CREATE TABLE rowlock_cancel_request (
  job_id   bigint      NOT NULL CONSTRAINT rowlock_cancel_request_pk PRIMARY KEY,
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason   text        NOT NULL,
  CONSTRAINT rowlock_cancel_request_texts CHECK (length(reason) <= 2000)
);
COMMENT ON TABLE rowlock_cancel_request IS 'Jobs that are to be cancelled as soon as their rows are free: a transactional handler has its row locked. Gone when the job is finished.';
COMMENT ON COLUMN rowlock_cancel_request.job_id IS 'The job; no foreign key, as that would lock its row.';
COMMENT ON COLUMN rowlock_cancel_request.asked_at IS 'When it was asked for first.';
COMMENT ON COLUMN rowlock_cancel_request.reason IS 'By whom and why; becomes the job''s last_error.';

CREATE OR REPLACE FUNCTION rowlock_enqueue(
  kind              text,
  payload           json,
  run_at            timestamptz DEFAULT NULL,
  delay             interval    DEFAULT NULL,
  queue             text        DEFAULT 'default',
  priority          text        DEFAULT 'normal',
  subject           text        DEFAULT NULL,
  headers           json        DEFAULT NULL,
  max_attempts      integer     DEFAULT NULL,
  ordering_key      text        DEFAULT NULL,
  dedup_key         text        DEFAULT NULL,
  dedup_mode        text        DEFAULT NULL,
  max_payload_bytes integer     DEFAULT 2097152,
  limit_key         text        DEFAULT NULL
) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $rowlock$
#variable_conflict use_column
DECLARE
  new_kind     ALIAS FOR $1;
  new_payload  ALIAS FOR $2;
  new_run_at   ALIAS FOR $3;
  new_delay    ALIAS FOR $4;
  new_queue    ALIAS FOR $5;
  new_priority ALIAS FOR $6;
  new_subject  ALIAS FOR $7;
  new_headers  ALIAS FOR $8;
  new_attempts ALIAS FOR $9;
  new_order    ALIAS FOR $10;
  new_key      ALIAS FOR $11;
  new_mode     ALIAS FOR $12;
  most_bytes   ALIAS FOR $13;
  new_limit    ALIAS FOR $14;
  what         text;
  value        text;
  required     boolean;
  level        smallint;
  mode         text := coalesce(new_mode, 'keep');
  due          timestamptz;
  answer       bigint;
BEGIN
  IF json_typeof(new_headers) <> 'object' THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('headers must be a JSON object of texts, got %s', json_typeof(new_headers));
  ELSIF new_headers::text ~ '(^|[^\\])(\\\\)*\\u0000' THEN
    RAISE invalid_parameter_value USING
      MESSAGE = 'headers must not have the character U+0000', HINT = 'Remove it, or put the data into the payload.';
  END IF;
  FOR what, value, required IN VALUES
      ('kind', new_kind, true), ('queue', new_queue, true), ('subject', new_subject, false),
      ('ordering_key', new_order, false), ('limit_key', new_limit, false), ('dedup_key', new_key, false)
      UNION ALL SELECT 'header name', name, true FROM json_object_keys(new_headers) AS name LOOP
    IF value IS NULL AND required OR value ~ '^[\u0009-\u000d\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]*$' THEN
      RAISE invalid_parameter_value USING
        MESSAGE = format('%s must not be %s', what, CASE WHEN value IS NULL THEN 'null' ELSE 'blank' END);
    ELSIF length(value) > 200 THEN
      RAISE invalid_parameter_value USING
        MESSAGE = format('%s must have at most 200 characters, got %s', what, length(value)),
        HINT = 'Shorten it, or use a hash of the long text.';
    ELSIF value ~ '[\u0001-\u001f\u007f-\u009f]' THEN
      RAISE invalid_parameter_value USING
        MESSAGE = format('%s must have no control characters', what), HINT = 'Remove them.';
    END IF;
  END LOOP;
  IF (SELECT count(*) > count(DISTINCT name) FROM json_object_keys(new_headers) AS name) THEN
    RAISE invalid_parameter_value USING MESSAGE = 'headers must have each name once';
  END IF;
  IF most_bytes IS NULL OR most_bytes NOT BETWEEN 1 AND 67108864 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('max_payload_bytes must be between 1 and 67108864, got %s', coalesce(most_bytes::text, 'null'));
  END IF;
  IF new_payload IS NULL OR json_typeof(new_payload) = 'null' THEN
    RAISE invalid_parameter_value USING MESSAGE = format('The payload of a job must not be null (kind=%s)', new_kind);
  ELSIF octet_length(new_payload::text) > most_bytes THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('The payload of kind %s has %s bytes, more than the limit of %s',
                       new_kind, octet_length(new_payload::text), most_bytes),
      HINT = 'Store the data in a table of its own and put its key into the payload, or raise max_payload_bytes.';
  END IF;
  IF EXISTS (SELECT FROM json_each(new_headers) AS header WHERE json_typeof(header.value) <> 'string') THEN
    RAISE invalid_parameter_value USING
      MESSAGE = 'headers must be a JSON object of texts, got another value in it', HINT = 'Write numbers as texts.';
  ELSIF octet_length(new_headers::text) > 8192 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('The headers of a job have %s bytes, more than the limit of 8192', octet_length(new_headers::text)),
      HINT = 'Put the data into the payload.';
  END IF;
  level := CASE new_priority WHEN 'high' THEN 0 WHEN 'normal' THEN 1 WHEN 'low' THEN 2 END;
  IF level IS NULL THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('priority must be high, normal or low, got %s', coalesce(new_priority, 'null'));
  END IF;
  IF new_attempts NOT BETWEEN 1 AND 1000000 THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('max_attempts must be between 1 and 1000000, got %s', new_attempts);
  END IF;
  IF new_run_at IS NOT NULL AND new_delay IS NOT NULL THEN
    RAISE invalid_parameter_value USING MESSAGE = 'run_at and delay cannot both be set for one job';
  ELSIF extract(epoch FROM new_delay) NOT BETWEEN 0 AND 36600 * 86400.0 THEN
    RAISE invalid_parameter_value USING MESSAGE = format('delay must be between 0 and 100 years, got %s', new_delay);
  ELSIF new_run_at > timestamptz '9999-12-31 23:59:59Z' THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('run_at must be a time up to 9999-12-31T23:59:59Z, got %s', new_run_at);
  END IF;
  IF mode NOT IN ('keep', 'replace', 'push-back', 'once') THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('dedup_mode must be keep, replace, push-back or once, got %s', mode);
  ELSIF new_mode IS NOT NULL AND new_key IS NULL THEN
    RAISE invalid_parameter_value USING MESSAGE = 'dedup_mode needs a dedup_key';
  ELSIF new_key IS NOT NULL AND current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('Jobs with dedup keys can be written in a READ COMMITTED transaction only, this one is %s',
                       current_setting('transaction_isolation')),
      HINT = 'Leave the key out, or use READ COMMITTED.';
  END IF;
  due := greatest(clock_timestamp(), new_run_at, clock_timestamp() + new_delay);

  -- Each further round needs a claim, or a prune, between its two statements.
  FOR round IN 1..1000 LOOP
    INSERT INTO rowlock_job (queue, kind, priority, subject, payload, headers, max_attempts, ordering_key, limit_key,
                             dedup_key, dedup_mode, waiting_key, run_at)
    VALUES (new_queue, new_kind, level, new_subject, new_payload, new_headers, new_attempts, new_order, new_limit, new_key,
            CASE WHEN new_key IS NOT NULL THEN mode END, CASE WHEN mode <> 'once' THEN new_key END, due)
    ON CONFLICT DO NOTHING
    RETURNING id INTO answer;
    IF FOUND THEN
      RETURN answer;
    END IF;
    CASE mode
      WHEN 'once' THEN
        SELECT id INTO answer FROM rowlock_job WHERE kind = new_kind AND dedup_key = new_key AND dedup_mode = 'once';
      WHEN 'keep' THEN
        SELECT id INTO answer FROM rowlock_job WHERE kind = new_kind AND waiting_key = new_key FOR SHARE;
      WHEN 'replace' THEN
        UPDATE rowlock_job SET payload = new_payload, headers = new_headers, subject = new_subject, created_at = clock_timestamp()
        WHERE kind = new_kind AND waiting_key = new_key RETURNING id INTO answer;
      WHEN 'push-back' THEN
        UPDATE rowlock_job SET run_at = greatest(run_at, due)
        WHERE kind = new_kind AND waiting_key = new_key RETURNING id INTO answer;
    END CASE;
    IF FOUND THEN
      RETURN answer;
    END IF;
  END LOOP;
  RAISE serialization_failure USING
    MESSAGE = format('The job that holds the dedup key changes too fast (kind=%s)', new_kind), HINT = 'Try again.';
END
$rowlock$;
