-- One FULL JOIN on the first identity key's fingerprint; what is kept is whatever
-- is not a plain pair, with the fingerprints that the next steps ask for. Repeated
-- keys are taken out before the join, or one hot key would square it. simple is a pair
-- whose keys agree, so that no pass has to ask for its link: only its content differs.
CREATE OR REPLACE TABLE not_plain AS
SELECT o.rid AS o_rid, r.rid AS r_rid, coalesce(NOT r.aside AND /*$agrees*/, false) AS simple/*$keys*/
FROM (SELECT rid, /*$columns*/, /*$special_o*/ AS special FROM operations/*$norep*/) o
FULL JOIN (SELECT rid, /*$columns*/, /*$special_r*/ AS special, /*$aside*/ AS aside FROM results/*$norep*/) r
  ON o.h0 = r.h0
WHERE o.rid IS NULL OR r.rid IS NULL OR o.special OR r.special OR r.aside OR /*$differs*/
