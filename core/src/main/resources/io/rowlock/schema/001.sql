-- Rowlock 1: jobs, failed attempts, alerts. Names are written rowlock_* here and replaced by the configured ones.

CREATE TABLE rowlock_schema (
  version      integer     NOT NULL,
  installed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  installation uuid        NOT NULL DEFAULT gen_random_uuid(),
  CONSTRAINT rowlock_schema_pk PRIMARY KEY (version)
);
COMMENT ON TABLE rowlock_schema IS 'One row per version of Rowlock''s tables that was installed here.';
COMMENT ON COLUMN rowlock_schema.version IS 'The version; the highest is the one in force.';
COMMENT ON COLUMN rowlock_schema.installed_at IS 'When it was installed.';
COMMENT ON COLUMN rowlock_schema.installation IS 'That of version 1 is the first part of every idempotency key given to the outside world.';

CREATE TABLE rowlock_job (
  id            bigint      GENERATED ALWAYS AS IDENTITY,
  token         bigint      NOT NULL DEFAULT 0,
  run_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  locked_until  timestamptz,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at   timestamptz,
  attempts      integer     NOT NULL DEFAULT 0,
  losses        integer     NOT NULL DEFAULT 0,
  max_attempts  integer,
  priority      smallint    NOT NULL DEFAULT 1,
  state         text        NOT NULL DEFAULT 'ready',
  queue         text        NOT NULL DEFAULT 'default',
  kind          text        NOT NULL,
  locked_by     text,
  subject       text,
  ordering_key  text,
  limit_key     text,
  dedup_key     text,
  dedup_mode    text,
  waiting_key   text,
  payload       json        NOT NULL,
  headers       json,
  last_error    text,
  CONSTRAINT rowlock_job_pk PRIMARY KEY (id),
  CONSTRAINT rowlock_job_state CHECK (state IN ('ready', 'parked', 'completed', 'dead', 'cancelled')
    AND (state IN ('completed', 'dead', 'cancelled')) = (finished_at IS NOT NULL)),
  CONSTRAINT rowlock_job_lease CHECK ((locked_by IS NULL) = (locked_until IS NULL)
    AND (locked_by IS NULL OR state = 'ready')),
  CONSTRAINT rowlock_job_numbers CHECK (attempts >= 0 AND losses >= 0 AND max_attempts >= 1 AND priority BETWEEN 0 AND 2),
  CONSTRAINT rowlock_job_texts CHECK (length(queue) BETWEEN 1 AND 200 AND length(kind) BETWEEN 1 AND 200
    AND length(locked_by) <= 200 AND length(subject) <= 200 AND length(ordering_key) <= 200
    AND length(limit_key) <= 200 AND length(dedup_key) <= 200 AND length(waiting_key) <= 200),
  CONSTRAINT rowlock_job_dedup CHECK (dedup_mode IN ('keep', 'replace', 'push-back', 'once')
    AND (dedup_mode IS NULL) = (dedup_key IS NULL))
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

-- The lease columns stand in no index and no predicate, so that claims and heartbeats are HOT updates.
CREATE INDEX rowlock_job_due ON rowlock_job (queue, kind, priority, run_at, id)
  WHERE state = 'ready' AND ordering_key IS NULL AND limit_key IS NULL AND losses = 0;
CREATE INDEX rowlock_job_suspect ON rowlock_job (queue, kind, priority, run_at, id)
  WHERE state = 'ready' AND ordering_key IS NULL AND limit_key IS NULL AND losses > 0;
CREATE INDEX rowlock_job_keyed ON rowlock_job (queue, kind, priority, run_at, id)
  WHERE state = 'ready' AND (ordering_key IS NOT NULL OR limit_key IS NOT NULL);
CREATE INDEX rowlock_job_order ON rowlock_job (queue, ordering_key, id)
  WHERE state IN ('ready', 'parked') AND ordering_key IS NOT NULL;
CREATE UNIQUE INDEX rowlock_job_waiting ON rowlock_job (kind, waiting_key) WHERE waiting_key IS NOT NULL;
CREATE UNIQUE INDEX rowlock_job_once ON rowlock_job (kind, dedup_key) WHERE dedup_mode = 'once';
CREATE INDEX rowlock_job_finished ON rowlock_job (state, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX rowlock_job_subject ON rowlock_job (subject, id) WHERE subject IS NOT NULL;

COMMENT ON TABLE rowlock_job IS 'One row per job: what to do, when, and how it went. A ready row with locked_by set is being worked on.';
COMMENT ON COLUMN rowlock_job.id IS 'Rises in the order of the enqueues of one transaction; says nothing about commit order.';
COMMENT ON COLUMN rowlock_job.token IS 'Fencing number: goes up whenever the owner changes or is taken away, never down.';
COMMENT ON COLUMN rowlock_job.run_at IS 'When the job is due, by this server''s clock.';
COMMENT ON COLUMN rowlock_job.locked_until IS 'When the lease runs out; only a sweep that finds it past takes the job away.';
COMMENT ON COLUMN rowlock_job.created_at IS 'When the row was written.';
COMMENT ON COLUMN rowlock_job.finished_at IS 'When the job reached completed, dead or cancelled.';
COMMENT ON COLUMN rowlock_job.attempts IS 'Claims that ran the handler, counted when claimed.';
COMMENT ON COLUMN rowlock_job.losses IS 'Claims that ended by an expired lease; above 0 the job is a suspect and is claimed alone.';
COMMENT ON COLUMN rowlock_job.max_attempts IS 'The job''s own limit; null: the retry policy of whoever claims or rescues it.';
COMMENT ON COLUMN rowlock_job.priority IS '0 high, 1 normal, 2 low.';
COMMENT ON COLUMN rowlock_job.state IS 'ready, parked, completed, dead or cancelled.';
COMMENT ON COLUMN rowlock_job.queue IS 'A named group of jobs with its own concurrency.';
COMMENT ON COLUMN rowlock_job.kind IS 'The stable logical name of the job type; never a class name.';
COMMENT ON COLUMN rowlock_job.locked_by IS 'The worker incarnation that holds the lease.';
COMMENT ON COLUMN rowlock_job.subject IS 'What the job is about, such as Order:42.';
COMMENT ON COLUMN rowlock_job.ordering_key IS 'Jobs of one queue with one key run one at a time, in order.';
COMMENT ON COLUMN rowlock_job.limit_key IS 'Jobs with one key share a limit over all workers.';
COMMENT ON COLUMN rowlock_job.dedup_key IS 'At most one waiting job per kind and key, or at most one ever.';
COMMENT ON COLUMN rowlock_job.dedup_mode IS 'keep, replace, push-back or once.';
COMMENT ON COLUMN rowlock_job.waiting_key IS 'The dedup key while the job waits; cleared by its claim.';
COMMENT ON COLUMN rowlock_job.payload IS 'The payload as JSON text, exactly as written; cast to jsonb to query.';
COMMENT ON COLUMN rowlock_job.headers IS 'Tenant, actor, trace and the like, as a JSON object of texts.';
COMMENT ON COLUMN rowlock_job.last_error IS 'Why the last attempt failed, cut at 2000 characters.';

CREATE TABLE rowlock_job_failure (
  job_id      bigint      NOT NULL,
  at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  attempt     integer     NOT NULL,
  worker      text        NOT NULL,
  error_class text        NOT NULL,
  message     text        NOT NULL,
  stack       text        NOT NULL
);
CREATE INDEX rowlock_job_failure_job ON rowlock_job_failure (job_id, attempt);
CREATE INDEX rowlock_job_failure_at ON rowlock_job_failure (at);
COMMENT ON TABLE rowlock_job_failure IS 'One row per failed attempt.';
COMMENT ON COLUMN rowlock_job_failure.job_id IS 'The job.';
COMMENT ON COLUMN rowlock_job_failure.at IS 'When it was recorded.';
COMMENT ON COLUMN rowlock_job_failure.attempt IS 'Which attempt failed, 1 for the first.';
COMMENT ON COLUMN rowlock_job_failure.worker IS 'The worker incarnation that ran it.';
COMMENT ON COLUMN rowlock_job_failure.error_class IS 'The class of the throwable, or: worker lost, timed out.';
COMMENT ON COLUMN rowlock_job_failure.message IS 'Its message, cut at 2000 characters.';
COMMENT ON COLUMN rowlock_job_failure.stack IS 'Its stack trace, cut at 8000 characters.';

CREATE TABLE rowlock_alert (
  id              bigint      GENERATED ALWAYS AS IDENTITY,
  bucket          timestamptz NOT NULL,
  first_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  n               bigint      NOT NULL DEFAULT 1,
  job_id          bigint,
  cause           text        NOT NULL,
  kind            text        NOT NULL,
  reason          text        NOT NULL,
  acknowledged_at timestamptz,
  acknowledged_by text,
  CONSTRAINT rowlock_alert_pk PRIMARY KEY (id),
  CONSTRAINT rowlock_alert_once UNIQUE (cause, kind, bucket),
  CONSTRAINT rowlock_alert_texts CHECK (length(cause) <= 200 AND length(kind) <= 200 AND length(acknowledged_by) <= 200),
  CONSTRAINT rowlock_alert_acknowledged CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL))
);
COMMENT ON TABLE rowlock_alert IS 'Says that a person is needed; written in the transaction of its cause, one row per cause, kind and hour.';
COMMENT ON COLUMN rowlock_alert.id IS 'The alert''s number.';
COMMENT ON COLUMN rowlock_alert.bucket IS 'The hour in which it happened.';
COMMENT ON COLUMN rowlock_alert.first_at IS 'When it happened first in this hour.';
COMMENT ON COLUMN rowlock_alert.last_at IS 'When it happened last in this hour.';
COMMENT ON COLUMN rowlock_alert.n IS 'How often it happened in this hour.';
COMMENT ON COLUMN rowlock_alert.job_id IS 'The last job it happened to.';
COMMENT ON COLUMN rowlock_alert.cause IS 'What happened, such as: job dead.';
COMMENT ON COLUMN rowlock_alert.kind IS 'The kind of job it happened to.';
COMMENT ON COLUMN rowlock_alert.reason IS 'Why it happened last, cut at 2000 characters.';
COMMENT ON COLUMN rowlock_alert.acknowledged_at IS 'When a person took it over.';
COMMENT ON COLUMN rowlock_alert.acknowledged_by IS 'Who took it over.';
