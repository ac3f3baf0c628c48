-- V16: the members of the groups with what each adds to the sum of its side: NULL where a
-- field of the equation is empty. stated is the number of rows of the other side that it
-- states, bad has a bit for each field of these that cannot be read (the position of the
-- field on its side); of a result st is a status other than the expected one, and
-- covered tells whether the operations export would show what it could lack (V29).
CREATE OR REPLACE TABLE group_members AS
/*$members*/
