-- The greatest value of a timestamp of the rows of one file, in microseconds; NULL where
-- no row has one.
SELECT max(/*$field*/) FROM /*$rows*/
