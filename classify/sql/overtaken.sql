-- Absent operations that their policy closes, since a newer version of the same entity
-- and type takes their place (when_overtaken): by close where the newest version is
-- there and still meant to have its effect, by send_newest only where that one itself
-- can be sent.
CREATE OR REPLACE TABLE overtaken AS
SELECT o.rid, q.newest_rid
FROM requeue_facts q JOIN res_o o ON o.rid = q.rid LEFT JOIN requeue_facts n ON n.rid = q.newest_rid
WHERE q.newest_rid IS NOT NULL
  AND CASE /*$when_overtaken*/ WHEN 'close' THEN true WHEN 'send_newest' THEN coalesce(n.sendable, false) ELSE false END
