-- The ids of some rows of a side.
SELECT rid, /*$id*/ FROM /*$side*/ WHERE rid IN (/*$rids*/)
