-- A job with one identity key has no pairs that are plain under a second one.
CREATE OR REPLACE TABLE plain_links (o_rid BIGINT, r_rid BIGINT, pass INTEGER, link UBIGINT)
