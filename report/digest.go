package report

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/big"
	"sort"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// ContentDigest identifies what a run found, whatever the order, the split and
// the names of its inputs (design §3, rule 5): sha256 over sorted lines. For each
// side there are
//
//   - the number of rows by class, reason, pass, once and period;
//   - for each class, reason, pass and set of differing fields the count and the
//     sums of both halves of the row fingerprints;
//   - the same for the rest as one group: rows plainly correct, whichever pass
//     found them, and rows out of the period. It is what remains of the sums over the
//     whole side, so that no row has to be joined to its verdict.
//
// Sums are whole numbers without a bound; provenance is in none of them. Build
// must have run in this database.
func ContentDigest(ctx context.Context, db *duck.DB, in *Input) (string, error) {
	m, err := measure(ctx, db)
	if err != nil {
		return "", err
	}
	return m.contentDigest(ctx, db, in)
}

func (m *measures) contentDigest(ctx context.Context, db *duck.DB, in *Input) (string, error) {
	var lines []string
	outReason := periodReason(in.Bound.Job)
	for _, side := range rules.Sides {
		counts := map[string]int64{}
		for _, v := range m.verdicts[side] {
			counts[fmt.Sprintf("%s\trows\t%s\t%s\t%q\t%s\t%t", side, v.class, v.reason, v.pass, v.once, v.inPeriod)] += v.rows
		}
		for k, n := range counts {
			lines = append(lines, fmt.Sprintf("%s\t%d", k, n))
		}
		sums, err := sideSums(ctx, db, side, outReason)
		if err != nil {
			return "", err
		}
		lines = append(lines, sums...)
	}
	sort.Strings(lines)
	h := sha256.Sum256([]byte(strings.Join(lines, "\n") + "\n"))
	return hex.EncodeToString(h[:]), nil
}

// Reproduce asserts rule 5 of design §3 before a run is published: the content
// digest, computed once more, with the verdicts as they stand in the files that were
// written, is the one that the summary tells. A relation that changes from one
// reading to the next, or a row that was written with another verdict, is a breach.
func Reproduce(ctx context.Context, d *Delivery) error {
	m := &measures{verdicts: map[rules.Side][]verdictCount{}}
	for _, side := range rules.Sides {
		err := each(ctx, d.DB, sqlWritten.Render(duck.Slots{"file": duck.Literal(d.path(string(side) + ".parquet"))}), func(rows *sql.Rows) error {
			var c verdictCount
			if err := rows.Scan(&c.class, &c.reason, &c.pass, &c.once, &c.inPeriod, &c.rows); err != nil {
				return err
			}
			m.verdicts[side] = append(m.verdicts[side], c)
			return nil
		})
		if err != nil {
			return err
		}
	}
	again, err := m.contentDigest(ctx, d.DB, d.In)
	if err != nil {
		return err
	}
	if again != d.Summary.ContentDigest {
		return breach("rule 5 of verdicts does not hold: the content digest was %s, and is %s from what was written", d.Summary.ContentDigest, again)
	}
	return nil
}

// sideSums returns the lines with sums of one side.
func sideSums(ctx context.Context, db *duck.DB, side rules.Side, outReason string) ([]string, error) {
	var lines []string
	var restRows int64
	var w1, w2 string
	q := fmt.Sprintf("SELECT count(*), CAST(coalesce(sum(w1), 0) AS VARCHAR), CAST(coalesce(sum(w2), 0) AS VARCHAR) FROM %s", side)
	if err := db.Scan(ctx, q, &restRows, &w1, &w2); err != nil {
		return nil, err
	}
	rest1, err := whole(w1)
	if err != nil {
		return nil, err
	}
	rest2, err := whole(w2)
	if err != nil {
		return nil, err
	}
	q = sqlDigest.Render(duck.Slots{"verdicts": "verdicts_" + short(side), "residual": "res_" + short(side), "out_of_period": duck.Literal(outReason)})
	err = each(ctx, db, q, func(rows *sql.Rows) error {
		var class, reason, pass, fields string
		var n int64
		if err := rows.Scan(&class, &reason, &pass, &fields, &n, &w1, &w2); err != nil {
			return err
		}
		s1, err := whole(w1)
		if err != nil {
			return err
		}
		s2, err := whole(w2)
		if err != nil {
			return err
		}
		restRows -= n
		rest1.Sub(rest1, s1)
		rest2.Sub(rest2, s2)
		lines = append(lines, fmt.Sprintf("%s\tsum\t%s\t%s\t%q\t%q\t%d\t%s\t%s", side, class, reason, pass, fields, n, s1, s2))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return append(lines, fmt.Sprintf("%s\trest\t%d\t%s\t%s", side, restRows, rest1, rest2)), nil
}

// whole reads a whole number as the engine prints it.
func whole(text string) (*big.Int, error) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, fmt.Errorf("the engine gave %q for a sum of fingerprints", text)
	}
	return n, nil
}
