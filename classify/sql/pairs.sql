-- Each residual link with the code of every comparison (match/compare) and the
-- order of versions.
CREATE OR REPLACE TABLE pairs AS
SELECT l.o_rid, l.r_rid, l.pass, l.settled, l.differing,
  /*$status*/ AS st/*$codes*/, /*$order*/ AS ordered, /*$same*/ AS same_version
FROM links l JOIN res_o o ON o.rid = l.o_rid JOIN res_r r ON r.rid = l.r_rid
