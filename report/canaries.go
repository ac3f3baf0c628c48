package report

import (
	"context"
	"database/sql"

	"github.com/recon-batch/recon-batch/internal/duck"
)

var sqlCanaries = parseSQL("canaries")

// Canary is a planted operation and how it came out.
type Canary struct {
	OperationID string `json:"operation_id"`
	Expect      string `json:"expect"`  // class
	Records     int64  `json:"records"` // 0: missing
	Class       string `json:"class"`   // "" missing, or several that differ
	Reason      string `json:"reason"`
	OK          bool   `json:"ok"`
}

// came says how a canary that is not as it should be came out.
func (c Canary) came() string {
	switch {
	case c.Records == 0:
		return "is missing from the operations"
	case c.Class == "":
		return "its records came out differently"
	}
	return "came out as " + c.Class + "/" + c.Reason
}

// AsideRows are rows of the operations in the period that belong to canaries which came
// out as they should.
type AsideRows struct {
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Rows   int64  `json:"rows"`
}

// aside counts the canaries of a class, with or without a reason; "" all.
func (s *Summary) aside(class, reason string) (n int64) {
	for _, a := range s.Aside {
		if (class == "" || a.Class == class) && (reason == "" || a.Reason == reason) {
			n += a.Rows
		}
	}
	return n
}

// canaries reads how the planted operations came out. A second record of the same thing
// is no verdict of its own.
func canaries(ctx context.Context, db *duck.DB, in *Input) ([]Canary, []AsideRows, error) {
	list, aside := []Canary{}, []AsideRows{}
	if len(in.Bound.Canaries) == 0 {
		return list, aside, nil
	}
	for _, c := range in.Bound.Canaries {
		list = append(list, Canary{OperationID: c.OperationID, Expect: c.Expect})
	}
	type counted struct {
		AsideRows
		no int
	}
	var rows []counted
	differ := map[int]bool{}
	err := each(ctx, db, sqlCanaries.Render(nil), func(r *sql.Rows) error {
		var x counted
		var records int64
		if err := r.Scan(&x.no, &x.Class, &x.Reason, &records, &x.Rows); err != nil {
			return err
		}
		rows = append(rows, x)
		c := &list[x.no]
		c.Records += records
		switch {
		case x.Class == "duplicate" && (x.Reason == "identical_copy" || x.Reason == "superseded_attempt"):
		case c.Class == "" && !differ[x.no]:
			c.Class, c.Reason = x.Class, x.Reason
		case c.Class != x.Class || c.Reason != x.Reason:
			c.Class, c.Reason, differ[x.no] = "", "", true
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range list {
		list[i].OK = list[i].Class != "" && list[i].Class == list[i].Expect
	}
	for _, x := range rows {
		if x.Rows > 0 && list[x.no].OK {
			aside = addAside(aside, x.AsideRows)
		}
	}
	return list, aside, nil
}

func addAside(list []AsideRows, x AsideRows) []AsideRows {
	for i := range list {
		if list[i].Class == x.Class && list[i].Reason == x.Reason {
			list[i].Rows += x.Rows
			return list
		}
	}
	return append(list, x)
}
