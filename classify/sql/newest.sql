-- V30 newer_version: the newest version of each entity and type that has an absent
-- operation, among all operations, and whether one of them has a version that cannot
-- be read: it could be newer.
CREATE OR REPLACE TABLE newest AS
SELECT s.f_entity AS entity, /*$type*/ AS type, max(s./*$version*/) AS version, bool_or(/*$unknown*/) AS unknown FROM operations s
WHERE s.f_entity IN (SELECT o.f_entity FROM res_o o JOIN verdicts_o v ON v.rid = o.rid WHERE v.class = 'absent')
GROUP BY ALL
