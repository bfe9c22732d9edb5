-- Rowlock 9: whom alerts are told, and what people said when they took them over.

-- Those of before are not told: the default comes after the column.
ALTER TABLE rowlock_alert ADD COLUMN untold boolean NOT NULL DEFAULT false;
ALTER TABLE rowlock_alert ALTER COLUMN untold SET DEFAULT true;
ALTER TABLE rowlock_alert ADD COLUMN tell_at bigint NOT NULL DEFAULT 10;
ALTER TABLE rowlock_alert ADD COLUMN acknowledged_why text;
ALTER TABLE rowlock_alert ADD CONSTRAINT rowlock_alert_why CHECK (length(acknowledged_why) <= 200);
CREATE INDEX rowlock_alert_untold ON rowlock_alert (bucket, id) WHERE untold;
CREATE INDEX rowlock_alert_open ON rowlock_alert (id) WHERE acknowledged_at IS NULL;

-- Of attempts that ended with their worker only: that is looked at once a minute.
CREATE INDEX rowlock_job_failure_lost ON rowlock_job_failure (at) WHERE error_class = 'worker lost';

CREATE TABLE rowlock_alert_sink (
  name    text        NOT NULL CONSTRAINT rowlock_alert_sink_pk PRIMARY KEY,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT rowlock_alert_sink_texts CHECK (length(name) BETWEEN 1 AND 100)
);

ALTER TABLE rowlock_operation ADD COLUMN alert bigint;
CREATE INDEX rowlock_operation_alert ON rowlock_operation (alert, id) WHERE alert IS NOT NULL;

COMMENT ON COLUMN rowlock_alert.untold IS 'Whether jobs that tell of it are still to be written.';
COMMENT ON COLUMN rowlock_alert.tell_at IS 'It is told again when n has reached this.';
COMMENT ON COLUMN rowlock_alert.acknowledged_why IS 'What the person said.';
COMMENT ON TABLE rowlock_alert_sink IS 'Who is told of alerts: the sinks that workers had lately.';
COMMENT ON COLUMN rowlock_alert_sink.name IS 'The sink''s name; its jobs have the kind rowlock-alert: and this name.';
COMMENT ON COLUMN rowlock_alert_sink.seen_at IS 'When a worker said that it has it, to the hour; after a day without one it is told nothing more.';
COMMENT ON COLUMN rowlock_operation.alert IS 'The alert, if it was one.';
COMMENT ON COLUMN rowlock_operation.what IS 'The operation: cancel, revive, skip, retry, resolve, hurry, fork, redact; of schedules pause, resume, run now, remove; of alerts acknowledge.';
