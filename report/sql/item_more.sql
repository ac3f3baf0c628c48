-- Reads   items, links, plain_links, pairs, verdicts_o, verdicts_r, res_r, report_files; of
--         a job with groups group_rows and group_verdicts.
-- Makes   what only some rows together say of an item that is no confirmation: how many
--         effects its operation has (V10: what did not finally fail), their ids at the
--         provider, and every record that it rests on.
CREATE OR REPLACE TABLE report_item_more AS
WITH i AS MATERIALIZED (
  SELECT item_id, o_rid, r_rid, set_id FROM items WHERE queue <> 'confirm'),
seen AS (
  SELECT i.item_id, count(*) AS effects, list(DISTINCT /*$remote*/ ORDER BY /*$remote*/) FILTER (WHERE /*$remote*/ IS NOT NULL) AS ids
  FROM i JOIN (SELECT o_rid, r_rid FROM pairs WHERE st <> 'failed'/*$group_results*/) p ON p.o_rid = i.o_rid JOIN res_r r ON r.rid = p.r_rid
  GROUP BY i.item_id),
records AS (
  SELECT item_id, 'operations' AS side, o_rid AS rid FROM i WHERE o_rid IS NOT NULL
  UNION SELECT item_id, 'results', r_rid FROM i WHERE r_rid IS NOT NULL
  UNION SELECT i.item_id, 'results', l.r_rid FROM i JOIN links l ON l.o_rid = i.o_rid
  UNION SELECT i.item_id, 'results', l.r_rid FROM i JOIN plain_links l ON l.o_rid = i.o_rid
/*$group_operations*/
  UNION SELECT i.item_id, 'operations', v.rid FROM i JOIN verdicts_o v ON v.set_id = i.set_id
  UNION SELECT i.item_id, 'results', v.rid FROM i JOIN verdicts_r v ON v.set_id = i.set_id),
evidence AS (
  SELECT e.item_id, list(struct_pack(side := e.side, source := f.source, file := f.file, record := e.rid & 1099511627775, sha256 := f.sha256)
    ORDER BY e.side, f.source, f.file, e.rid) AS evidence
  FROM records e JOIN report_files f ON f.side = e.side AND f.file_no = e.rid >> 40
  GROUP BY e.item_id)
SELECT i.item_id, coalesce(s.effects, 0) AS effects, coalesce(s.ids, []) AS ids, e.evidence
FROM i LEFT JOIN seen s ON s.item_id = i.item_id LEFT JOIN evidence e ON e.item_id = i.item_id
