-- Rows of one side under one link. Out: rid, class, reason, no pass; ordered.
SELECT rid, CAST(class AS VARCHAR), CAST(reason AS VARCHAR), 999 FROM /*$rows*/ WHERE link = CAST(/*$link*/ AS UBIGINT) ORDER BY rid
