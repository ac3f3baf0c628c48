-- What could need an item (V32): one for each link's operation, unresolved set or
-- free row; surplus effects have their own. A group has one, that of its first operation,
-- unless it is correct: then the state of every operation moves by itself. allowed is what the class allows, and
-- allowed_failed are the checks that stand against it; wanted is what the policy wants.
-- kind tells what the guard tells apart (Kind): 1 a surplus effect, 2 an absent
-- operation that its policy closes, since a newer version takes its place; then
-- close_failed are the checks of that.
CREATE OR REPLACE TABLE units AS
WITH partners AS (
  SELECT o_rid, min(r_rid) AS r_rid, count(*) AS n FROM links WHERE partner GROUP BY o_rid
), shown AS (
  -- Of several the one with the least fingerprint: the same however the files are ordered.
  SELECT l.o_rid, arg_min(l.r_rid, r.w1) AS r_rid
  FROM links l JOIN partners p ON p.o_rid = l.o_rid AND p.n > 1 JOIN res_r r ON r.rid = l.r_rid
  WHERE l.partner GROUP BY l.o_rid
)
SELECT v.rid AS o_rid, coalesce(m.r_rid, a.r_rid) AS r_rid, v.set_id, v.class, v.reason, v.fields, v.candidates, v.pass, CAST(NULL AS VARCHAR) AS keep_remote_id,
  CASE WHEN v.class = 'correct' THEN 'confirm' WHEN v.class = 'absent' THEN 'requeue' WHEN v.class = 'not_applicable' THEN 'close' ELSE 'review' END AS allowed,
  CAST(CASE WHEN v.class = 'correct' THEN /*$confirm_failed*/ WHEN v.class = 'absent' THEN q.failed WHEN v.class = 'not_applicable' THEN /*$close_failed*/ ELSE 0 END AS INTEGER) AS allowed_failed,
  CASE WHEN t.rid IS NOT NULL THEN 'close' WHEN v.class = 'correct' THEN 'confirm' WHEN v.class = 'absent' THEN 'requeue' WHEN v.class = 'not_applicable' THEN 'close' ELSE 'review' END AS wanted,
  CAST(CASE WHEN t.rid IS NOT NULL THEN 2 ELSE 0 END AS TINYINT) AS kind, CAST(CASE WHEN t.rid IS NOT NULL THEN /*$close_failed*/ ELSE 0 END AS INTEGER) AS close_failed,
  CAST(coalesce(q.lifted, 0) AS INTEGER) AS lifted
FROM verdicts_o v JOIN res_o o ON o.rid = v.rid
LEFT JOIN partners a ON a.o_rid = v.rid
LEFT JOIN shown m ON m.o_rid = v.rid
LEFT JOIN requeue_facts q ON q.rid = v.rid
LEFT JOIN overtaken t ON t.rid = v.rid
WHERE v.set_id IS NULL AND v.class NOT IN ('not_due', 'duplicate') AND v.reason <> 'duplicate_effect'
  AND NOT (v.class = 'not_applicable' AND (/*$out_of_period*/))
  AND NOT (v.class IN ('correct', 'not_applicable') AND /*$no_item*/)/*$of_group*/
UNION ALL
SELECT s.o_rid, s.r_rid, NULL, CAST('duplicate' AS verdict_class), CAST('surplus_effect' AS verdict_reason), NULL, NULL, d.pass, s.keep_remote_id, 'compensate', s.failed, 'compensate', 1, 0, 0
FROM surplus_facts s JOIN linked d ON d.o_rid = s.o_rid AND d.r_rid = s.r_rid
UNION ALL
SELECT NULL, v.rid, NULL, v.class, v.reason, v.fields, v.candidates, v.pass, NULL, CASE WHEN x.r_rid IS NOT NULL THEN 'compensate' ELSE 'review' END, coalesce(x.failed, 0),
  CASE WHEN x.declared THEN 'compensate' ELSE 'review' END, 0, 0, 0
FROM verdicts_r v LEFT JOIN unexpected_facts x ON x.r_rid = v.rid
WHERE v.set_id IS NULL AND v.link IS NULL AND v.class NOT IN ('not_due', 'not_applicable') AND NOT (v.class = 'duplicate' AND v.reason IN ('identical_copy', 'superseded_attempt'))
UNION ALL
-- A set is shown by the rows with the least fingerprint: the same ones however the
-- files are ordered.
SELECT arg_min(o_rid, w1) FILTER (WHERE o_rid IS NOT NULL), arg_min(r_rid, w1) FILTER (WHERE r_rid IS NOT NULL), set_id,
  arg_min(class, (side, w1)), arg_min(reason, (side, w1)), NULL, coalesce(max(candidates), count(*)), min(pass), NULL, 'review', 0, 'review', 0, 0, 0
FROM (
  SELECT v.rid AS o_rid, NULL AS r_rid, v.set_id, v.class, v.reason, v.pass, v.candidates, 0 AS side, s.w1
  FROM verdicts_o v JOIN res_o s ON s.rid = v.rid WHERE v.set_id IS NOT NULL AND v.class IN ('ambiguous', 'duplicate')
  UNION ALL
  SELECT NULL, v.rid, v.set_id, v.class, v.reason, v.pass, v.candidates, 1, s.w1
  FROM verdicts_r v JOIN res_r s ON s.rid = v.rid WHERE v.set_id IS NOT NULL AND v.class IN ('ambiguous', 'duplicate'))
GROUP BY set_id
