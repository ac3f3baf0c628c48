-- One FULL JOIN on the first identity key's fingerprint; what is kept is whatever
-- is not a plain pair, with the fingerprints of its other identity keys. Repeated
-- keys are taken out before the join, or one hot key would square it.
CREATE OR REPLACE TABLE not_plain AS
SELECT o.rid AS o_rid, r.rid AS r_rid/*$keys*/
FROM (SELECT rid, /*$columns_o*/, /*$special_o*/ AS special FROM operations/*$norep_o*/) o
FULL JOIN (SELECT rid, /*$columns_r*/, /*$special_r*/ AS special FROM results/*$norep_r*/) r
  ON o./*$h*/ = r./*$h*/
WHERE o.rid IS NULL OR r.rid IS NULL OR o.special OR r.special OR /*$differs*/
