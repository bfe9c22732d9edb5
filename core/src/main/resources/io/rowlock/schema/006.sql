-- Rowlock 6: sagas, their steps and signals; what people did to them.

CREATE TABLE rowlock_saga (
  id              text        NOT NULL CONSTRAINT rowlock_saga_pk PRIMARY KEY,
  name            text        NOT NULL,
  version         integer     NOT NULL,
  business_key    text,
  subject         text,
  status          text        NOT NULL DEFAULT 'running',
  state           json        NOT NULL,
  step            text,
  pivoted         boolean     NOT NULL DEFAULT false,
  ended           integer     NOT NULL DEFAULT 0,
  reason          text,
  cancel_reason   text,
  deadline        timestamptz,
  late            boolean     NOT NULL DEFAULT false,
  driver          bigint,
  parent          text,
  parent_step     text,
  headers         json,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at     timestamptz,
  CONSTRAINT rowlock_saga_status CHECK (status IN ('running', 'compensating', 'completed', 'compensated', 'compensation_failed', 'stuck', 'resolved')),
  CONSTRAINT rowlock_saga_finished CHECK ((status IN ('completed', 'compensated', 'resolved')) = (finished_at IS NOT NULL)),
  CONSTRAINT rowlock_saga_bounds CHECK (version BETWEEN 1 AND 1000000 AND ended >= 0),
  CONSTRAINT rowlock_saga_texts CHECK (
    length(id) <= 200 AND length(name) <= 200 AND length(business_key) <= 200 AND length(subject) <= 200 AND length(step) <= 200
    AND length(reason) <= 2000 AND length(cancel_reason) <= 2000 AND length(parent) <= 200 AND length(parent_step) <= 200)
) WITH (fillfactor = 60);
CREATE UNIQUE INDEX rowlock_saga_holder ON rowlock_saga (name, business_key) WHERE finished_at IS NULL AND business_key IS NOT NULL;
CREATE INDEX rowlock_saga_business_key ON rowlock_saga (business_key, created_at, id) WHERE business_key IS NOT NULL;
CREATE INDEX rowlock_saga_subject ON rowlock_saga (subject) WHERE subject IS NOT NULL;
CREATE INDEX rowlock_saga_open ON rowlock_saga (name, status, created_at, id) WHERE finished_at IS NULL;
CREATE INDEX rowlock_saga_created ON rowlock_saga (created_at, id);
CREATE INDEX rowlock_saga_finished_at ON rowlock_saga (finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX rowlock_saga_driver ON rowlock_saga (driver) WHERE driver IS NOT NULL;

CREATE TABLE rowlock_saga_step (
  saga                  text        NOT NULL,
  step                  text        NOT NULL,
  branch                text        NOT NULL DEFAULT '',
  status                text        NOT NULL,
  attempts              integer     NOT NULL DEFAULT 0,
  compensation_attempts integer     NOT NULL DEFAULT 0,
  unanswered            boolean     NOT NULL DEFAULT false,
  chosen                text,
  result                json,
  error                 text,
  ended                 integer,
  due_at                timestamptz,
  started_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at           timestamptz,
  compensated_at        timestamptz,
  CONSTRAINT rowlock_saga_step_pk PRIMARY KEY (saga, step, branch),
  CONSTRAINT rowlock_saga_step_status CHECK (status IN (
    'started', 'retrying', 'waiting', 'completed', 'failed', 'compensating', 'compensated', 'compensation_failed', 'skipped', 'resolved')),
  CONSTRAINT rowlock_saga_step_bounds CHECK (attempts >= 0 AND compensation_attempts >= 0),
  CONSTRAINT rowlock_saga_step_texts CHECK (
    length(saga) <= 200 AND length(step) <= 200 AND length(branch) <= 200 AND length(chosen) <= 200 AND length(error) <= 10000)
) WITH (fillfactor = 60);

CREATE TABLE rowlock_saga_signal (
  id          bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT rowlock_saga_signal_pk PRIMARY KEY,
  saga        text        NOT NULL,
  name        text        NOT NULL,
  payload     json        NOT NULL,
  received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  consumed_by text,
  consumed_at timestamptz,
  CONSTRAINT rowlock_saga_signal_texts CHECK (length(saga) <= 200 AND length(name) <= 200 AND length(consumed_by) <= 200)
);
CREATE INDEX rowlock_saga_signal_saga ON rowlock_saga_signal (saga, name, id);

CREATE TABLE rowlock_operation (
  id      bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT rowlock_operation_pk PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  who     text        NOT NULL,
  why     text        NOT NULL,
  what    text        NOT NULL,
  saga    text,
  step    text,
  job_id  bigint,
  CONSTRAINT rowlock_operation_texts CHECK (
    length(who) <= 200 AND length(why) <= 200 AND length(what) <= 200 AND length(saga) <= 200 AND length(step) <= 200)
);
CREATE INDEX rowlock_operation_saga ON rowlock_operation (saga, id) WHERE saga IS NOT NULL;
CREATE INDEX rowlock_operation_job ON rowlock_operation (job_id, id) WHERE job_id IS NOT NULL;

COMMENT ON TABLE rowlock_saga IS 'Sagas: one row each, changed only under its lock, by the job that drives it or by a person''s operation.';
COMMENT ON COLUMN rowlock_saga.id IS 'The name it was started under; of a child: its parent''s id, a slash and the step.';
COMMENT ON COLUMN rowlock_saga.name IS 'The name of its definition; never a class name.';
COMMENT ON COLUMN rowlock_saga.version IS 'The version of its definition when it began; it keeps it.';
COMMENT ON COLUMN rowlock_saga.business_key IS 'Its name in the business; at most one unfinished saga of a name holds one.';
COMMENT ON COLUMN rowlock_saga.subject IS 'What it is about, so that people can ask what happened to it.';
COMMENT ON COLUMN rowlock_saga.status IS 'running, compensating; completed, compensated, resolved: finished; compensation_failed, stuck: a person is needed.';
COMMENT ON COLUMN rowlock_saga.state IS 'The state as the last completed step of the main line recorded it.';
COMMENT ON COLUMN rowlock_saga.step IS 'Where it stands; of parallel branches the one that moved last.';
COMMENT ON COLUMN rowlock_saga.pivoted IS 'Whether its pivot has started: from then on it only goes forward.';
COMMENT ON COLUMN rowlock_saga.ended IS 'How many steps have ended: numbers them, so that they can be undone in reverse.';
COMMENT ON COLUMN rowlock_saga.reason IS 'Why it is compensated, stuck or resolved.';
COMMENT ON COLUMN rowlock_saga.cancel_reason IS 'By whom and why a cancel was asked for.';
COMMENT ON COLUMN rowlock_saga.deadline IS 'When it is to have ended.';
COMMENT ON COLUMN rowlock_saga.late IS 'Whether it was told that the deadline is over.';
COMMENT ON COLUMN rowlock_saga.driver IS 'The job that drives it; null when none does: finished, or a person is needed.';
COMMENT ON COLUMN rowlock_saga.parent IS 'The saga that waits for it.';
COMMENT ON COLUMN rowlock_saga.parent_step IS 'The step of that saga.';
COMMENT ON COLUMN rowlock_saga.headers IS 'Tenant, actor, trace context: names and texts.';
COMMENT ON COLUMN rowlock_saga.created_at IS 'When it was started.';
COMMENT ON COLUMN rowlock_saga.updated_at IS 'When it was recorded last.';
COMMENT ON COLUMN rowlock_saga.finished_at IS 'When it finished.';
COMMENT ON TABLE rowlock_saga_step IS 'What a saga has begun: steps, waits, choices, parallel parts and their branches.';
COMMENT ON COLUMN rowlock_saga_step.saga IS 'The saga.';
COMMENT ON COLUMN rowlock_saga_step.step IS 'The name in the definition.';
COMMENT ON COLUMN rowlock_saga_step.branch IS 'Of the row of a branch of a parallel part: the branch''s name; else empty.';
COMMENT ON COLUMN rowlock_saga_step.status IS 'started: an attempt runs, or its answer was lost; retrying, waiting: until due_at; completed, skipped, resolved: goes on; failed: for good; compensating, compensated, compensation_failed.';
COMMENT ON COLUMN rowlock_saga_step.attempts IS 'Attempts so far, counted when they start.';
COMMENT ON COLUMN rowlock_saga_step.compensation_attempts IS 'Attempts of its compensation so far, counted when they start.';
COMMENT ON COLUMN rowlock_saga_step.unanswered IS 'Whether an attempt ended without an answer: timeout, crash, lost lease, lost connection.';
COMMENT ON COLUMN rowlock_saga_step.chosen IS 'Of a choice: the option.';
COMMENT ON COLUMN rowlock_saga_step.result IS 'The state that it recorded; of a branch: where it stands.';
COMMENT ON COLUMN rowlock_saga_step.error IS 'Why the last attempt failed; by whom it was skipped or resolved.';
COMMENT ON COLUMN rowlock_saga_step.ended IS 'Its number among the steps that have ended: they are undone in reverse.';
COMMENT ON COLUMN rowlock_saga_step.due_at IS 'When it is tried again, or its wait is over.';
COMMENT ON COLUMN rowlock_saga_step.started_at IS 'When its first attempt started.';
COMMENT ON COLUMN rowlock_saga_step.finished_at IS 'When it ended.';
COMMENT ON COLUMN rowlock_saga_step.compensated_at IS 'When its compensation ended.';
COMMENT ON TABLE rowlock_saga_signal IS 'Outside events that reached sagas: early, late and twice, too.';
COMMENT ON COLUMN rowlock_saga_signal.id IS 'The order in which they are consumed.';
COMMENT ON COLUMN rowlock_saga_signal.saga IS 'The saga.';
COMMENT ON COLUMN rowlock_saga_signal.name IS 'The name of the signal.';
COMMENT ON COLUMN rowlock_saga_signal.payload IS 'What it carries.';
COMMENT ON COLUMN rowlock_saga_signal.received_at IS 'When it was recorded.';
COMMENT ON COLUMN rowlock_saga_signal.consumed_by IS 'The step that it moved; null: none, yet.';
COMMENT ON COLUMN rowlock_saga_signal.consumed_at IS 'When it did.';
COMMENT ON TABLE rowlock_operation IS 'What people did to which saga or job, and why.';
COMMENT ON COLUMN rowlock_operation.id IS 'The order.';
COMMENT ON COLUMN rowlock_operation.at IS 'When.';
COMMENT ON COLUMN rowlock_operation.who IS 'The person or tool.';
COMMENT ON COLUMN rowlock_operation.why IS 'The reason.';
COMMENT ON COLUMN rowlock_operation.what IS 'The operation: cancel, revive, retry, skip, resolve, resume, fork, redact.';
COMMENT ON COLUMN rowlock_operation.saga IS 'The saga, if it was one.';
COMMENT ON COLUMN rowlock_operation.step IS 'The step, if it was one.';
COMMENT ON COLUMN rowlock_operation.job_id IS 'The job, if it was one.';
