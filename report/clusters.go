package report

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

var (
	sqlClusterRows       = parseSQL("cluster_rows")
	sqlClusterMarks      = parseSQL("cluster_marks")
	sqlClusterCandidates = parseSQL("cluster_candidates")
	sqlClusterChosen     = parseSQL("cluster_chosen")
	sqlClusterOf         = parseSQL("cluster_of")
	sqlClusterSums       = parseSQL("cluster_sums")
	sqlClusterExamples   = parseSQL("cluster_examples")
)

// Cluster is a group of exceptions of one class that have something in common which may
// be their cause. A row counts in one cluster: what its values say comes before where it
// stands, then the cluster with more rows. Values of redacted fields are not shown.
type Cluster struct {
	Cause       string        `json:"cause"` // amount_ratio, amount_difference, version_jump, value_pair, status_text, missing_key, file, minute, worker, destination, account
	What        string        `json:"what"`  // what is the same: × 100, the pair of values, the file; "" redacted
	Class       string        `json:"class"`
	Rows        int64         `json:"rows"`
	Of          int64         `json:"of"`          // exceptions of the class that need work
	Amounts     []Money       `json:"amounts"`     // the larger amount of both sides
	Differences []Money       `json:"differences"` // results − operations
	Sentence    string        `json:"sentence"`
	Examples    []ClusterPair `json:"examples"` // the first ones, at most 3
}

// ClusterPair says where an exception stands.
type ClusterPair struct {
	Operation *RowRef `json:"operation"` // null: a result alone
	Result    *RowRef `json:"result"`    // null: an operation alone
}

// What it takes to be named: so many rows; of the exceptions of the class so many percent,
// and more where the rows have nothing but their place in common; of all rows of that
// place so many percent.
const (
	clusterRows       = 10
	clusterShare      = 10
	clusterPlaceShare = 50
	clusterDensity    = 25
	maxCandidates     = 64
	maxClusters       = 20
	clusterExamples   = 3
)

// causes are the kinds of common causes, the best first. From causeFileR on a cause is
// only a place.
const (
	causeRatio = iota
	causeDifference
	causeVersion
	causePair
	causeStatus
	causeKey
	causeFileR
	causeFileO
	causeMinute
	causeWorker
	causeDestination
	causeAccount
)

var causeNames = []string{"amount_ratio", "amount_difference", "version_jump", "value_pair", "status_text", "missing_key", "file", "file", "minute", "worker", "destination", "account"}

// candidate is a mark that enough exceptions have.
type candidate struct {
	class, key, what string
	cause            int
	rows, total      int64
}

// clusters groups the exceptions that need work.
func clusters(ctx context.Context, db *duck.DB, in *Input, red *redactor, of int64) ([]Cluster, error) {
	out := []Cluster{}
	if of < clusterRows {
		return out, nil
	}
	slots := duck.Slots{"marks": strings.Join(clusterMarks(in, red), ",\n      "),
		"by_operation": needsWorkExpr("e.o_class", "e.o_reason") + " AND e.r_class IS DISTINCT FROM 'duplicate'"}
	if err := db.Exec(ctx, sqlClusterRows.Render(slots)); err != nil {
		return nil, err
	}
	slots = duck.Slots{"file_r": strconv.Itoa(causeFileR), "file_o": strconv.Itoa(causeFileO), "least": strconv.Itoa(clusterRows), "files": fileEnds(in)}
	if err := db.Exec(ctx, sqlClusterMarks.Render(slots)); err != nil {
		return nil, err
	}
	list, err := candidates(ctx, db, in)
	if err != nil || len(list) == 0 {
		return out, err
	}
	left, err := assign(ctx, db, list)
	if err != nil || len(left) == 0 {
		return out, err
	}
	return describe(ctx, db, in, list)
}

// fileEnds lists the files of both sides with their number of records.
func fileEnds(in *Input) string {
	rows := []string{}
	for _, side := range rules.Sides {
		for _, f := range in.relation(side).Files {
			rows = append(rows, fmt.Sprintf("('%s', %d, %d)", side, f.No, f.Records))
		}
	}
	if len(rows) == 0 {
		return "SELECT '' AS side, 0 AS file_no, 0 AS last WHERE false"
	}
	return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") v(side, file_no, last)"
}

// candidates reads the marks that enough rows have. Where rows share only a minute, a
// worker, a destination or an account, it is no cause unless a good part of all rows there are
// exceptions.
func candidates(ctx context.Context, db *duck.DB, in *Input) ([]candidate, error) {
	var all []candidate
	q := sqlClusterCandidates.Render(duck.Slots{"least": strconv.Itoa(clusterRows), "share": strconv.Itoa(clusterShare), "place_share": strconv.Itoa(clusterPlaceShare),
		"places": strconv.Itoa(causeFileR), "limit": strconv.Itoa(maxCandidates)})
	err := each(ctx, db, q, func(rows *sql.Rows) error {
		var c candidate
		err := rows.Scan(&c.class, &c.cause, &c.key, &c.what, &c.rows, &c.total)
		all = append(all, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	whole, err := wholePlaces(ctx, db, in, all)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	for i, c := range all {
		if n, asked := whole[i]; asked && c.rows*100 < n*clusterDensity {
			continue
		}
		kept = append(kept, c)
	}
	return kept, nil
}

// wholePlaces counts all rows of a side in the minutes, workers, destinations and accounts
// of the candidates, in one scan of the operations and one of the results at most.
func wholePlaces(ctx context.Context, db *duck.DB, in *Input, list []candidate) (map[int]int64, error) {
	out := map[int]int64{}
	accounts, files := in.accounts(rules.Results)
	asked := map[rules.Side][]int{}
	filters := map[rules.Side][]string{}
	for i, c := range list {
		side, filter := rules.Operations, ""
		switch c.cause {
		case causeMinute:
			letter, minute, _ := strings.Cut(c.key, "/")
			if letter == "r" {
				side = rules.Results
			}
			filter = "f_created_at // 60000000 = " + minute
		case causeWorker:
			filter = "f_lease_holder = " + duck.Literal(c.key)
		case causeDestination:
			filter = "f_destination = " + duck.Literal(c.key)
		case causeAccount:
			for _, f := range in.Results.Files {
				if fmt.Sprint(files[f.No]) == c.key && accounts != nil {
					out[i] += f.Records
				}
			}
			continue
		default:
			continue
		}
		asked[side] = append(asked[side], i)
		filters[side] = append(filters[side], "count(*) FILTER (WHERE "+filter+")")
	}
	for _, side := range rules.Sides {
		if len(asked[side]) == 0 {
			continue
		}
		counts := make([]int64, len(asked[side]))
		dest := make([]any, len(counts))
		for i := range counts {
			dest[i] = &counts[i]
		}
		if err := db.Scan(ctx, "SELECT "+strings.Join(filters[side], ", ")+" FROM "+string(side), dest...); err != nil {
			return nil, err
		}
		for i, n := range counts {
			out[asked[side][i]] = n
		}
	}
	return out, nil
}

// assign gives each row its best candidate. A candidate that is left with too few rows is
// named no more, and its rows go to the next one: the worst first, until all that are
// left have enough.
func assign(ctx context.Context, db *duck.DB, list []candidate) ([]int, error) {
	values := make([]string, len(list))
	left := make([]int, len(list))
	for i, c := range list {
		values[i] = fmt.Sprintf("(%d, %s, %d, %s)", i, duck.Literal(c.class), c.cause, duck.Literal(c.key))
		left[i] = i
	}
	if err := db.Exec(ctx, sqlClusterChosen.Render(duck.Slots{"candidates": strings.Join(values, ", ")})); err != nil {
		return nil, err
	}
	for len(left) > 0 {
		names := make([]string, len(left))
		for i, no := range left {
			names[i] = strconv.Itoa(no)
		}
		if err := db.Exec(ctx, sqlClusterOf.Render(duck.Slots{"left": strings.Join(names, ", ")})); err != nil {
			return nil, err
		}
		rows := map[int]int64{}
		err := each(ctx, db, "SELECT no, count(*) FROM report_cluster_of GROUP BY ALL", func(r *sql.Rows) error {
			var no int
			var n int64
			err := r.Scan(&no, &n)
			rows[no] = n
			return err
		})
		if err != nil {
			return nil, err
		}
		enough := func(no int) bool {
			share := int64(clusterShare)
			if list[no].cause >= causeFileR {
				share = clusterPlaceShare
			}
			return rows[no] >= clusterRows && rows[no]*100 >= list[no].total*share
		}
		worst := -1
		for i, no := range left {
			if !enough(no) {
				worst = i
			}
		}
		if worst < 0 {
			return left, nil
		}
		left = slices.Delete(left, worst, worst+1)
	}
	return nil, nil
}

// describe reads the sums of the clusters and says each in one sentence, the most money
// first: amounts of different currencies do not compare, so that the largest of each
// currency come in turns.
func describe(ctx context.Context, db *duck.DB, in *Input, list []candidate) ([]Cluster, error) {
	type found struct {
		Cluster
		no       int
		operator [2]clusterSpan // operations, results
		sums     map[string]*big.Rat
	}
	var all []*found
	err := each(ctx, db, sqlClusterSums.Render(nil), func(rows *sql.Rows) error {
		var no int
		var currency string
		var n, valued, differing int64
		var amount, difference sql.NullString
		var o, r clusterSpan
		dest := []any{&no, &currency, &n, &valued, &amount, &differing, &difference, &o.rows, &o.least, &o.most, &o.first, &r.rows, &r.least, &r.most, &r.first}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if len(all) == 0 || all[len(all)-1].no != no {
			c := list[no]
			all = append(all, &found{no: no, sums: map[string]*big.Rat{}, Cluster: Cluster{Cause: causeNames[c.cause], What: c.what, Class: c.class, Of: c.total,
				Amounts: []Money{}, Differences: []Money{}, Examples: []ClusterPair{}}})
		}
		f := all[len(all)-1]
		f.Rows += n
		f.operator[0].add(o)
		f.operator[1].add(r)
		for _, m := range []struct {
			to   *[]Money
			text sql.NullString
			n    int64
		}{{&f.Amounts, amount, valued}, {&f.Differences, difference, differing}} {
			if !m.text.Valid || m.n == 0 {
				continue
			}
			a, err := parseExact(m.text.String)
			if err != nil {
				return err
			}
			if m.to == &f.Amounts {
				f.sums[currency] = a
			}
			*m.to = append(*m.to, Money{Currency: currency, Amount: amountText(a, currency), Items: m.n})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	byNo := map[int]*found{}
	for _, f := range all {
		byNo[f.no] = f
		f.Sentence = clusterSentence(in, list[f.no], &f.Cluster, f.operator)
	}
	err = each(ctx, db, sqlClusterExamples.Render(duck.Slots{"examples": strconv.Itoa(clusterExamples)}), func(rows *sql.Rows) error {
		var no int
		var o, r sql.NullInt64
		var oc, or, rc, rr string
		if err := rows.Scan(&no, &o, &oc, &or, &r, &rc, &rr); err != nil {
			return err
		}
		var p ClusterPair
		if o.Valid {
			at := in.rowRef(rules.Operations, o.Int64)
			at.Class, at.Reason = oc, or
			p.Operation = &at
		}
		if r.Valid {
			at := in.rowRef(rules.Results, r.Int64)
			at.Class, at.Reason = rc, rr
			p.Result = &at
		}
		byNo[no].Examples = append(byNo[no].Examples, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The place of a cluster is its best one among those of a currency.
	place := map[int]int{}
	for _, f := range all {
		place[f.no] = len(all)
		for code, sum := range f.sums {
			larger := 0
			for _, g := range all {
				if x := g.sums[code]; x != nil && (x.Cmp(sum) > 0 || x.Cmp(sum) == 0 && g.no < f.no) {
					larger++
				}
			}
			place[f.no] = min(place[f.no], larger)
		}
	}
	slices.SortFunc(all, func(a, b *found) int {
		return cmp.Or(cmp.Compare(place[a.no], place[b.no]), cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.no, b.no))
	})
	out := []Cluster{}
	for _, f := range all[:min(len(all), maxClusters)] {
		out = append(out, f.Cluster)
	}
	return out, nil
}

// clusterSpan is where the rows of a cluster stand on one side.
type clusterSpan struct {
	rows               int64
	least, most, first sql.NullInt64 // number of the first and the last file, and the first record
}

func (s *clusterSpan) add(x clusterSpan) {
	if x.rows == 0 {
		return
	}
	if s.rows == 0 {
		*s = x
		return
	}
	s.rows += x.rows
	s.least.Int64, s.most.Int64, s.first.Int64 = min(s.least.Int64, x.least.Int64), max(s.most.Int64, x.most.Int64), min(s.first.Int64, x.first.Int64)
}

// classNouns name the exceptions of a class.
var classNouns = map[string]string{"divergent": "divergences", "absent": "absences", "unexpected": "unexpected effects",
	"ambiguous": "undecided rows", "duplicate": "duplicates"}

// clusterSentence explains a cluster with its counts, and where all of it stands.
func clusterSentence(in *Input, c candidate, x *Cluster, sides [2]clusterSpan) string {
	text := fmt.Sprintf("%s of %s %s", grouped(strconv.FormatInt(x.Rows, 10)), grouped(strconv.FormatInt(x.Of, 10)), cmp.Or(classNouns[c.class], c.class))
	where := ""
	for i, side := range []rules.Side{rules.Results, rules.Operations} {
		s := sides[1-i]
		if c.cause == causeFileO && side != rules.Operations {
			continue // the file is the cause
		}
		if s.rows == x.Rows && s.least.Int64 == s.most.Int64 {
			at := in.rowRef(side, s.least.Int64<<40)
			if s.first.Int64 > 1 {
				where = fmt.Sprintf("all from %s after record %s", shown(at.File), grouped(strconv.FormatInt(s.first.Int64-1, 10)))
			} else {
				where = "all from " + shown(at.File)
			}
			if c.cause == causeFileR || c.cause == causeFileO {
				x.What = at.File
			}
			break
		}
	}
	what := ""
	switch c.cause {
	case causeRatio:
		what = "amount " + c.what
	case causeDifference:
		what = "amount differs by " + c.what
	case causeVersion:
		what = "version " + c.what
	case causePair:
		what = c.what
	case causeStatus:
		what = "status " + c.what
		if c.what == "" {
			what = "the same status"
		}
	case causeKey:
		what = c.what
	case causeMinute:
		what = "all in the minute " + c.what
	case causeWorker:
		what = "all held by the worker " + shown(c.what)
		if c.what == "" {
			what = "all held by one worker"
		}
	case causeDestination:
		what = "all sent to the destination " + shown(c.what)
		if c.what == "" {
			what = "all sent to one destination"
		}
	case causeAccount:
		accounts, _ := in.accounts(rules.Results)
		if no, err := strconv.Atoi(c.key); err == nil && no < len(accounts) {
			x.What = accounts[no]
		}
		what = "all of the account " + shown(x.What)
	}
	parts := []string{}
	for _, p := range []string{what, where} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return text + ": " + strings.Join(parts, ", ")
}
