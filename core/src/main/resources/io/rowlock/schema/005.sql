-- Rowlock 5: suspects with keys stand in an index of their own.

CREATE INDEX rowlock_job_keyed_suspect ON rowlock_job (queue, kind, priority, run_at, id)
  WHERE state = 'ready' AND (ordering_key IS NOT NULL OR limit_key IS NOT NULL) AND losses > 0;
