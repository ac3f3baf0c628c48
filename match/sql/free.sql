-- Rows of one side that nothing has claimed: no mark, no link.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT rid/*$columns*/ FROM /*$contested*/
WHERE rid NOT IN (SELECT rid FROM /*$marks*/) AND rid NOT IN (SELECT /*$link_rid*/ FROM links)
