-- The product fields of one row as text, the text as found where it is unreadable.
-- In: the side's view. Out: one row, a column a field.
SELECT /*$columns*/ FROM /*$side*/ WHERE rid = /*$rid*/
