-- What is said of rows that are left over: whose is operations or results with the row id, or
-- set with the number of the set.
CREATE OR REPLACE TABLE hints AS SELECT whose, id, text FROM arrow_in
