-- The pass in which a row was marked, nothing where it is not or by none. Out: one number.
SELECT min(pass) FROM /*$marks*/ WHERE rid = /*$rid*/
