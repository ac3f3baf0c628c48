-- Withdrawn items that the list does not have, or has and should not. Out: number, an
-- example.
SELECT count(*), min(item_id) FROM ((FROM withdrawn EXCEPT ALL FROM withdrawn_again) UNION ALL (FROM withdrawn_again EXCEPT ALL FROM withdrawn))
