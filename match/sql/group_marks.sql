-- What the pass decides about rows of one side. A member is claimed. V14: a member of a
-- contradicted group, and a row whose key stands on the other side, though not with the
-- same currency, point to rows that they cannot be added up with.
INSERT INTO /*$marks*/
SELECT f.rid, CASE WHEN NOT g.contradicted THEN 'grouped' ELSE 'ambiguous' END, CASE WHEN NOT g.contradicted THEN 'grouped' ELSE 'keys_disagree' END, NULL, /*$pass*/
FROM /*$free*/ f LEFT JOIN found_groups g ON g.k = f.k AND g.same = f.same
WHERE g.k IS NOT NULL OR f.k IN (SELECT k FROM /*$other*/)
