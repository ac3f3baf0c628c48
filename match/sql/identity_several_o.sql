-- V11, the operations.
INSERT INTO marks_o
SELECT rid, 'ambiguous', 'several_candidates', NULL, /*$pass*/
FROM free_o WHERE /*$k*/ IN (SELECT k FROM hits WHERE n > 1)
