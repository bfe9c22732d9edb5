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
  CONSTRAINT rowlock_idempotency_key_pk PRIMARY KEY (key, scope),
  CONSTRAINT rowlock_idempotency_key_scope CHECK (length(scope) = 32),
  CONSTRAINT rowlock_idempotency_key_texts CHECK (
    length(key) BETWEEN 1 AND 200 AND length(principal) BETWEEN 1 AND 200 AND length(method) BETWEEN 1 AND 40
    AND length(path) BETWEEN 1 AND 2000 AND length(fingerprint) BETWEEN 1 AND 200)
);
CREATE INDEX rowlock_idempotency_key_expiry ON rowlock_idempotency_key (expires_at);

COMMENT ON TABLE rowlock_idempotency_key IS 'Requests that were done under a client''s key, written in the transaction of what they did; a request that is being done has no row.';
COMMENT ON COLUMN rowlock_idempotency_key.key IS 'The client''s name for the request.';
COMMENT ON COLUMN rowlock_idempotency_key.scope IS 'SHA-256 of principal, method and path: the same key of another client, or for another place, is another row.';
COMMENT ON COLUMN rowlock_idempotency_key.principal IS 'Who asked, as the application says.';
COMMENT ON COLUMN rowlock_idempotency_key.method IS 'What was asked for: the method of the request.';
COMMENT ON COLUMN rowlock_idempotency_key.path IS 'Where: the path of the request.';
COMMENT ON COLUMN rowlock_idempotency_key.fingerprint IS 'Of what was sent, SHA-256 of the body say: another one under the same key is refused.';
COMMENT ON COLUMN rowlock_idempotency_key.response IS 'The answer that a repetition gets.';
COMMENT ON COLUMN rowlock_idempotency_key.created_at IS 'When it was done.';
COMMENT ON COLUMN rowlock_idempotency_key.expires_at IS 'From then on the key is free again, and the row may be deleted.';
