-- V31: effects that nobody asked for and that are to be undone by the policy of their
-- type, not by a rule of the job. Out: number, an example.
SELECT count(*), min(item_id) FROM items WHERE queue_file = 'compensate' AND class = 'unexpected' AND starts_with(rule, 'types.')
