-- How many different keys a source has, against what its snapshot states.
SELECT count(DISTINCT /*$key*/) FROM /*$rows*/
