-- V13: rows with more than one candidate, and the candidates of such rows.
INSERT INTO /*$marks*/
SELECT DISTINCT /*$rid*/, 'ambiguous', 'several_candidates', NULL, /*$pass*/
FROM candidates WHERE NOT contradicted AND /*$rid*/ NOT IN (SELECT /*$rid*/ FROM links)
