-- V16: what the verdict of each group depends on: both sides are added up before they are
-- joined. A sum is NULL where a member has no value, a stated number where one states
-- none. The id that its rows show is the least fingerprint of its operations.
CREATE OR REPLACE TABLE group_facts AS
SELECT g.grp, g.pass, o.link, o.first AS first_o, r.first AS first_r, o.n AS operations, r.n AS results,
  CASE WHEN o.valued = o.n THEN o.total END AS o_total, CASE WHEN r.valued = r.n THEN r.total END AS r_total,
  CASE WHEN o.stating = o.n THEN o.stated END AS stated_results, CASE WHEN r.stating = r.n THEN r.stated END AS stated_operations,
  o.bad AS o_bad, r.bad AS r_bad, o.same, o.in_period, o.leased, o.undated, o.waiting, o.uncovered, o.unknown,
  r.uncovered AS r_uncovered, r.unknown AS r_unknown, r.unmapped, r.unsure, r.pending, r.conflicting
FROM groups g
JOIN (
  SELECT m.grp, count(*) AS n, count(m.value) AS valued, sum(m.value) AS total, count(m.stated) AS stating, CAST(sum(m.stated) AS BIGINT) AS stated,
    bit_or(m.bad) AS bad, min(m.w1) AS link, arg_min(m.rid, (m.w1, m.rid)) AS first, min(m.same) AS same,
    bool_or(f.in_period) AS in_period, bool_or(f.leased) AS leased, bool_or(f.has_window AND (f.time_missing OR f.due_us IS NULL)) AS undated,
    coalesce(bool_or(f.has_window AND /*$as_of*/ < f.due_us), false) AS waiting,
    coalesce(bool_or(NOT f.covered), false) AS uncovered, bool_or(f.covered IS NULL) AS unknown
  FROM group_members m JOIN facts f ON f.rid = m.rid WHERE m.side = 'operations' GROUP BY m.grp) o ON o.grp = g.grp
JOIN (
  SELECT m.grp, count(*) AS n, count(m.value) AS valued, sum(m.value) AS total, count(m.stated) AS stating, CAST(sum(m.stated) AS BIGINT) AS stated,
    bit_or(m.bad) AS bad, arg_min(m.rid, (m.w1, m.rid)) AS first,
    coalesce(bool_or(NOT m.covered), false) AS uncovered, bool_or(m.covered IS NULL) AS unknown,
    coalesce(bool_or(m.st = 'unmapped'), false) AS unmapped, coalesce(bool_or(m.st = 'unknown'), false) AS unsure,
    coalesce(bool_or(m.st = 'pending'), false) AS pending, coalesce(bool_or(m.st NOT IN ('unmapped', 'unknown', 'pending')), false) AS conflicting
  FROM group_members m WHERE m.side = 'results' GROUP BY m.grp) r ON r.grp = g.grp
