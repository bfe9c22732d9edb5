-- Rowlock 7: sagas keep the state they began with, so that one can be forked from its first step.

ALTER TABLE rowlock_saga ADD COLUMN first_state json;
COMMENT ON COLUMN rowlock_saga.first_state IS 'The state it began with, once a step has recorded another one.';
