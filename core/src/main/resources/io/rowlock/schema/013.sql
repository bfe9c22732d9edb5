-- Rowlock 13: whom the words of alerts are about, so that they are found when the job's row is gone.

ALTER TABLE rowlock_alert ADD COLUMN subject text;
ALTER TABLE rowlock_alert ADD CONSTRAINT rowlock_alert_subject_text CHECK (length(subject) <= 200);
UPDATE rowlock_alert
SET subject = rowlock_job.subject
FROM rowlock_job
WHERE rowlock_job.id = rowlock_alert.job_id AND rowlock_job.subject IS NOT NULL;
CREATE INDEX rowlock_alert_subject ON rowlock_alert (subject, id) WHERE subject IS NOT NULL;

COMMENT ON COLUMN rowlock_alert.subject IS 'What the last job it happened to, or its saga, is about.';
