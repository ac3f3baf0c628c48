-- One operation under the key: its results are linked, several of them too (V10).
INSERT INTO links SELECT o_rid, r_rid, /*$pass*/, NULL, NULL FROM hits WHERE n = 1
