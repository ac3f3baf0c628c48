-- Reads   report_exceptions or some rows of it, res_o, res_r.
-- Makes   a view of whole exceptions, ordered: where each row stands, both verdicts,
--         the exact difference, every declared field of both sides as text
--         (redacted as declared), and the digests of both files.
-- What is ordered has as few columns as there can be, typed as they are staged: texts
-- and what follows from the row ids are spelled afterwards, row by row, which keeps
-- the order.
CREATE OR REPLACE VIEW /*$view*/ AS
SELECT /*$place*/
       link, /*$pass*/ AS pass, set_id, candidates, in_period,
       /*$o_source*/ AS o_source, /*$o_file*/ AS o_file, (o_rid & 1099511627775) AS o_record, o_class, o_reason,
       /*$r_source*/ AS r_source, /*$r_file*/ AS r_file, (r_rid & 1099511627775) AS r_record, r_class, r_reason,
       fields,
       /*$money*/
       /*$fields*/
       /*$o_sha256*/ AS o_sha256, /*$r_sha256*/ AS r_sha256
FROM (
  SELECT e.* EXCLUDE (currency), /*$staged*/
  FROM /*$from*/ e
  LEFT JOIN res_o o ON o.rid = e.o_rid
  LEFT JOIN res_r r ON r.rid = e.r_rid
  ORDER BY /*$order*/
)
