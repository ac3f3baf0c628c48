-- The wanted rows of one side with all columns that the rules read.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT * EXCLUDE (/*$unread*/) FROM /*$side*//*$wanted*/
