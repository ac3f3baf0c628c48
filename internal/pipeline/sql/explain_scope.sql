-- The scope rule that holds for an operation, nothing where none does. Out: one text.
SELECT coalesce(min(scope_reason), '') FROM facts WHERE rid = /*$rid*/
