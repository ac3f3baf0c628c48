-- What is said of a row that is left over; empty where nothing is.
SELECT coalesce(max(text), '') FROM hints WHERE whose = /*$side*/ AND id = /*$rid*/
