-- Rowlock 7: sagas keep the state they began with, so that one can be forked from its first step; steps, until when a late attempt may run.

ALTER TABLE rowlock_saga ADD COLUMN first_state json;
COMMENT ON COLUMN rowlock_saga.first_state IS 'The state it began with, once a step has recorded another one.';

ALTER TABLE rowlock_saga_step ADD COLUMN free_at timestamptz;
COMMENT ON COLUMN rowlock_saga_step.free_at IS 'After an attempt that took too long: no other one, nor its compensation, before this time, as the thread may still run.';
