package notify

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/report"
)

// MessageSchema is the version of the body of a webhook. New fields do not change it.
const MessageSchema = 1

// Message is the body of a webhook, and what the other ways print. It holds numbers,
// amounts by currency and names of the job file; no value of a row, and no message of an
// error, which may quote one.
type Message struct {
	SchemaVersion int       `json:"schema_version"`
	Job           string    `json:"job"` // with @ and the series of a part of it
	BusinessDate  string    `json:"business_date"`
	RunID         string    `json:"run_id"` // "" not published
	Ended         string    `json:"ended"`  // RFC 3339, UTC
	ExitCode      int       `json:"exit_code"`
	Ending        string    `json:"ending"`    // what the exit code means
	Stage         string    `json:"stage"`     // where it failed; "" published
	Occasions     []string  `json:"occasions"` // those of notify.when that hold
	Published     bool      `json:"published"`
	Closes        bool      `json:"closes"`
	Withheld      []string  `json:"withheld_queues"`
	Differences   int64     `json:"differences"`
	Rows          []Rows    `json:"rows"` // in the period, by side and class; classes without rows are left out
	Money         []Money   `json:"money"`
	Queues        []Waiting `json:"queues"`
	Gates         []Gate    `json:"gates"`
	Folder        string    `json:"folder"` // below the output folder; "" not published
	Link          string    `json:"link"`   // to the report; "" where the job says none
	Text          string    `json:"text"`   // all of it in a few lines
}

// Rows of one side and class.
type Rows struct {
	Side  string `json:"side"`
	Class string `json:"class"`
	Rows  int64  `json:"rows"`
}

// Money of one currency: exact decimal texts, difference = results − operations.
type Money struct {
	Currency   string `json:"currency"`
	Operations string `json:"operations"`
	Results    string `json:"results"`
	Difference string `json:"difference"`
}

// Waiting is a queue.
type Waiting struct {
	Queue      string `json:"queue"`
	Items      int64  `json:"items"`
	Written    bool   `json:"written"`
	OldestSecs *int64 `json:"oldest_seconds"`
}

// Gate and how it came out.
type Gate struct {
	Name   string `json:"name"`
	Failed bool   `json:"failed"`
}

// endingWords says what an exit code means, in words.
var endingWords = map[fail.Class]string{
	fail.OK: "published", fail.Internal: "internal error", fail.Usage: "wrong configuration", fail.Gate: "published, a gate failed",
	fail.Input: "the input is not ready or incomplete", fail.Temporary: "a temporary failure outside", fail.Conflict: "another run holds the lock",
	fail.Integrity: "integrity: numbers or digests do not agree", fail.Resources: "disk, memory or time ran out",
	fail.Policy: "published without acting queues",
}

// message makes the message of an ending.
func message(e *Ending, link string) *Message {
	m := &Message{
		SchemaVersion: MessageSchema, Job: e.Series, BusinessDate: e.BusinessDate, RunID: e.RunID, Ended: e.Ended.UTC().Format(time.RFC3339),
		ExitCode: int(e.ExitCode), Ending: endingWords[e.ExitCode], Stage: e.Stage, Occasions: e.Occasions(),
		Withheld: []string{}, Rows: []Rows{}, Money: []Money{}, Queues: []Waiting{}, Gates: []Gate{},
	}
	if s := e.Summary; s != nil {
		m.Published, m.Closes, m.Differences = true, s.Outcome.Closes, s.Outcome.Differences
		m.Withheld = append(m.Withheld, s.Outcome.WithheldQueues...)
		for _, f := range report.Families(s) {
			if f.Name != "classified_rows" {
				continue
			}
			for _, x := range f.Samples {
				if x.Value != "0" {
					var n int64
					fmt.Sscan(x.Value, &n)
					m.Rows = append(m.Rows, Rows{x.Labels[1], x.Labels[3], n})
				}
			}
		}
		for _, st := range s.Statement {
			if !report.PlainCurrency(st.Currency) {
				continue
			}
			m.Money = append(m.Money, Money{st.Currency, st.Operations, st.Results, st.Difference})
		}
		for _, q := range s.Queues {
			m.Queues = append(m.Queues, Waiting{q.Queue, q.Items, q.Written, q.OldestSecs})
		}
		for _, g := range s.Gates {
			m.Gates = append(m.Gates, Gate{g.Name, g.Failed})
		}
		m.Folder = path.Join(e.Series, e.BusinessDate, e.RunID)
		if u, err := url.Parse(link); link != "" && err == nil {
			m.Link = u.JoinPath(url.PathEscape(e.Series), e.BusinessDate, e.RunID, "report.html").String()
		}
	}
	m.Text = m.subject() + "\n" + strings.Join(m.lines(), "\n")
	return m
}

// subject is one line.
func (m *Message) subject() string {
	state := "does not close"
	switch {
	case !m.Published:
		state = "was not published"
	case m.Closes:
		state = "closes"
	}
	return fmt.Sprintf("%s %s %s (exit %d: %s)", m.Job, m.BusinessDate, state, m.ExitCode, m.Ending)
}

// lines are what follows the subject.
func (m *Message) lines() []string {
	if !m.Published {
		return []string{"stage: " + m.Stage, "the former published run is untouched; what is missing: recon-batch runs list, or the folder attempts of the date"}
	}
	var out []string
	for _, g := range m.Gates {
		if g.Failed {
			out = append(out, "gate failed: "+g.Name)
		}
	}
	if len(m.Withheld) > 0 {
		out = append(out, "withheld: "+strings.Join(m.Withheld, ", "))
	}
	for _, side := range []string{"operations", "results"} {
		var parts []string
		for _, r := range m.Rows {
			if r.Side == side {
				parts = append(parts, fmt.Sprintf("%d %s", r.Rows, r.Class))
			}
		}
		if len(parts) > 0 {
			out = append(out, side+": "+strings.Join(parts, ", "))
		}
	}
	for i, x := range m.Money {
		if i == 20 {
			out = append(out, fmt.Sprintf("and %d more currencies", len(m.Money)-i))
			break
		}
		code := x.Currency
		if code == "" {
			code = "no currency"
		}
		out = append(out, fmt.Sprintf("%s: operations %s, results %s, difference %s", code, x.Operations, x.Results, x.Difference))
	}
	var waiting []string
	for _, q := range m.Queues {
		if q.Items > 0 {
			waiting = append(waiting, fmt.Sprintf("%d %s", q.Items, q.Queue))
		}
	}
	if len(waiting) > 0 {
		out = append(out, "queues: "+strings.Join(waiting, ", "))
	}
	out = append(out, "run "+m.RunID+" in "+m.Folder)
	if m.Link != "" {
		out = append(out, m.Link)
	}
	for i := range out {
		out[i] = report.LabelValue(out[i])
	}
	return out
}
