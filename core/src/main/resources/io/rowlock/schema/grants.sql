
-- The role that runs workers and enqueues needs no right to create. Replace app_role by its name and remove the dashes.
-- GRANT USAGE ON SCHEMA :schema TO app_role;
-- GRANT SELECT ON rowlock_schema TO app_role;
-- GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_job, rowlock_job_failure, rowlock_alert, rowlock_alert_sink, rowlock_key, rowlock_queue TO app_role;
-- GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_limit, rowlock_slot, rowlock_cancel_request TO app_role;
-- GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_saga, rowlock_saga_step, rowlock_saga_signal, rowlock_operation, rowlock_schedule TO app_role;
-- GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_idempotency_key TO app_role;
-- GRANT USAGE ON SEQUENCE rowlock_job_id_seq TO app_role;
-- GRANT EXECUTE ON FUNCTION rowlock_enqueue TO app_role;
