-- Rowlock 8: schedules, and what people did to them.

CREATE TABLE rowlock_schedule (
  name       text        NOT NULL CONSTRAINT rowlock_schedule_pk PRIMARY KEY,
  revision   integer     NOT NULL,
  cron       text,
  zone       text,
  every      interval,
  delay      interval,
  kind       text        NOT NULL,
  payload    json        NOT NULL,
  queue      text        NOT NULL,
  priority   integer     NOT NULL,
  subject    text        NOT NULL,
  misfire    text        NOT NULL,
  overlap    text        NOT NULL,
  next_at    timestamptz,
  last_at    timestamptz,
  last_job   bigint,
  failures   integer     NOT NULL DEFAULT 0,
  retry_at   timestamptz,
  error      text,
  paused_at  timestamptz,
  paused_by  text,
  removed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT rowlock_schedule_timing CHECK (num_nonnulls(cron, every, delay) = 1 AND (cron IS NULL) = (zone IS NULL)),
  CONSTRAINT rowlock_schedule_rules CHECK (misfire IN ('once', 'all', 'none') AND overlap IN ('allow', 'skip', 'queue')),
  CONSTRAINT rowlock_schedule_bounds CHECK (
    revision BETWEEN 1 AND 1000000 AND priority BETWEEN 0 AND 2 AND failures >= 0 AND every > interval '0' AND delay > interval '0'),
  CONSTRAINT rowlock_schedule_paused CHECK ((paused_at IS NULL) = (paused_by IS NULL)),
  CONSTRAINT rowlock_schedule_texts CHECK (
    length(name) <= 190 AND length(cron) <= 200 AND length(zone) <= 200 AND length(kind) <= 200 AND length(queue) <= 200
    AND length(subject) <= 200 AND length(paused_by) <= 200 AND length(error) <= 2000)
);
CREATE INDEX rowlock_schedule_due ON rowlock_schedule (greatest(next_at, retry_at))
  WHERE next_at IS NOT NULL AND paused_at IS NULL AND removed_at IS NULL;
CREATE INDEX rowlock_schedule_waiting ON rowlock_schedule (name)
  WHERE next_at IS NULL AND paused_at IS NULL AND removed_at IS NULL;

ALTER TABLE rowlock_operation ADD COLUMN schedule text;
ALTER TABLE rowlock_operation ADD CONSTRAINT rowlock_operation_schedule CHECK (length(schedule) <= 200);
CREATE INDEX rowlock_operation_schedule_id ON rowlock_operation (schedule, id) WHERE schedule IS NOT NULL;

COMMENT ON TABLE rowlock_schedule IS 'What makes jobs at certain times: one row each; removed ones stay, so that no older process brings them back.';
COMMENT ON COLUMN rowlock_schedule.name IS 'Its name.';
COMMENT ON COLUMN rowlock_schedule.revision IS 'The revision of the declaration that counts.';
COMMENT ON COLUMN rowlock_schedule.cron IS 'Its cron expression, or null.';
COMMENT ON COLUMN rowlock_schedule.zone IS 'On whose clocks the expression is to be read.';
COMMENT ON COLUMN rowlock_schedule.every IS 'Its fixed rate, or null.';
COMMENT ON COLUMN rowlock_schedule.delay IS 'How long after the end of a job the next one comes, or null.';
COMMENT ON COLUMN rowlock_schedule.kind IS 'The kind of its jobs.';
COMMENT ON COLUMN rowlock_schedule.payload IS 'The payload of its jobs.';
COMMENT ON COLUMN rowlock_schedule.queue IS 'The queue of its jobs.';
COMMENT ON COLUMN rowlock_schedule.priority IS 'The priority of its jobs: 0 high, 1 normal, 2 low.';
COMMENT ON COLUMN rowlock_schedule.subject IS 'What its jobs are about.';
COMMENT ON COLUMN rowlock_schedule.misfire IS 'What becomes of missed instants: once, all or none of them.';
COMMENT ON COLUMN rowlock_schedule.overlap IS 'What becomes of an instant while the job before is unfinished: allow, skip, queue.';
COMMENT ON COLUMN rowlock_schedule.next_at IS 'The next instant; null: removed, or a fixed delay whose job is unfinished.';
COMMENT ON COLUMN rowlock_schedule.last_at IS 'The last instant that made a job, as the schedule says it.';
COMMENT ON COLUMN rowlock_schedule.last_job IS 'The last job made.';
COMMENT ON COLUMN rowlock_schedule.failures IS 'How often in a row it could not fire.';
COMMENT ON COLUMN rowlock_schedule.retry_at IS 'When it is tried again after it could not fire.';
COMMENT ON COLUMN rowlock_schedule.error IS 'Why it could not fire.';
COMMENT ON COLUMN rowlock_schedule.paused_at IS 'Since when it is paused, if it is.';
COMMENT ON COLUMN rowlock_schedule.paused_by IS 'Who paused it.';
COMMENT ON COLUMN rowlock_schedule.removed_at IS 'Since when it is removed, if it is.';
COMMENT ON COLUMN rowlock_schedule.created_at IS 'When it was declared first.';
COMMENT ON COLUMN rowlock_schedule.updated_at IS 'When it was declared, fired or changed last.';
COMMENT ON COLUMN rowlock_operation.schedule IS 'The schedule, if it was one.';
COMMENT ON COLUMN rowlock_operation.what IS 'The operation: cancel, revive, skip, retry, resolve, hurry, fork, redact; of schedules pause, resume, run now, remove.';
