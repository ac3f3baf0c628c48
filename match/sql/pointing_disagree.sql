-- V12 (b): keys that point to several operations, or one of them nowhere.
INSERT INTO marks_r
SELECT rid, 'ambiguous', 'keys_disagree', NULL, NULL FROM pointing
WHERE rid NOT IN (SELECT r_rid FROM links)
