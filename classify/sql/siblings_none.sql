-- No operation has a sibling.
CREATE OR REPLACE TABLE siblings (rid BIGINT)
