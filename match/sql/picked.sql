-- The wanted rows of one side, as they were picked from the staged files.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT file_no, (CAST(file_no AS BIGINT) << 40) + rec AS rid, * EXCLUDE (file_no)/*$derived*/ FROM arrow_in
