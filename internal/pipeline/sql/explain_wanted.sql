-- The verdict of an item, whether its policy closes it since a newer version takes its
-- place, and whether its policy wants it undone though nobody asked for it.
SELECT CAST(i.class AS VARCHAR), CAST(i.reason AS VARCHAR),
  i.o_rid IS NOT NULL AND i.o_rid IN (SELECT rid FROM overtaken),
  i.r_rid IS NOT NULL AND i.r_rid IN (SELECT r_rid FROM unexpected_facts WHERE declared)
FROM items i WHERE i.item_id = /*$item*/
