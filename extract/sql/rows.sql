-- All rows of one staged file with the declared columns, as the oracle reads them.
SELECT /*$columns*/ FROM /*$rows*/ ORDER BY rec
