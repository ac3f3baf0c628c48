-- Rows of one side under one link. Out: rid, class, reason; ordered.
SELECT rid, CAST(class AS VARCHAR), CAST(reason AS VARCHAR) FROM /*$rows*/ WHERE link = CAST(/*$link*/ AS UBIGINT) ORDER BY rid
