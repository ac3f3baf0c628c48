-- The row ids of one side that the passes have to look at; the closure adds to them.
-- A row id may stand here twice.
CREATE OR REPLACE TABLE /*$rids*/ AS
SELECT /*$rid*/ AS rid FROM not_plain WHERE /*$rid*/ IS NOT NULL AND NOT simple
