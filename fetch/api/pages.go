package api

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/rules"
)

// seen is what is known of the slice that is read.
type seen struct {
	records int64
	total   *int64
	digests map[string]int  // of pages with records → their number
	at      map[uint64]bool // positions that were asked for
	// Of counted pages: the first and the last record of each page, and all of the page
	// before. When pages move on by some records, the next one begins with records of the
	// one before, or holds the first or the last record of an earlier one.
	edges, before map[uint64]bool
}

func newSeen() *seen {
	return &seen{digests: map[string]int{}, at: map[uint64]bool{}, edges: map[uint64]bool{}, before: map[uint64]bool{}}
}

// add notes a page, and compares it with those before. The error is *changed.
func (s *seen) add(p position, c *scanned, out *page, tight bool) error {
	s.records += c.records
	if out.Total != nil {
		if s.total != nil && *s.total != *out.Total {
			return &changed{fmt.Sprintf("%s says that there are %d records, a page before it said %d", out.File.Name, *out.Total, *s.total)}
		}
		s.total = out.Total
	}
	if c.records == 0 {
		return nil
	}
	if n, twice := s.digests[c.digest]; twice {
		return &changed{fmt.Sprintf("%s has the same records as page %d", out.File.Name, n)}
	}
	s.digests[c.digest] = p.Page + 1
	if !tight {
		return nil
	}
	for _, h := range c.hashes {
		if s.edges[h] || s.before[h] {
			return &changed{out.File.Name + " has a record that was on a page before it"}
		}
	}
	clear(s.before)
	for _, h := range c.hashes {
		s.before[h] = true
	}
	s.edges[c.hashes[0]], s.edges[c.hashes[len(c.hashes)-1]] = true, true
	return nil
}

// again adds a page of an earlier, interrupted pull. Where its records are compared they are
// read from its file.
func (l *pull) again(pg *page) error {
	if !l.tight() {
		return l.seen.add(pg.Position, &scanned{records: pg.File.Records, digest: pg.Digest}, pg, false)
	}
	in, done, err := l.opened(pg.File.Name)
	if done != nil {
		defer done()
	}
	if err != nil {
		return err
	}
	s, err := scan(in, l.a.Records, nil, true, l.a.Pagination.Last != "")
	if err != nil {
		return err
	}
	return l.seen.add(pg.Position, s, pg, true)
}

// pages pulls all pages, as often as it takes until they fit together.
func (l *pull) pages(ctx context.Context, s *fetch.Snapshot) error {
	for {
		err := l.pass(ctx, s)
		c, ok := errors.AsType[*changed](err)
		if !ok && fail.ClassOf(err) != fail.Input {
			return err
		}
		// What does not fit would not fit the next time either: the next run asks anew.
		if !ok {
			return l.forget(err)
		}
		if n := l.j.pass; n >= l.a.Limits.Passes {
			return l.forget(l.input("the service changes while it is read: start the run later, take a window that is settled, or raise limits.passes",
				"%s; it was asked %d times from the start", c.why, n))
		}
		note := fmt.Sprintf("all was asked for again: %s", l.c.Secrets.Hide(c.why))
		s.Notes = append(s.Notes, note)
		l.r.Note("the source %s: %s", l.r.Source().Name, note)
		if err := l.j.begin(l.j.pass + 1); err != nil {
			return err
		}
	}
}

// forget throws away what was read, and gives the error for which it does.
func (l *pull) forget(err error) error {
	if failed := l.j.begin(1); failed != nil {
		return failed
	}
	return err
}

// pass reads all slices once, and compares at the end.
func (l *pull) pass(ctx context.Context, s *fetch.Snapshot) error {
	stored := l.j.pages
	l.j.pages = l.j.pages[:0:0]
	var rows, bytes int64
	ends := map[int]bool{} // indexes of the first and the last page of each slice
	for i := range l.slices {
		l.seen = newSeen()
		for p := new(position); p != nil; {
			if p.Page == 0 {
				*p = l.first(i)
			}
			if err := l.begun(*p); err != nil {
				return err
			}
			var pg *page
			var err error
			if n := len(l.j.pages); n < len(stored) && stored[n].Position == *p {
				pg = &stored[n]
				if err = l.again(pg); err == nil {
					l.j.pages = append(l.j.pages, *pg)
				}
			} else if n < len(stored) {
				err = &changed{"the pages of an earlier, interrupted pull do not follow each other"}
			} else {
				pg, err = l.store(ctx, *p)
				if err == nil && n == 0 {
					err = l.settled(min(l.c.Skew(), 0))
				}
			}
			if err != nil {
				return err
			}
			rows, bytes = rows+pg.File.Records, bytes+pg.Bytes
			if err := l.bounded(rows, bytes); err != nil {
				return err
			}
			l.r.Progress(l.r.Input.Path, bytes, rows)
			if p.Page == 0 || pg.Next == nil {
				ends[len(l.j.pages)-1] = true
			}
			p = pg.Next
		}
		if t := l.seen.total; t != nil && *t != l.seen.records {
			return &changed{fmt.Sprintf("the service says that there are %d records, %d came", *t, l.seen.records)}
		}
	}
	how, err := l.compare(ctx, ends)
	if err != nil {
		return err
	}
	for _, pg := range l.j.pages {
		s.Files = append(s.Files, pg.File)
		s.Through = pg.Through
	}
	s.Proof = l.proof(rows, how)
	if err := fetch.SyncFiles(l.r.Dir, s.Files); err != nil {
		return err
	}
	return l.j.sync()
}

// begun refuses a position that was asked for before: pages go round in a circle.
func (l *pull) begun(p position) error {
	h := fnv.New64a()
	io.WriteString(h, p.At+"\x00"+p.URL)
	if l.seen.at[h.Sum64()] {
		return l.input("ask the provider; without an end nothing is proved", "page %d names a next page that was there before: the pages go round in a circle", p.Page)
	}
	l.seen.at[h.Sum64()] = true
	return nil
}

// bounded refuses more than the limits of the job.
func (l *pull) bounded(rows, bytes int64) error {
	m, hint := &l.a.Limits, "raise the limit, or ask for less at once"
	switch n := int64(len(l.j.pages)); {
	case rows > m.Rows:
		return l.input(hint, "more than %d records came, limits.rows", m.Rows)
	case bytes > m.Bytes:
		return l.input(hint, "more than %d bytes came, limits.bytes", m.Bytes)
	case n >= m.Pages && (l.j.pages[n-1].Next != nil || l.j.pages[n-1].Position.Slice < len(l.slices)-1):
		return l.input(hint, "there are more than %d pages, limits.pages", m.Pages)
	}
	return nil
}

// Ways to know that nothing changed while pages were read.
const (
	byTotal = "total"
	byEnds  = "ends"
	byAll   = "all"
)

// compare asks again for pages, where the service says no total, or that is not enough.
func (l *pull) compare(ctx context.Context, ends map[int]bool) (how string, err error) {
	switch {
	case l.tight():
		how = byAll
	case l.a.Total != "":
		return byTotal, nil
	default:
		how = byEnds
	}
	before := int64(0) // records of the slice, up to and with the page
	for i := range l.j.pages {
		pg := &l.j.pages[i]
		if pg.Position.Page == 0 {
			before = 0
		}
		before += pg.File.Records
		if l.j.checked[i] || how == byEnds && !ends[i] {
			continue
		}
		same, err := l.same(ctx, pg, before)
		if err != nil {
			return how, err
		}
		if !same {
			return how, &changed{pg.File.Name + " was asked for again, and had other records"}
		}
		l.j.checked[i] = true
		if err := l.j.write(entry{Checked: &i}); err != nil {
			return how, err
		}
	}
	return how, nil
}

// same asks for a page again, and tells whether it has the same records, and is the last
// one as it was. seen are the records of the slice up to and with the page.
func (l *pull) same(ctx context.Context, pg *page, seen int64) (bool, error) {
	call, err := l.call(pg.Position)
	if err != nil {
		return false, err
	}
	var s *scanned
	var head http.Header
	call.Most = l.a.Limits.PageBytes
	call.Read = func(res *http.Response) error {
		in, err := l.c.Plain(res, l.a.Limits.PageBytes)
		if err != nil {
			return err
		}
		head = res.Header
		s, err = scan(in, l.a.Records, l.paths(), false, l.a.Pagination.Last != "")
		if b, ok := errors.AsType[*broken](err); ok && !b.cut {
			return l.input("see api.records and the answer of the service", "%s, asked for again: %s", pg.File.Name, b.why)
		}
		return err
	}
	if err := l.c.Do(ctx, call); err != nil {
		return false, err
	}
	if s.digest != pg.Digest {
		return false, nil
	}
	if l.a.Total != "" && pg.Total != nil {
		if n, ok := s.number(head, l.a.Total); !ok || n != *pg.Total {
			return false, nil
		}
		s.total = pg.Total
	}
	next, err := l.next(pg.Position, s, head, seen)
	if err != nil {
		return false, err
	}
	return (next == nil) == (pg.Next == nil), nil
}

// proof says by what the pull is known to be whole.
func (l *pull) proof(rows int64, how string) string {
	last := map[string]string{
		"": "there is one page", rules.StopEmpty: "the last page has no records", rules.StopShort: "the last page is short", rules.StopMore: "the last page says that there are no more",
		rules.StopTotal: "all records of the stated total came", rules.StopNoNext: "the last page names no next one",
	}[l.a.Pagination.Stop]
	text := fmt.Sprintf("%d records on %d pages; %s", rows, len(l.j.pages), last)
	if len(l.slices) > 1 {
		text = fmt.Sprintf("%d records on %d pages of %d slices; of each, %s", rows, len(l.j.pages), len(l.slices), last)
	}
	if l.a.Total != "" {
		text += "; the service stated this number of records, on each page the same"
	}
	switch how {
	case byEnds:
		text += "; the first and the last page of each slice were asked for again at the end and had the same records"
	case byAll:
		text += "; every page was asked for again at the end and had the same records, and no record was on two pages"
	}
	return text
}

// look asks for the first page without keeping it.
func (l *pull) look(ctx context.Context) error {
	p := l.first(0)
	call, err := l.call(p)
	if err != nil {
		return err
	}
	call.Most = l.a.Limits.PageBytes
	call.Read = func(res *http.Response) error {
		in, err := l.c.Plain(res, l.a.Limits.PageBytes)
		if err != nil {
			return err
		}
		s, err := scan(in, l.a.Records, l.paths(), false, l.a.Pagination.Last != "")
		if b, ok := errors.AsType[*broken](err); ok {
			return fail.New(fail.Input, "the source %s: the first page: %s", l.r.Source().Name, b.why).WithHint("see api.records")
		}
		if err != nil {
			return err
		}
		if err := l.said(p, s, res.Header, &page{}); err != nil {
			return err
		}
		_, err = l.next(p, s, res.Header, s.records)
		if c, ok := errors.AsType[*changed](err); ok {
			return l.input("see api.pagination", "%s", c.why)
		}
		return err
	}
	return l.c.Do(ctx, call)
}
