-- Reads   report_cluster_rows. Makes report_cluster_marks: one row for each exception and
--         mark. A file is a mark of the exceptions from that record on after which at
--         least every second record to its end is an exception of the class.
CREATE OR REPLACE TABLE report_cluster_marks AS
SELECT id, class, m.c AS c, m.k AS k, m.w AS w FROM (SELECT id, class, unnest(marks) AS m FROM report_cluster_rows)
UNION ALL
SELECT id, class, CASE side WHEN 'results' THEN /*$file_r*/ ELSE /*$file_o*/ END, CAST(rid >> 40 AS VARCHAR), ''
FROM (
  SELECT *, min(CASE WHEN n >= /*$least*/ AND 2 * n > last - (rid & 1099511627775) THEN rid END) OVER (PARTITION BY class, side, rid >> 40) AS first
  FROM (
    SELECT p.id, p.class, p.side, p.rid, f.last, row_number() OVER (PARTITION BY p.class, p.side, p.rid >> 40 ORDER BY p.rid DESC, p.id DESC) AS n
    FROM (
      SELECT id, class, 'operations' AS side, o_rid AS rid FROM report_cluster_rows WHERE o_rid IS NOT NULL
      UNION ALL
      SELECT id, class, 'results', r_rid FROM report_cluster_rows WHERE r_rid IS NOT NULL) p
    JOIN (/*$files*/) f ON f.side = p.side AND f.file_no = p.rid >> 40))
WHERE rid >= first
