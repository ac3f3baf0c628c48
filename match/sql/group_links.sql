-- The groups that no identity key contradicts.
INSERT INTO groups SELECT grp, /*$pass*/ FROM found_groups WHERE NOT contradicted
