// Package match runs the key cascade (verdicts.md A, B, D, E) as set-based SQL
// over the staged columns.
//
// # The idea
//
// A pair is *plain* when both rows carry each other's only identity key, agree on
// every identity key that both carry, on every compared field, and nothing else
// touches any of their keys. Plain pairs are nearly all rows of a good night and
// are decided by fingerprints in one join. All other rows are the *residual*, and
// only they go through the rules one by one:
//
//  1. repeated keys (both sides) are set apart before any join;
//  2. one FULL JOIN on the first identity key's fingerprint; whatever is not a
//     plain pair under it, nor under the second identity key where the result lacks
//     the first, is residual;
//  3. closure: plain pairs that share an identity key with a residual row become
//     residual with both members, so that a rule that looks at "any row that
//     carries this key" sees it;
//  4. the residual rows are fetched with all their columns, and sections B, C
//     (results), D and E of verdicts.md run on them.
//
// # Relations in the scratch database afterwards
//
//	operations, results     views over the staged files: rid BIGINT = file_no<<40 + rec,
//	                        file_no INTEGER, the columns of extract.Layout (keys that
//	                        are not stored are derived here), and record_<key>: each key
//	                        that tells records apart, within its account (V5)
//	res_o, res_r            residual rows, tables: the columns of the view but p1, p2, hx
//	contested_o, contested_r  those of them whose links the passes find: all, or where
//	                        most differ in content alone, the others
//	links                   o_rid, r_rid, pass INTEGER (index of Job.Match), settled
//	                        BOOLEAN (V12), differing VARCHAR (the identity passes whose
//	                        keys differ, joined by ';'; NULL or '' where settled);
//	                        residual links only; several effects are several rows
//	groups                  grp BIGINT (the least row id of its operations), pass INTEGER: one
//	                        row for each group that a pass by groups has found (V16)
//	group_rows              grp BIGINT, side VARCHAR (operations, results), rid BIGINT: their
//	                        members. No group has a row in links; in marks its members are
//	                        claimed, with class and reason 'grouped'
//	plain_links             o_rid, r_rid, pass INTEGER, link UBIGINT: plain pairs under the
//	                        second identity key
//	marks_o, marks_r        rid, class, reason, fields VARCHAR, pass INTEGER: what
//	                        matching alone decides (duplicates, ambiguous keys, result
//	                        scope rules)
//	edges                   a, b BIGINT: rows and keys that belong to one unresolved set;
//	                        NumberSets makes the sets of them
//
// Rows of res_o and res_r without a link and without a mark are free. A job whose
// first pass is no identity pass, or with few rows, has no plain pairs: all of its
// rows are residual.
package match
