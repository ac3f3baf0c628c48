-- What the rules need to know about each residual operation apart from its links.
CREATE OR REPLACE TABLE facts AS
SELECT o.rid,
  /*$in_period*/ AS in_period,
  /*$scope*/ AS scope_reason,
  /*$confirmed*/ AS confirmed,
  /*$keyless*/ AS keyless,
  /*$lease*/ AS leased,
  /*$has_window*/ AS has_window,
  /*$time_missing*/ AS time_missing,
  /*$due*/ AS due_us,
  /*$covered*/ AS covered,
  /*$proved*/ AS proved
FROM res_o o
