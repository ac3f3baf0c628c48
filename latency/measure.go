package latency

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/internal/pipeline"
	"github.com/recon-batch/recon-batch/report"
	"github.com/recon-batch/recon-batch/rules"
)

// Percentiles of a time, by nearest rank, in microseconds. Negative where a result is
// dated before what it counts from.
type Percentiles struct {
	Links int64 `json:"links"`
	P50   int64 `json:"p50_us"`
	P95   int64 `json:"p95_us"`
	P99   int64 `json:"p99_us"`
	P999  int64 `json:"p99_9_us"`
	Max   int64 `json:"max_us"`
}

// Group is the links of a type, or of those of one account, or of those of one weekday.
type Group struct {
	Type          string      `json:"type"`
	Account       string      `json:"account"` // "" all
	Weekday       string      `json:"weekday"` // of the creation in the zone of the job; "" all
	SinceAttempt  Percentiles `json:"since_last_attempt"`
	SinceCreation Percentiles `json:"since_creation"`

	excess          Percentiles // result − due; negative within the window
	lease, duration Percentiles
}

// Lease compares how long attempts took with how long their lease ran.
type Lease struct {
	Type     string      `json:"type"`
	Account  string      `json:"account"`
	Duration Percentiles `json:"duration"` // last_attempt_at to the result
	Lease    Percentiles `json:"lease"`    // last_attempt_at to lease_until
	Outlived int64       `json:"outlived"` // attempts whose effect came after the lease had ended
}

// Measured is what the links of some nights say.
type Measured struct {
	Job       string        `json:"job"`
	Zone      string        `json:"zone"`
	ClockSkew time.Duration `json:"-"`
	Nights    []Night       `json:"nights"`
	Links     int64         `json:"links"` // each operation once
	Groups    []Group       `json:"groups"`
	Leases    []Lease       `json:"leases"`

	job *rules.Job
	db  *duck.DB
}

// measure opens what the nights left and hands it on; it is gone afterwards.
func measure(ctx context.Context, o pipeline.Options, nights int, use func(*Measured) error) (err error) {
	s, err := collect(ctx, o, nights)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	budget, err := pipeline.NewBudget(o.Memory)
	if err != nil {
		return err
	}
	db, err := duck.Open(ctx, duck.Options{MemoryBytes: budget.DuckDB, Threads: o.Threads, SpillDir: filepath.Join(s.dir, "spill"), Allowed: []string{s.dir}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	m := &Measured{Job: o.Job.Name, Zone: o.Job.Zone.String(), ClockSkew: o.Job.ClockSkew, Nights: s.nights, Groups: []Group{}, Leases: []Lease{}, job: o.Job, db: db}
	var files []string
	for _, n := range s.nights {
		files = append(files, duck.Literal(filepath.Join(s.dir, n.BusinessDate+".parquet")))
	}
	if err := db.Exec(ctx, statement("once").Render(duck.Slots{"files": "[" + strings.Join(files, ", ") + "]"})); err != nil {
		return err
	}
	if err := db.Exec(ctx, statement("times").Render(duck.Slots{"skew": m.skew()})); err != nil {
		return err
	}
	if err := db.Scan(ctx, "SELECT count(*) FROM links", &m.Links); err != nil {
		return err
	}
	if err := m.percentiles(ctx); err != nil {
		return err
	}
	if err := m.leases(ctx); err != nil {
		return err
	}
	return use(m)
}

func (m *Measured) skew() string { return fmt.Sprint(m.ClockSkew.Microseconds()) }

// percentiles fills the groups: of a type, then of its accounts, each followed by its
// weekdays.
func (m *Measured) percentiles(ctx context.Context) error {
	rows, err := m.db.Query(ctx, statement("percentiles").Render(duck.Slots{}))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var metric string
		var g Group
		var day int
		var p Percentiles
		if err := rows.Scan(&metric, &g.Type, &g.Account, &day, &p.Links, &p.P50, &p.P95, &p.P99, &p.P999, &p.Max); err != nil {
			return err
		}
		g.Type = report.TypeShown(m.job, g.Type)
		if day >= 0 {
			g.Weekday = time.Weekday((day + 1) % 7).String()
		}
		if n := len(m.Groups); n == 0 || m.Groups[n-1].Type != g.Type || m.Groups[n-1].Account != g.Account || m.Groups[n-1].Weekday != g.Weekday {
			m.Groups = append(m.Groups, g)
		}
		last := &m.Groups[len(m.Groups)-1]
		switch metric {
		case "attempt":
			last.SinceAttempt = p
		case "creation":
			last.SinceCreation = p
		case "excess":
			last.excess = p
		case "lease":
			last.lease = p
		case "duration":
			last.duration = p
		}
	}
	return rows.Err()
}

// leases compares by type and account, where a lease is known.
func (m *Measured) leases(ctx context.Context) error {
	late, err := m.late(ctx, 0, 0)
	if err != nil {
		return err
	}
	for _, g := range m.Groups {
		if g.Account == "" || g.Weekday != "" || g.lease.Links == 0 {
			continue
		}
		m.Leases = append(m.Leases, Lease{Type: g.Type, Account: g.Account, Duration: g.duration, Lease: g.lease, Outlived: late[[2]string{g.Type, g.Account}].outlived})
	}
	return nil
}

// lateness counts the links of a type and account.
type lateness struct {
	judged   int64 // that have a declared window
	declared int64 // confirmed after they were due under it
	other    int64 // under the other window
	outlived int64
}

func (m *Measured) late(ctx context.Context, expected, deadline time.Duration) (map[[2]string]lateness, error) {
	rows, err := m.db.Query(ctx, statement("late").Render(duck.Slots{
		"expected": fmt.Sprint(expected.Microseconds()), "deadline": fmt.Sprint(deadline.Microseconds()), "skew": m.skew(),
	}))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return scanLate(rows, m.job)
}

func scanLate(rows *sql.Rows, job *rules.Job) (map[[2]string]lateness, error) {
	out := map[[2]string]lateness{}
	for rows.Next() {
		var k [2]string
		var l lateness
		if err := rows.Scan(&k[0], &k[1], &l.judged, &l.declared, &l.other, &l.outlived); err != nil {
			return nil, err
		}
		k[0] = report.TypeShown(job, k[0])
		out[k] = l
	}
	return out, rows.Err()
}
