-- The wanted rows of one side with all their columns.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT * FROM /*$side*/ WHERE /*$wanted*/
