-- V16: the groups that were found; grp is the least row id of the operations of a group.
CREATE OR REPLACE TABLE groups (grp BIGINT, pass INTEGER)
