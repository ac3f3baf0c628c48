-- A condition over one row, false where it is unknown. Out: one boolean.
SELECT coalesce(/*$condition*/, false) FROM /*$side*/ o WHERE rid = /*$rid*/
