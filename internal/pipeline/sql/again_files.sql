-- Writes  run_files: the files of both sides by the numbers that their row ids begin with.
CREATE OR REPLACE TABLE run_files AS
SELECT CAST(side AS VARCHAR) AS side, CAST(file_no AS BIGINT) AS file_no, CAST(source AS VARCHAR) AS source, CAST(file AS VARCHAR) AS file
FROM (VALUES /*$files*/) v(side, file_no, source, file)
