-- Makes   report_masked: the texts of rows that are masked, by number of the column (see
--         redactor.lookThrough), how they are shown, and whether exceptions.parquet shows
--         them so as well.
CREATE OR REPLACE TABLE report_masked AS SELECT c, raw, shown, file FROM arrow_in
