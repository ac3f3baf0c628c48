-- Reads   links, plain_links, report_files, report_passes. Links that are more than one
--         to one under the first key: of a later pass, or with a partner in common.
WITH several AS (
  SELECT link FROM links GROUP BY link HAVING count(*) > 1
)
SELECT l.link, p.name AS pass, l.settled,
       fo.source AS o_source, fo.file AS o_file, (l.o_rid & 1099511627775) AS o_record,
       fr.source AS r_source, fr.file AS r_file, (l.r_rid & 1099511627775) AS r_record
FROM (SELECT o_rid, r_rid, pass, settled, link FROM links UNION ALL SELECT o_rid, r_rid, pass, true, link FROM plain_links) l
LEFT JOIN several s ON s.link = l.link
LEFT JOIN report_passes p ON p.no = l.pass
LEFT JOIN report_files fo ON fo.side = 'operations' AND fo.file_no = (l.o_rid >> 40)
LEFT JOIN report_files fr ON fr.side = 'results' AND fr.file_no = (l.r_rid >> 40)
WHERE l.pass > 0 OR s.link IS NOT NULL
ORDER BY l.o_rid, l.r_rid
