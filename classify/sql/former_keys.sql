-- V31: the relation of what former runs and open cases know, empty: nobody knew
-- anything so far.
CREATE TABLE IF NOT EXISTS former_keys (pass INTEGER, key VARCHAR)
