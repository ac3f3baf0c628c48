-- V12 (a): operations of dissolved links, save those that have a settled one.
INSERT INTO marks_o
SELECT DISTINCT o_rid, 'ambiguous', 'keys_disagree', NULL, NULL FROM judged
WHERE o_rid NOT IN (SELECT o_rid FROM links)
