-- V30 newer_version: the newest version of each entity and type that has an absent
-- operation, among all operations, and whether one of them has a version that cannot
-- be read, or none: it could be newer. rid is the one operation that has the newest version and
-- is still meant to have its effect; NULL where there is none, or several.
CREATE OR REPLACE TABLE newest AS
WITH near AS MATERIALIZED (
  SELECT s.rid, s.f_entity AS entity, /*$type*/ AS type, s./*$version*/ AS version, /*$unknown*/ AS unknown,
         v.rid IS NULL OR v.class NOT IN ('not_applicable', 'duplicate') AS meant
  FROM operations s LEFT JOIN verdicts_o v ON v.rid = s.rid
  WHERE s.f_entity IN (SELECT o.f_entity FROM res_o o JOIN verdicts_o v ON v.rid = o.rid WHERE v.class = 'absent'))
SELECT n.entity, n.type, n.version, n.unknown, n.missing, CASE WHEN count(DISTINCT x.rid) = 1 THEN min(x.rid) END AS rid
FROM (SELECT entity, type, max(version) AS version, bool_or(unknown) AS unknown, bool_or(version IS NULL) AS missing FROM near GROUP BY entity, type) n
LEFT JOIN near x ON x.meant AND x.entity = n.entity AND x.type IS NOT DISTINCT FROM n.type AND x.version = n.version
GROUP BY n.entity, n.type, n.version, n.unknown, n.missing
