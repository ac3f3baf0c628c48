-- The rows of one side that people mean by a text: any field of an identity pass
-- or id field equals it.
-- In: the side's view. Out: rid; ordered, at most 21 so that "more" can be said.
SELECT rid FROM /*$side*/ WHERE /*$any*/ ORDER BY rid LIMIT 21
