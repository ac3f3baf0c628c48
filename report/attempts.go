package report

// attemptsMade is the number of attempts of an operation. One that no worker could have
// reached is none, so that no sum is out of range. It stays the exact decimal that it is staged as: a
// cast of each takes ten times as long as reading it.
const attemptsMade = `(CASE WHEN o."f_attempts" BETWEEN 0 AND 1000000000 THEN o."f_attempts" END)`
