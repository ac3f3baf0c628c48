-- Every row of one side is residual: jobs without an identity key to begin with,
-- small ones, and tests of the general way.
CREATE OR REPLACE TABLE /*$table*/ AS
SELECT * FROM /*$side*/
