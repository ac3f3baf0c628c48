-- V16: free rows of one side with a key of the group, and the parts in which the rows of
-- one group agree, NULL where one of these is empty. What should have no effect, or has
-- none, adds nothing to a sum.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT rid, /*$k*/ AS k, /*$same*/ AS same/*$columns*/ FROM /*$contested*/
WHERE /*$k*/ IS NOT NULL AND /*$counts*/ AND rid NOT IN (SELECT rid FROM /*$marks*/) AND rid NOT IN (SELECT /*$link_rid*/ FROM links)
