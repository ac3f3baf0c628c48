-- V13: each other's only candidate.
INSERT INTO links
SELECT o_rid, r_rid, /*$pass*/, true, NULL
FROM (SELECT o_rid, r_rid, count(*) OVER (PARTITION BY o_rid) AS n_r, count(*) OVER (PARTITION BY r_rid) AS n_o
      FROM candidates WHERE NOT contradicted)
WHERE n_o = 1 AND n_r = 1
