-- V12 (c): free operations one of whose identity keys occurs on a result that is
-- linked or undecided; scope rows are for V28.
INSERT INTO marks_o
SELECT o.rid, 'ambiguous', 'keys_disagree', NULL, NULL
FROM free_o o
WHERE /*$carried*/
