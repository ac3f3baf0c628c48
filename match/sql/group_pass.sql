-- V16: the keys under which free rows of both sides stand, one group each. Both sides are
-- added up before they are joined. V14: contradicted are those of which some row of one
-- side carries another value of an identity key than some row of the other side.
CREATE OR REPLACE TABLE found_groups AS
SELECT o.grp, o.k, o.same, (false/*$differ*/) AS contradicted
FROM (SELECT k, same, min(rid) AS grp/*$bounds*/ FROM free_o WHERE same IS NOT NULL GROUP BY k, same) o
JOIN (SELECT k, same/*$bounds*/ FROM free_r WHERE same IS NOT NULL GROUP BY k, same) r ON r.k = o.k AND r.same = o.same
