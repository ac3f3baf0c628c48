-- V30: operations that are closed as overtaken, while no operation of the same entity
-- and type has a newer version and is still meant to have its effect. Out: one number.
SELECT count(*)
FROM items i JOIN operations o ON o.rid = i.o_rid
WHERE i.closing_reason = 'newer_version' AND NOT EXISTS (
  SELECT 1 FROM operations s LEFT JOIN verdicts_o v ON v.rid = s.rid
  WHERE s.f_entity = o.f_entity AND /*$same_type*/ AND s./*$version*/ > o./*$version*/
    AND (v.rid IS NULL OR v.class NOT IN ('not_applicable', 'duplicate')))
