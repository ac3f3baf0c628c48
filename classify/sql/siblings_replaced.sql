-- V30 sibling_effect: what replaces an operation, or is replaced by it, is for the same
-- thing whatever once_per says. One that is replaced is never sent itself.
INSERT INTO siblings
WITH bars AS (
  SELECT p.part, min(p.id) AS lo, max(p.id) AS hi
  FROM replaced p
  LEFT JOIN verdicts_o w ON w.rid = p.rid
  LEFT JOIN effects e ON e.o_rid = p.rid
  -- One outside of the period is linked where its result was read, and otherwise undecided.
  WHERE p.rid IS NULL OR w.rid IS NULL OR e.effects > 0 OR w.class NOT IN ('absent', 'not_applicable') OR NOT w.in_period
  GROUP BY p.part)
SELECT DISTINCT p.rid
FROM replaced p JOIN verdicts_o v ON v.rid = p.rid AND v.class = 'absent'
LEFT JOIN bars b ON b.part = p.part
WHERE b.lo <> p.id OR b.hi <> p.id OR p.id IN (SELECT old FROM replaced WHERE old <> id)
