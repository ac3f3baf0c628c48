-- The group that a row belongs to, NULL where it is in none. Out: one number.
SELECT min(grp) FROM group_rows WHERE rid = /*$rid*/ AND side = /*$side*/
