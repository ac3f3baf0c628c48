-- Rule 4 of design §3: links of rows that a plain pair has claimed. Out: one number.
SELECT count(*) FROM links WHERE o_rid NOT IN (SELECT rid FROM res_o) OR r_rid NOT IN (SELECT rid FROM res_r)
