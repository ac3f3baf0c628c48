-- V31: the keys of the effects that nobody asked for, which former runs are asked for:
-- pass INTEGER (index of Job.Match; -1 the record id), key VARCHAR as staged, and the
-- first half of its fingerprint (see extract.Layout). No two rows are the same.
CREATE OR REPLACE TABLE asked_keys AS
SELECT DISTINCT pass, key, CAST('0x' || left(sha256(key), 16) AS UBIGINT) AS fingerprint
FROM (
  /*$keys*/
) WHERE key IS NOT NULL
