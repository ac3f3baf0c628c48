-- V28: operations whose identity key only rows set aside by a scope rule carry.
CREATE OR REPLACE TABLE set_aside AS
SELECT o.rid FROM res_o o WHERE /*$carried*/
