-- V30 sibling_effect: of several operations for the same thing that could all be sent
-- again none is, since nobody says which one is meant: two would be two effects.
UPDATE requeue_facts SET failed = failed | /*$bit*/, sendable = false
WHERE rid IN (
  WITH a AS (SELECT o.* FROM res_o o JOIN requeue_facts q ON q.rid = o.rid WHERE q.sendable)
  /*$pairs*/)
