-- V30 sibling_effect: operations that replace one another, directly or by one step. In
-- sid the other one; NULL where the export does not hold it, so that nobody knows of
-- it. replaced: the other one takes the place of this one.
CREATE OR REPLACE TABLE replaced AS
WITH ids AS (
  SELECT s.rid, coalesce('i' || nullif(/*$id*/, ''), 'r' || s.rid) AS id, 'i' || nullif(s.f_replaces, '') AS old
  FROM operations s LEFT JOIN verdicts_o d ON d.rid = s.rid
  WHERE d.rid IS NULL OR d.reason NOT IN ('identical_copy', 'superseded_attempt')),
steps AS (
  SELECT id AS a, old AS b FROM ids WHERE old IS NOT NULL AND old <> id
  UNION
  SELECT old, id FROM ids WHERE old IS NOT NULL AND old <> id),
first AS (
  SELECT i.rid, i.id AS own, s.b AS id FROM ids i JOIN verdicts_o v ON v.rid = i.rid JOIN steps s ON s.a = i.id WHERE v.class = 'absent'),
near AS (
  SELECT rid, own, id FROM first
  UNION
  SELECT f.rid, f.own, s.b FROM first f JOIN steps s ON s.a = f.id)
SELECT DISTINCT n.rid, x.rid AS sid, coalesce(x.old = n.own, false) AS replaced
FROM near n LEFT JOIN ids x ON x.id = n.id
WHERE n.id <> n.own
