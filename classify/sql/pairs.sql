-- Each residual link with the code of every comparison (match/compare), the order of
-- versions, and the id that both sides' rows show: from the operation's record, so that
-- no two operations share one, and that it does not change when files are renamed, split
-- or reordered.
CREATE OR REPLACE TABLE pairs AS
SELECT l.o_rid, l.r_rid, l.pass, l.settled, l.differing, o.w1 AS link,
  /*$status*/ AS st/*$codes*/, /*$order*/ AS ordered, /*$same*/ AS same_version
FROM links l JOIN res_o o ON o.rid = l.o_rid JOIN res_r r ON r.rid = l.r_rid
