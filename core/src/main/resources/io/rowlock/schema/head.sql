-- The schema must be there before. If it is not, remove the dashes:
-- CREATE SCHEMA :schema;

