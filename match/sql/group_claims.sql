-- The members of one side of the groups of this pass.
INSERT INTO group_rows
SELECT g.grp, /*$side*/, f.rid FROM found_groups g JOIN /*$free*/ f ON f.k = g.k AND f.same = g.same WHERE NOT g.contradicted
