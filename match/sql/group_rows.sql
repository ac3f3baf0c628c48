-- V16: the members of the groups.
CREATE OR REPLACE TABLE group_rows (grp BIGINT, side VARCHAR, rid BIGINT)
