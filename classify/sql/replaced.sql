-- V30 sibling_effect: operations that replace one another, directly or through others,
-- have the same part. rid is NULL where the export does not hold one of them, so that
-- nobody knows of it.
CREATE OR REPLACE TABLE replaced AS
SELECT i.rid, p.id, i.old, p.part FROM replay_parts p LEFT JOIN replay_ids i ON i.id = p.id
