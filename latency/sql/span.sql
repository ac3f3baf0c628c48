-- Reads   operations. The first and the last creation, NULL without any.
SELECT min(/*$created*/), max(/*$created*/) FROM operations o
