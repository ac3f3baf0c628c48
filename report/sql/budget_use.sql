-- Reads   budget_turns. What the retry budgets did, by account: requeues, how many of them
--         go later than they could, how many would expire before their turn, and the last
--         turn.
SELECT account, count(*), count(*) FILTER (WHERE NOT late AND turn_us > own_us), count(*) FILTER (WHERE late), max(turn_us) FILTER (WHERE NOT late)
FROM budget_turns WHERE observed = /*$observed*/
GROUP BY ALL ORDER BY ALL
