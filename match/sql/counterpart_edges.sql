-- A counterpart belongs to the set of the records that conflict.
INSERT INTO edges SELECT 2 * rid + /*$bit*/, node FROM /*$found*/
