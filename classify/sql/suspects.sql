-- V27: operations that some stray could be the effect of; one branch for each pair
-- of patterns of filled fields, so that it is never all against all.
CREATE OR REPLACE TABLE suspects AS
/*$branches*/
