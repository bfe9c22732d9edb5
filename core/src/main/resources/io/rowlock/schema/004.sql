-- Rowlock 4: holds of ordering keys.

ALTER TABLE rowlock_key
  ADD COLUMN held_until timestamptz,
  ADD COLUMN held_job bigint,
  ADD COLUMN held_token bigint,
  ADD CONSTRAINT rowlock_key_held CHECK (
    (held_until IS NULL) = (held_job IS NULL) AND (held_until IS NULL) = (held_token IS NULL));
COMMENT ON COLUMN rowlock_key.held_until IS 'No run of the key begins before this, as the handler of a job that was taken from its worker may still be at work; past: no hold.';
COMMENT ON COLUMN rowlock_key.held_job IS 'That job.';
COMMENT ON COLUMN rowlock_key.held_token IS 'The token under which the worker had claimed it; that worker lifts the hold when its handler has ended.';
