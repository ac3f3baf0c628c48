-- V16: as many links as tie the members of each group together: every operation with the
-- first result, every other result with the first operation. Never all with all.
CREATE OR REPLACE TABLE group_links AS
SELECT v.grp, v.pass, v.link, m.rid AS o_rid, v.first_r AS r_rid FROM group_verdicts v JOIN group_rows m ON m.grp = v.grp AND m.side = 'operations'
UNION ALL
SELECT v.grp, v.pass, v.link, v.first_o, m.rid FROM group_verdicts v JOIN group_rows m ON m.grp = v.grp AND m.side = 'results' AND m.rid <> v.first_r
