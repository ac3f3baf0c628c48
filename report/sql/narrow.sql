-- Reads   rows_operations or rows_results, report_files. One narrow row for each
--         row of the side, ordered by source and record (row ids are given in
--         that order). ENUMs keep the sort and the file small.
SELECT f.source, f.file, r.rec AS record, r.class, r.reason,
       CAST(r.pass AS report_pass) AS pass, r.link,
       CAST(r.once AS report_once) AS once, r.in_period
FROM /*$rows*/ r
JOIN /*$files*/ f ON f.file_no = r.file_no
ORDER BY r.rid
