-- V31: for each effect that nobody asked for whether its policy wants it undone, and
-- the checks that fail, as bits.
CREATE OR REPLACE TABLE unexpected_facts AS
SELECT r.rid AS r_rid, /*$declared*/ AS declared,
  /*$checks*/ AS failed
FROM res_r r JOIN verdicts_r v ON v.rid = r.rid
WHERE v.class = 'unexpected'
