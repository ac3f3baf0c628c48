-- Reads   the narrow files of two runs. Records of files that both read with the
--         same bytes, with another class or reason; named as in run a.
SELECT CAST(a.source AS VARCHAR) AS source, CAST(a.file AS VARCHAR) AS file, a.record,
       CAST(a.class AS VARCHAR) AS a_class, CAST(a.reason AS VARCHAR) AS a_reason,
       CAST(b.class AS VARCHAR) AS b_class, CAST(b.reason AS VARCHAR) AS b_reason
FROM (VALUES /*$pairs*/) p(a_source, a_file, b_source, b_file)
JOIN read_parquet(/*$a*/) a ON a.source = p.a_source AND a.file = p.a_file
JOIN read_parquet(/*$b*/) b ON b.source = p.b_source AND b.file = p.b_file AND b.record = a.record
WHERE a.class <> b.class OR a.reason <> b.reason
