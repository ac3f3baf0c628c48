-- V30: requeues that lead to a final state: all there are, where their target is one.
-- Out: one number.
SELECT count(*) FROM items WHERE queue = 'requeue'
