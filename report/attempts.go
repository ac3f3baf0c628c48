package report

// attemptsMade is the number of attempts of an operation. One that no worker could have
// reached is none, so that no sum is out of range. The bounds are said beside the cast,
// since DuckDB compares what is cast as it was before.
const attemptsMade = `(CASE WHEN o."f_attempts" BETWEEN 0 AND 1000000000 THEN TRY_CAST(o."f_attempts" AS INTEGER) END)`
