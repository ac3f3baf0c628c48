-- V31: for each surplus effect the checks that fail, as bits.
CREATE OR REPLACE TABLE surplus_facts AS
WITH surplus AS (
  SELECT d.o_rid, d.r_rid, e.kept FROM linked d JOIN effects e ON e.o_rid = d.o_rid WHERE d.r_verdict = 'duplicate/surplus_effect')
SELECT p.o_rid, p.r_rid, d.kept, k.f_remote AS keep_remote_id,
  (CASE WHEN d.kept IS NULL THEN /*$no_good*/ ELSE 0 END) |
  (CASE WHEN d.kept IS NOT NULL AND (NOT k.satisfies OR o.partial) THEN /*$differs*/ ELSE 0 END) |
  (CASE WHEN p.st <> 'succeeded' OR (d.kept IS NOT NULL AND k.st <> 'succeeded') THEN /*$not_succeeded*/ ELSE 0 END) |
  (CASE WHEN NOT p.settled OR (d.kept IS NOT NULL AND NOT k.settled) THEN /*$not_settled*/ ELSE 0 END) |
  (CASE WHEN r.remote IS NULL THEN /*$no_remote*/ ELSE 0 END) |
  (CASE WHEN o.undo IS NULL THEN /*$no_business*/ ELSE 0 END) |
  (CASE WHEN x.given THEN 0 ELSE /*$no_parameter*/ END) | o.barred AS failed
FROM surplus d
JOIN pairs p ON p.o_rid = d.o_rid AND p.r_rid = d.r_rid
JOIN (SELECT rid, /*$remote*/ AS remote FROM res_r r) r ON r.rid = p.r_rid
JOIN (SELECT r.rid, o.rid AS o_rid, /*$given*/ AS given FROM surplus d JOIN res_o o ON o.rid = d.o_rid JOIN res_r r ON r.rid = d.r_rid) x ON x.rid = p.r_rid AND x.o_rid = p.o_rid
JOIN (SELECT o.rid, /*$undo*/ AS undo, /*$partial*/ AS partial, /*$barred*/ AS barred FROM res_o o JOIN (
  -- Partial effects that add up to no more than the operation are never undone.
  SELECT p.o_rid, /*$total*/ AS total FROM pairs p JOIN res_r r ON r.rid = p.r_rid WHERE p.st <> 'failed' AND p.o_rid IN (SELECT o_rid FROM surplus) GROUP BY p.o_rid) a ON a.o_rid = o.rid) o ON o.rid = p.o_rid
LEFT JOIN (SELECT p.r_rid, p.st, p.settled, /*$satisfies*/ AS satisfies, /*$remote*/ AS f_remote
           FROM pairs p JOIN res_r r ON r.rid = p.r_rid WHERE p.r_rid IN (SELECT kept FROM surplus)) k ON k.r_rid = d.kept
