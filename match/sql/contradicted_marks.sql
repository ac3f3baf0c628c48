-- V14, one side.
INSERT INTO /*$marks*/
SELECT DISTINCT /*$rid*/, 'ambiguous', 'keys_disagree', NULL, /*$pass*/ FROM contradicted
