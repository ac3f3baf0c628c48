-- What is said of a group. Out: text, operations, results, the operation that its item
-- shows.
SELECT t.text, v.operations, v.results, v.first_o FROM group_texts t JOIN group_verdicts v ON v.grp = t.grp WHERE t.grp = /*$grp*/
