-- V30: operations that are closed as overtaken, while no operation of the same entity
-- and type has a newer version and is still meant to have its effect. Only operations of
-- their entities are looked at, which are few, or none. Out: one number.
WITH closed AS MATERIALIZED (
  SELECT o.f_entity AS entity, /*$type_o*/ AS type, o./*$version*/ AS version
  FROM items i LEFT JOIN res_o o ON o.rid = i.o_rid WHERE i.closing_reason = 'newer_version'),
meant AS MATERIALIZED (
  SELECT s.f_entity AS entity, /*$type_s*/ AS type, s./*$version*/ AS version
  FROM operations s LEFT JOIN verdicts_o v ON v.rid = s.rid
  WHERE s.f_entity IN (SELECT entity FROM closed) AND (v.rid IS NULL OR v.class NOT IN ('not_applicable', 'duplicate')))
SELECT count(*) FROM closed c
WHERE NOT EXISTS (SELECT 1 FROM meant m WHERE m.entity = c.entity AND m.type IS NOT DISTINCT FROM c.type AND m.version > c.version)
