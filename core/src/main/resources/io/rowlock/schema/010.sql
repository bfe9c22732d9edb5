-- Rowlock 10: what people look for, change and take out; rows that are kept for a time.

-- Entered by rows that are parked or have failed only: a job that goes well never stands here.
CREATE INDEX rowlock_job_aside ON rowlock_job (state, queue, kind, id) WHERE state IN ('parked', 'dead', 'cancelled');

ALTER TABLE rowlock_job ADD COLUMN redacted_at timestamptz;
COMMENT ON COLUMN rowlock_job.redacted_at IS 'When payload, headers and errors were taken out; such a job cannot be revived.';

ALTER TABLE rowlock_saga ADD COLUMN queue text;
ALTER TABLE rowlock_saga ADD CONSTRAINT rowlock_saga_queue CHECK (length(queue) <= 200);
COMMENT ON COLUMN rowlock_saga.queue IS 'The queue of its drivers, whoever has it go on; null: begun before it was kept.';

ALTER TABLE rowlock_operation ADD COLUMN queue text;
ALTER TABLE rowlock_operation ADD CONSTRAINT rowlock_operation_queue CHECK (length(queue) <= 200);
COMMENT ON COLUMN rowlock_operation.queue IS 'The queue, if it was one.';

CREATE INDEX rowlock_alert_job ON rowlock_alert (job_id, id) WHERE job_id IS NOT NULL;
CREATE INDEX rowlock_alert_past ON rowlock_alert (acknowledged_at, id) WHERE acknowledged_at IS NOT NULL;

COMMENT ON COLUMN rowlock_operation.what IS 'The operation: cancel, revive, skip, delete, reschedule, move, read, redact; of queues pause, resume, limit, dead head; of sagas retry, skip, resolve, hurry, fork, cancel, redact; of schedules pause, resume, run now, remove.';
