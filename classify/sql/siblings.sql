-- V30 sibling_effect: operations for the same thing (once_per) that have an effect,
-- whatever their verdict says of it, or of which nothing proves that they have none. One
-- outside of the period is linked where its result was read, and otherwise undecided.
INSERT INTO siblings
SELECT DISTINCT o.rid
FROM res_o o JOIN verdicts_o v ON v.rid = o.rid AND v.class = 'absent'
JOIN operations s ON /*$same*/ AND s.rid <> o.rid
LEFT JOIN verdicts_o w ON w.rid = s.rid
LEFT JOIN effects e ON e.o_rid = s.rid
WHERE w.rid IS NULL OR e.effects > 0
  OR ((w.class NOT IN ('absent', 'not_applicable') OR NOT w.in_period) AND w.reason NOT IN ('identical_copy', 'superseded_attempt'))
