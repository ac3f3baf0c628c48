-- V30 sibling_effect: what replaces an operation, or is replaced by it, is for the same
-- thing whatever once_per says. One that is replaced is never sent itself.
INSERT INTO siblings
SELECT DISTINCT p.rid
FROM replaced p
LEFT JOIN verdicts_o w ON w.rid = p.sid
LEFT JOIN effects e ON e.o_rid = p.sid
WHERE p.replaced OR p.sid IS NULL OR w.rid IS NULL OR e.effects > 0 OR w.class NOT IN ('absent', 'not_applicable')
