-- Links as they are made; settled is known after the last identity pass.
CREATE OR REPLACE TABLE links (o_rid BIGINT, r_rid BIGINT, pass INTEGER, settled BOOLEAN, differing VARCHAR)
