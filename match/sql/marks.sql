-- What matching decides about rows of one side, as it goes.
CREATE OR REPLACE TABLE /*$table*/ (rid BIGINT, class VARCHAR, reason VARCHAR, fields VARCHAR, pass INTEGER)
