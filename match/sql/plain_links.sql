-- Pairs that are plain under the second identity key: the result carries no first
-- one, nothing else carries the operation's first one, the second one occurs once on
-- each side, and all else is as for a plain pair. Their link is shown as that of
-- every plain pair is: the fingerprint of the operation's first key, or of the second
-- where it has none.
CREATE OR REPLACE TABLE plain_links AS
SELECT o.o_rid, r.r_rid, CAST(/*$pass*/ AS INTEGER) AS pass, coalesce(o.o_h0, o.o_/*$h*/) AS link
FROM not_plain o JOIN not_plain r ON o.o_/*$h*/ = r.r_/*$h*/
WHERE o.r_rid IS NULL AND r.o_rid IS NULL AND r.r_h0 IS NULL
  AND NOT o.o_special AND NOT r.r_special AND NOT r.r_aside AND /*$agrees*/
  AND o.o_/*$h*/ NOT IN (SELECT h FROM rep_/*$h*/)
