-- Rowlock 12: requests that their clients may repeat, each with the answer that a repetition gets.

CREATE TABLE rowlock_idempotency_key (
  key         text        NOT NULL,
  scope       bytea       NOT NULL,
  principal   text        NOT NULL,
  method      text        NOT NULL,
  path        text        NOT NULL,
  fingerprint text        NOT NULL,
  response    json        NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at  timestamptz NOT NULL,
  redacted_at timestamptz,
  CONSTRAINT rowlock_idempotency_key_pk PRIMARY KEY (key, scope),
  CONSTRAINT rowlock_idempotency_key_scope CHECK (length(scope) = 32),
  CONSTRAINT rowlock_idempotency_key_texts CHECK (
    length(key) BETWEEN 1 AND 200 AND length(principal) BETWEEN 1 AND 200 AND length(method) BETWEEN 1 AND 40
    AND length(path) BETWEEN 1 AND 2000 AND length(fingerprint) BETWEEN 1 AND 200)
);
CREATE INDEX rowlock_idempotency_key_expiry ON rowlock_idempotency_key (expires_at);

ALTER TABLE rowlock_operation ADD COLUMN principal text;
ALTER TABLE rowlock_operation ADD COLUMN request_key text;
ALTER TABLE rowlock_operation ADD CONSTRAINT rowlock_operation_request CHECK (length(principal) <= 200 AND length(request_key) <= 200);

COMMENT ON TABLE rowlock_idempotency_key IS 'Requests that were done under a client''s key, written in the transaction of what they did; a request that is being done has no row.';
COMMENT ON COLUMN rowlock_idempotency_key.key IS 'The client''s name for the request.';
COMMENT ON COLUMN rowlock_idempotency_key.scope IS 'SHA-256 of principal, method and path: the same key of another client, or for another place, is another row.';
COMMENT ON COLUMN rowlock_idempotency_key.principal IS 'Who asked, as the application says.';
COMMENT ON COLUMN rowlock_idempotency_key.method IS 'What was asked for: the method of the request.';
COMMENT ON COLUMN rowlock_idempotency_key.path IS 'Where: the path of the request.';
COMMENT ON COLUMN rowlock_idempotency_key.fingerprint IS 'Of what was sent, SHA-256 of the body say: another one under the same key is refused.';
COMMENT ON COLUMN rowlock_idempotency_key.response IS 'The answer that a repetition gets; redacted: null.';
COMMENT ON COLUMN rowlock_idempotency_key.created_at IS 'When it was done.';
COMMENT ON COLUMN rowlock_idempotency_key.expires_at IS 'From then on the key is free again, and the row may be deleted.';
COMMENT ON COLUMN rowlock_idempotency_key.redacted_at IS 'When answer and fingerprint were taken out; a repetition is refused, not done again.';
COMMENT ON COLUMN rowlock_operation.principal IS 'Whose stored answers, if it was about those.';
COMMENT ON COLUMN rowlock_operation.request_key IS 'Of which idempotency key; null: of all of the principal.';
COMMENT ON COLUMN rowlock_operation.what IS 'The operation: cancel, revive, skip, delete, reschedule, move, read, redact; of queues pause, resume, limit, dead head; of sagas retry, skip, resolve, hurry, fork, cancel, redact; of schedules pause, resume, run now, remove; of alerts acknowledge; of leases revoke; of stored answers read, redact.';
