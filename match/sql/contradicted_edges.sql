-- V14: the two rows are one set.
INSERT INTO edges SELECT 2 * o_rid, 2 * r_rid + 1 FROM contradicted
