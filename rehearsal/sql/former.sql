-- Writes  former: the absences of all former nights.
CREATE OR REPLACE TABLE former AS SELECT * FROM read_parquet(/*$files*/)
