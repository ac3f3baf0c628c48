-- V11: several operations under one key, none of which may be chosen.
INSERT INTO marks_r SELECT r_rid, 'ambiguous', 'several_candidates', NULL, /*$pass*/ FROM hits WHERE n > 1
