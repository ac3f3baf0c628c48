-- The links with an id that both sides' rows show: from the operation's whole record,
-- so that no two operations share one, and that it does not change when files are
-- renamed, split or reordered.
CREATE OR REPLACE TABLE links AS
SELECT l.o_rid, l.r_rid, l.pass, l.settled, d.partner, CAST(md5_number_lower(concat_ws('/', o.w1, o.w2)) AS UBIGINT) AS link, l.differing
FROM links l JOIN res_o o ON o.rid = l.o_rid JOIN linked d ON d.o_rid = l.o_rid AND d.r_rid = l.r_rid
