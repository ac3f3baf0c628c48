-- V7: scope rules of the results apply before matching; the first that holds wins.
INSERT INTO marks_r
SELECT rid, 'not_applicable', reason, NULL, NULL
FROM (SELECT rid, /*$reason*/ AS reason FROM contested_r)
WHERE reason IS NOT NULL AND rid NOT IN (SELECT rid FROM marks_r)
