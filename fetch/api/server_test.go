package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// provider is a service with records in the order of their places.
type provider struct {
	*httptest.Server
	mu      sync.Mutex
	rows    []row
	log     []string
	before  func(n int) // called before the n-th request for a page is answered, with the lock held
	most    int         // records of a page at most, whatever is asked for
	noTotal bool
	total   func(n int, rows int) int // what is said, where it is not true
	loop    string                    // the cursor that the third page names
}

type row struct {
	ID  int    `json:"id"`
	At  int64  `json:"at"`
	Say string `json:"say,omitempty"`
}

func newProvider(t testing.TB, n int) *provider {
	p := &provider{}
	for i := range n {
		p.rows = append(p.rows, row{ID: i + 1, At: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC).Unix() + int64(i)*60})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/offset", p.offset)
	mux.HandleFunc("/page", p.page)
	mux.HandleFunc("/cursor", p.cursor)
	mux.HandleFunc("/last", p.last)
	mux.HandleFunc("/link", p.link)
	mux.HandleFunc("/one", p.one)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// begin locks, notes the request, and lets the data change under way.
func (p *provider) begin(r *http.Request) (rows []row, done func()) {
	p.mu.Lock()
	p.log = append(p.log, r.Method+" "+r.URL.RequestURI())
	if p.before != nil {
		p.before(len(p.log))
	}
	rows = p.rows
	if from, err := strconv.ParseInt(r.FormValue("from"), 10, 64); err == nil {
		rows = slices.DeleteFunc(slices.Clone(rows), func(x row) bool { return x.At < from })
	}
	if until, err := strconv.ParseInt(r.FormValue("until"), 10, 64); err == nil {
		rows = slices.DeleteFunc(slices.Clone(rows), func(x row) bool { return x.At >= until })
	}
	return rows, p.mu.Unlock
}

func (p *provider) size(r *http.Request) int {
	n, err := strconv.Atoi(r.FormValue("limit"))
	if err != nil {
		n = 10
	}
	if p.most > 0 {
		n = min(n, p.most)
	}
	return n
}

func (p *provider) say(w http.ResponseWriter, all, rows []row, more map[string]any) {
	if rows == nil {
		rows = []row{}
	}
	meta := map[string]any{"count": len(rows)}
	if !p.noTotal {
		meta["total"] = len(all)
		if p.total != nil {
			meta["total"] = p.total(len(p.log), len(all))
		}
	}
	for k, v := range more {
		meta[k] = v
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"meta": meta, "data": map[string]any{"items": rows}})
}

func window(rows []row, from, n int) []row {
	from = min(max(from, 0), len(rows))
	return rows[from:min(from+n, len(rows))]
}

func (p *provider) offset(w http.ResponseWriter, r *http.Request) {
	rows, done := p.begin(r)
	defer done()
	from, _ := strconv.Atoi(r.FormValue("offset"))
	n := p.size(r)
	p.say(w, rows, window(rows, from, n), map[string]any{"more": from+n < len(rows)})
}

func (p *provider) page(w http.ResponseWriter, r *http.Request) {
	rows, done := p.begin(r)
	defer done()
	k, _ := strconv.Atoi(r.FormValue("page"))
	n := p.size(r)
	p.say(w, rows, window(rows, (k-1)*n, n), map[string]any{"more": k*n < len(rows)})
}

// behind are the rows behind a cursor: by their place and id, so that it stays where it is
// when others come and go.
func behind(rows []row, cursor string) []row {
	if cursor == "" {
		return rows
	}
	at, id, _ := strings.Cut(strings.TrimPrefix(cursor, "c"), "_")
	a, _ := strconv.ParseInt(at, 10, 64)
	i, _ := strconv.Atoi(id)
	n, _ := slices.BinarySearchFunc(rows, row{At: a, ID: i + 1}, compareRows)
	return rows[n:]
}

func compareRows(a, b row) int {
	if a.At != b.At {
		return int(a.At - b.At)
	}
	return a.ID - b.ID
}

func (p *provider) cursor(w http.ResponseWriter, r *http.Request) {
	rows, done := p.begin(r)
	defer done()
	rest, n := behind(rows, r.FormValue("cursor")), p.size(r)
	var next any
	if len(rest) > n {
		next = fmt.Sprintf("c%d_%d", rest[n-1].At, rest[n-1].ID)
	}
	if p.loop != "" && len(p.log) == 3 {
		next = p.loop
	}
	p.say(w, rows, window(rest, 0, n), map[string]any{"next": next, "more": next != nil})
}

// last is a service whose cursor is the id of the last record.
func (p *provider) last(w http.ResponseWriter, r *http.Request) {
	rows, done := p.begin(r)
	defer done()
	rest := rows
	if after, err := strconv.Atoi(r.FormValue("after")); err == nil {
		i := slices.IndexFunc(rows, func(x row) bool { return x.ID == after })
		if i < 0 {
			http.Error(w, `{"error":"no such record"}`, http.StatusBadRequest)
			return
		}
		rest = rows[i+1:]
	}
	n := p.size(r)
	p.say(w, rows, window(rest, 0, n), map[string]any{"more": len(rest) > n})
}

func (p *provider) link(w http.ResponseWriter, r *http.Request) {
	rows, done := p.begin(r)
	defer done()
	rest, n := behind(rows, r.FormValue("cursor")), p.size(r)
	if len(rest) > n {
		q := r.URL.Query()
		q.Set("cursor", fmt.Sprintf("c%d_%d", rest[n-1].At, rest[n-1].ID))
		w.Header().Set("Link", fmt.Sprintf(`<http://%s/link?%s>; rel="next", <http://%s/link>; rel="first"`, r.Host, q.Encode(), r.Host))
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(rows)))
	p.say(w, rows, window(rest, 0, n), nil)
}

func (p *provider) one(w http.ResponseWriter, r *http.Request) {
	rows, done := p.begin(r)
	defer done()
	p.say(w, rows, rows, nil)
}

// requests that came.
func (p *provider) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}
