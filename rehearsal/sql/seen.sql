SELECT night, f_rid, attempts, last_us FROM again ORDER BY ALL
