-- Reads   report_exceptions, res_o, res_r, report_files.
-- Makes   the view of exceptions.parquet: where each row stands, both verdicts,
--         the exact difference, every declared field of both sides as text
--         (redacted as declared), and the digests of both files.
CREATE OR REPLACE VIEW report_exceptions_wide AS
SELECT e.o_rid, e.r_rid, e.needs_work,
       e.link, p.name AS pass, e.set_id, e.candidates, e.in_period,
       fo.source AS o_source, fo.file AS o_file, (e.o_rid & 1099511627775) AS o_record, e.o_class, e.o_reason,
       fr.source AS r_source, fr.file AS r_file, (e.r_rid & 1099511627775) AS r_record, e.r_class, e.r_reason,
       e.fields,
       /*$money*/
       /*$fields*/
       fo.sha256 AS o_sha256, fr.sha256 AS r_sha256
FROM report_exceptions e
LEFT JOIN res_o o ON o.rid = e.o_rid
LEFT JOIN res_r r ON r.rid = e.r_rid
LEFT JOIN report_files fo ON fo.side = 'operations' AND fo.file_no = (e.o_rid >> 40)
LEFT JOIN report_files fr ON fr.side = 'results' AND fr.file_no = (e.r_rid >> 40)
LEFT JOIN report_passes p ON p.no = e.pass
