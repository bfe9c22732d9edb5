-- Rowlock 11: named leases outside jobs, who held them when, and who shares partitions.

-- Of all names and for ever: a token is greater than every one before it, also when its row was deleted in between.
CREATE SEQUENCE rowlock_lease_token_seq AS bigint CACHE 1;

-- A renewal changes expires_at alone, which no index holds: with room on the page it is a HOT update.
CREATE TABLE rowlock_lease (
  name       text        NOT NULL CONSTRAINT rowlock_lease_pk PRIMARY KEY,
  token      bigint      NOT NULL,
  holder     text,
  taken_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Makes the token part of a key: whoever changes it waits for fences (FOR KEY SHARE), who does not, does not.
  CONSTRAINT rowlock_lease_fence UNIQUE (name, token),
  CONSTRAINT rowlock_lease_token CHECK (token >= 0),
  CONSTRAINT rowlock_lease_texts CHECK (length(name) BETWEEN 1 AND 200 AND length(holder) <= 200)
) WITH (fillfactor = 50);

CREATE TABLE rowlock_lease_history (
  name     text        NOT NULL,
  token    bigint      NOT NULL,
  holder   text        NOT NULL,
  taken_at timestamptz NOT NULL,
  ended_at timestamptz,
  ended    text,
  CONSTRAINT rowlock_lease_history_pk PRIMARY KEY (name, token),
  CONSTRAINT rowlock_lease_history_ended CHECK ((ended_at IS NULL) = (ended IS NULL) AND ended IN ('released', 'expired', 'revoked', 'abandoned')),
  CONSTRAINT rowlock_lease_history_texts CHECK (length(name) <= 200 AND length(holder) <= 200)
);
CREATE INDEX rowlock_lease_history_past ON rowlock_lease_history (taken_at, token);

CREATE TABLE rowlock_partition_member (
  partitions text        NOT NULL,
  member     text        NOT NULL,
  parts      integer     NOT NULL,
  joined_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT rowlock_partition_member_pk PRIMARY KEY (partitions, member),
  CONSTRAINT rowlock_partition_member_parts CHECK (parts BETWEEN 1 AND 1000),
  CONSTRAINT rowlock_partition_member_texts CHECK (length(partitions) BETWEEN 1 AND 150 AND length(member) <= 200)
) WITH (fillfactor = 50);
-- Never changes: whoever says that it lives writes no index.
CREATE INDEX rowlock_partition_member_joined ON rowlock_partition_member (partitions, joined_at, member);

-- Entered when a job dies and blocks its key, left when it is revived or skipped; no other change of a key's row touches it.
CREATE INDEX rowlock_key_blocked ON rowlock_key (queue, ordering_key) WHERE blocked_by IS NOT NULL;

ALTER TABLE rowlock_operation ADD COLUMN lease text;
ALTER TABLE rowlock_operation ADD CONSTRAINT rowlock_operation_lease CHECK (length(lease) <= 200);
CREATE INDEX rowlock_operation_lease_id ON rowlock_operation (lease, id) WHERE lease IS NOT NULL;

COMMENT ON TABLE rowlock_lease IS 'Named leases outside jobs: leaders, parts of partitions, the application''s own.';
COMMENT ON COLUMN rowlock_lease.name IS 'Its name; of a part: partition:, the partitions'' name, a slash, the part''s number.';
COMMENT ON COLUMN rowlock_lease.token IS 'The fencing token; raised by whoever takes it, or takes it away, and never lowered.';
COMMENT ON COLUMN rowlock_lease.holder IS 'Who holds it, or held it until it ran out; null: free.';
COMMENT ON COLUMN rowlock_lease.taken_at IS 'When it was taken last.';
COMMENT ON COLUMN rowlock_lease.expires_at IS 'Until when it is held, by this database''s clock; free: since when.';
COMMENT ON TABLE rowlock_lease_history IS 'Who held which lease when; kept for a time.';
COMMENT ON COLUMN rowlock_lease_history.name IS 'The lease.';
COMMENT ON COLUMN rowlock_lease_history.token IS 'The token it was held under.';
COMMENT ON COLUMN rowlock_lease_history.holder IS 'Who held it.';
COMMENT ON COLUMN rowlock_lease_history.taken_at IS 'From when.';
COMMENT ON COLUMN rowlock_lease_history.ended_at IS 'Until when; null: it is held, or ran out and nobody has taken it since.';
COMMENT ON COLUMN rowlock_lease_history.ended IS 'How it ended: released by its holder, expired, revoked by a person, abandoned by a holder whose work had not ended in time.';
COMMENT ON TABLE rowlock_partition_member IS 'Who shares the parts of partitions; says how many there are, and is no proof of anything else.';
COMMENT ON COLUMN rowlock_partition_member.partitions IS 'The name of the partitions.';
COMMENT ON COLUMN rowlock_partition_member.member IS 'Who; each start is a new one.';
COMMENT ON COLUMN rowlock_partition_member.parts IS 'How many parts there are, as it was told.';
COMMENT ON COLUMN rowlock_partition_member.joined_at IS 'When it joined.';
COMMENT ON COLUMN rowlock_partition_member.expires_at IS 'Until when it counts, unless it says again that it lives.';
COMMENT ON COLUMN rowlock_operation.lease IS 'The lease, if it was one.';
COMMENT ON COLUMN rowlock_operation.what IS 'The operation: cancel, revive, skip, delete, reschedule, move, read, redact; of queues pause, resume, limit, dead head; of sagas retry, skip, resolve, hurry, fork, cancel, redact; of schedules pause, resume, run now, remove; of alerts acknowledge; of leases revoke.';
