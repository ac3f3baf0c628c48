SELECT (SELECT count(*) FROM /*$rows*/), (SELECT count(*) FROM moved)
