-- Rowlock 3: limits over all workers, for queues and for limit keys.

ALTER TABLE rowlock_job ADD COLUMN limited boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN rowlock_job.limited IS 'Of a parked job: it is parked because its limit key was full.';
CREATE INDEX rowlock_job_limited ON rowlock_job (queue, limit_key, kind, priority, run_at, id)
  WHERE state = 'parked' AND limited;

COMMENT ON COLUMN rowlock_job.created_at IS 'When the row was written, or its payload was replaced last.';

ALTER TABLE rowlock_queue
  ADD COLUMN running integer,
  ADD COLUMN rate integer,
  ADD COLUMN rate_per interval,
  ADD COLUMN key_running integer,
  ADD COLUMN key_rate integer,
  ADD COLUMN key_rate_per interval,
  ADD CONSTRAINT rowlock_queue_limits CHECK (
    running BETWEEN 1 AND 1000000 AND rate BETWEEN 1 AND 1000000
    AND key_running BETWEEN 1 AND 1000000 AND key_rate BETWEEN 1 AND 1000000
    AND rate_per BETWEEN interval '1 second' AND interval '365 days'
    AND key_rate_per BETWEEN interval '1 second' AND interval '365 days'
    AND extract(month FROM rate_per) + extract(year FROM rate_per) = 0
    AND extract(month FROM key_rate_per) + extract(year FROM key_rate_per) = 0),
  ADD CONSTRAINT rowlock_queue_rates CHECK (
    (rate IS NULL) = (rate_per IS NULL) AND (key_rate IS NULL) = (key_rate_per IS NULL));
COMMENT ON COLUMN rowlock_queue.running IS 'How many jobs of the queue run at once, over all workers; null: as many as the workers can.';
COMMENT ON COLUMN rowlock_queue.rate IS 'How many jobs of the queue are claimed per window, over all workers; null: no such limit.';
COMMENT ON COLUMN rowlock_queue.rate_per IS 'The length of a window for rate; windows begin at multiples of it since 1970.';
COMMENT ON COLUMN rowlock_queue.key_running IS 'As running, for the jobs of each limit key.';
COMMENT ON COLUMN rowlock_queue.key_rate IS 'As rate, for the jobs of each limit key.';
COMMENT ON COLUMN rowlock_queue.key_rate_per IS 'The length of a window for key_rate.';

CREATE TABLE rowlock_limit (
  window_at   timestamptz NOT NULL DEFAULT '-infinity',
  window_used integer     NOT NULL DEFAULT 0,
  parked      boolean     NOT NULL DEFAULT false,
  queue       text        NOT NULL,
  limit_key   text        NOT NULL,
  CONSTRAINT rowlock_limit_pk PRIMARY KEY (queue, limit_key),
  CONSTRAINT rowlock_limit_texts CHECK (length(queue) BETWEEN 1 AND 200 AND length(limit_key) <= 200),
  CONSTRAINT rowlock_limit_used CHECK (window_used >= 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
COMMENT ON TABLE rowlock_limit IS 'One row per limit in use: of a queue, and of each limit key with work. Whoever takes or frees what is limited locks it first.';
COMMENT ON COLUMN rowlock_limit.window_at IS 'The beginning of the window in which jobs were claimed last.';
COMMENT ON COLUMN rowlock_limit.window_used IS 'How many jobs were claimed in that window.';
COMMENT ON COLUMN rowlock_limit.parked IS 'Whether jobs of the limit key may be parked because it was full.';
COMMENT ON COLUMN rowlock_limit.queue IS 'The queue.';
COMMENT ON COLUMN rowlock_limit.limit_key IS 'The limit key; empty: the queue itself.';

CREATE TABLE rowlock_slot (
  id         bigint      GENERATED ALWAYS AS IDENTITY,
  held_until timestamptz NOT NULL,
  held       integer     NOT NULL,
  queue      text        NOT NULL,
  limit_key  text        NOT NULL,
  owner      text        NOT NULL,
  CONSTRAINT rowlock_slot_pk PRIMARY KEY (queue, limit_key, owner),
  CONSTRAINT rowlock_slot_held CHECK (held >= 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
CREATE UNIQUE INDEX rowlock_slot_id ON rowlock_slot (id);
CREATE INDEX rowlock_slot_owner ON rowlock_slot (owner);
COMMENT ON TABLE rowlock_slot IS 'How many of the jobs that may run at once under a limit a worker holds; with none and time left, it waits for some.';
COMMENT ON COLUMN rowlock_slot.id IS 'The row''s number.';
COMMENT ON COLUMN rowlock_slot.held_until IS 'When they are free again unless extended.';
COMMENT ON COLUMN rowlock_slot.held IS 'How many.';
COMMENT ON COLUMN rowlock_slot.queue IS 'The queue.';
COMMENT ON COLUMN rowlock_slot.limit_key IS 'The limit key; empty: the queue itself.';
COMMENT ON COLUMN rowlock_slot.owner IS 'The worker incarnation that holds them.';

DROP FUNCTION IF EXISTS rowlock_enqueue(
  text, json, timestamptz, interval, text, text, text, json, integer, text, text, text, integer);

-- The same checks, statements and answers as the outbox in Java; what that refuses is raised here, with SQLSTATE 22023.
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
  FOR what, value, required IN VALUES
      ('kind', new_kind, true), ('queue', new_queue, true), ('subject', new_subject, false),
      ('ordering_key', new_order, false), ('limit_key', new_limit, false), ('dedup_key', new_key, false) LOOP
    IF value IS NULL AND required OR value ~ '^\s*$' THEN
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
  IF new_payload IS NULL OR json_typeof(new_payload) = 'null' THEN
    RAISE invalid_parameter_value USING MESSAGE = format('The payload of a job must not be null (kind=%s)', new_kind);
  ELSIF octet_length(new_payload::text) > most_bytes THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('The payload of kind %s has %s bytes, more than the limit of %s',
                       new_kind, octet_length(new_payload::text), most_bytes),
      HINT = 'Store the data in a table of its own and put its key into the payload, or raise max_payload_bytes.';
  END IF;
  IF json_typeof(new_headers) <> 'object' THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('headers must be a JSON object of texts, got %s', json_typeof(new_headers));
  ELSIF EXISTS (SELECT FROM json_each(new_headers) AS header WHERE json_typeof(header.value) <> 'string') THEN
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
COMMENT ON FUNCTION rowlock_enqueue IS 'Writes a job in the caller''s transaction, for triggers and other languages; gives its id, or that of the job which holds the dedup key. Runs with the caller''s rights.';
