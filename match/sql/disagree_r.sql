-- V12 (a): results of dissolved links.
INSERT INTO marks_r
SELECT DISTINCT r_rid, 'ambiguous', 'keys_disagree', NULL, NULL FROM judged
WHERE (o_rid, r_rid) NOT IN (SELECT (o_rid, r_rid) FROM links)
