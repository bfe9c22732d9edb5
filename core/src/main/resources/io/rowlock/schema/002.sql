-- Rowlock 2: ordering keys, settings of queues.

CREATE TABLE rowlock_key (
  blocked_by   bigint,
  run_from     bigint,
  run_to       bigint,
  queue        text NOT NULL,
  ordering_key text NOT NULL,
  CONSTRAINT rowlock_key_pk PRIMARY KEY (queue, ordering_key),
  CONSTRAINT rowlock_key_texts CHECK (length(queue) BETWEEN 1 AND 200 AND length(ordering_key) BETWEEN 1 AND 200),
  CONSTRAINT rowlock_key_run CHECK ((run_from IS NULL) = (run_to IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
COMMENT ON TABLE rowlock_key IS 'One row per queue and ordering key with work that a worker has looked at; whoever changes what a key''s jobs may do locks it first.';
COMMENT ON COLUMN rowlock_key.blocked_by IS 'The dead job that holds back its followers, until it is revived or skipped.';
COMMENT ON COLUMN rowlock_key.run_from IS 'The first job of the last run that was claimed; where leased jobs of the key can stand.';
COMMENT ON COLUMN rowlock_key.run_to IS 'The last job of that run.';
COMMENT ON COLUMN rowlock_key.queue IS 'The queue.';
COMMENT ON COLUMN rowlock_key.ordering_key IS 'The ordering key.';

CREATE TABLE rowlock_queue (
  paused_at timestamptz,
  queue     text NOT NULL,
  dead_head text NOT NULL DEFAULT 'block',
  paused_by text,
  CONSTRAINT rowlock_queue_pk PRIMARY KEY (queue),
  CONSTRAINT rowlock_queue_texts CHECK (length(queue) BETWEEN 1 AND 200 AND length(paused_by) <= 200),
  CONSTRAINT rowlock_queue_paused CHECK ((paused_at IS NULL) = (paused_by IS NULL)),
  CONSTRAINT rowlock_queue_dead_head CHECK (dead_head IN ('block', 'pass'))
);
COMMENT ON TABLE rowlock_queue IS 'Settings of queues, for all workers; a queue without a row has the defaults.';
COMMENT ON COLUMN rowlock_queue.paused_at IS 'Since when no job of the queue is claimed; null: it is not paused.';
COMMENT ON COLUMN rowlock_queue.queue IS 'The queue.';
COMMENT ON COLUMN rowlock_queue.dead_head IS 'What becomes of the followers of a dead job with their ordering key: block or pass.';
COMMENT ON COLUMN rowlock_queue.paused_by IS 'Who paused it.';
