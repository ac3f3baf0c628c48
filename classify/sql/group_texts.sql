-- What is said of each group: how many rows of each side it has, what they add up to, what
-- its rows state, and which rows would close it. o_rid is the operation that its item
-- shows; print tells one state of a group from another.
CREATE OR REPLACE TABLE group_texts AS
SELECT v.first_o AS o_rid, v.grp, p.print, concat_ws(' ',
    'The group of the pass ' || /*$pass_name*/ || ' has ' || /*$many_o*/ || /*$sum_o*/ || ' and ' || /*$many_r*/ || /*$sum_r*/ || /*$difference*/ || '.',
    CASE WHEN v.stated_operations <> v.operations THEN 'Its results state ' || v.stated_operations || ', and ' || v.operations || ' were found.' END,
    CASE WHEN v.stated_results <> v.results THEN 'Its operations state ' || v.stated_results || ', and ' || v.results || ' were found.' END,
    CASE WHEN v.class = 'divergent' AND v.o_total <> v.r_total THEN coalesce('A hint, by which nothing is linked: ' ||
      CASE h.doubled WHEN 0 THEN 'without ' ELSE 'with another one like ' END || /*$place*/ || CASE WHEN h.other IS NOT NULL THEN CASE h.doubled WHEN 0 THEN ' and ' ELSE ' and like ' END || /*$other_place*/ ELSE '' END
      || ' the sums would agree' || CASE WHEN h.ways > 1 THEN ', which is one of ' || h.ways || ' such choices' ELSE '' END || '.',
      'No row, and no two rows of one side, explain the difference.') END) AS text
FROM (SELECT *, split_part(verdict, '/', 1) AS class FROM group_verdicts) v
JOIN (SELECT grp, CAST(sum(w1) AS VARCHAR) AS print FROM group_members GROUP BY grp) p ON p.grp = v.grp
LEFT JOIN group_hints h ON h.grp = v.grp
