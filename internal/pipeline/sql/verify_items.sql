-- The items of every queue file together. confirm is narrower: what it lacks is null.
-- Each branch names the queue of its file.
CREATE OR REPLACE VIEW items AS
-- Runs of an earlier version have no reasons of closings.
SELECT CAST(NULL AS VARCHAR) AS closing_reason WHERE false
UNION ALL BY NAME
/*$files*/
