package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// TestPagingLosesNothing: whatever comes, goes and changes while pages are read, a pull
// brings every record that was there all the time exactly once, and nothing that never was;
// or it is refused. Records that went do not come back.
func TestPagingLosesNothing(t *testing.T) {
	p := newProvider(t, 0)
	brought, refused := map[string]int{}, map[string]int{}
	// By style, so that each is tried as often as the others, in a short run too.
	of := func(c *rapid.T, style string) {
		n := rapid.IntRange(0, 60).Draw(c, "rows")
		p.mu.Lock()
		p.rows, p.log = nil, nil
		for i := range n {
			p.rows = append(p.rows, row{ID: i + 1, At: 1796169600 - 259200 + int64(i)*1300})
		}
		p.most = rapid.SampledFrom([]int{0, 0, 3, 7, 10}).Draw(c, "most")
		// What happens, and before which request. Mostly little, so that some pulls succeed.
		type event struct{ kind, where int }
		events := map[int][]event{}
		for range rapid.IntRange(0, 6).Draw(c, "events") {
			at := rapid.IntRange(1, 16).Draw(c, "request")
			events[at] = append(events[at], event{rapid.IntRange(0, 3).Draw(c, "kind"), rapid.IntRange(0, 80).Draw(c, "where")})
		}
		ever, always := map[row]bool{}, map[int]row{}
		for _, x := range p.rows {
			ever[x], always[x.ID] = true, x
		}
		fresh := 1000
		p.before = func(request int) {
			for _, e := range events[request] {
				i := 0
				if len(p.rows) > 0 {
					i = e.where % len(p.rows)
				}
				rows := slices.Clone(p.rows)
				switch {
				case e.kind == 0 || len(rows) == 0: // one comes, anywhere
					at := int64(1796169600 - 259200)
					if len(rows) > 0 {
						at = rows[i].At + 1
					}
					x := row{ID: fresh, At: at}
					fresh++
					ever[x] = true
					at2, _ := slices.BinarySearchFunc(rows, x, compareRows)
					rows = slices.Insert(rows, at2, x)
				case e.kind == 1: // one goes
					delete(always, rows[i].ID)
					rows = slices.Delete(rows, i, i+1)
				case e.kind == 2: // one changes
					delete(always, rows[i].ID)
					rows[i].Say = fmt.Sprint("changed ", request)
					ever[rows[i]] = true
				default: // one goes and one comes at once: the number is the same
					delete(always, rows[i].ID)
					rows = slices.Delete(rows, i, i+1)
					x := row{ID: fresh, At: 1796169600 - 259200 + int64(e.where)*1300 + 7}
					fresh++
					ever[x] = true
					at2, _ := slices.BinarySearchFunc(rows, x, compareRows)
					rows = slices.Insert(rows, at2, x)
				}
				p.rows = rows
			}
		}
		p.mu.Unlock()
		r := request(t, styles[style], p.URL)
		s, err := pull(r)
		if err != nil {
			// A record that is the cursor of a page may have gone.
			if class := fail.ClassOf(err); class != fail.Input && !(style == "last empty" && class == fail.Usage) {
				c.Fatalf("%s: class %d: %v", style, class, err)
			}
			refused[style]++
			return
		}
		brought[style]++
		seen := map[int]int{}
		for _, x := range rowsOf(t, r, s) {
			if seen[x.ID]++; !ever[x] {
				c.Fatalf("%s: %+v never was", style, x)
			}
		}
		for id, x := range always {
			if inWindow := x.At >= 1795910400 && x.At < 1795996800; style == "slices" && !inWindow {
				continue
			}
			if seen[id] != 1 {
				c.Fatalf("%s: the record %d was there all the time and came %d times; %s", style, id, seen[id], s.Proof)
			}
		}
	}
	for _, style := range []string{"offset", "offset total", "page", "page total", "cursor", "cursor total", "link", "link ends", "last empty", "slices"} {
		rapid.Check(t, func(c *rapid.T) { of(c, style) })
	}
	t.Logf("brought %v, refused %v", brought, refused)
	for _, style := range []string{"offset", "page", "cursor", "link"} {
		if brought[style] == 0 {
			t.Errorf("no pull of the style %s succeeded: nothing was tested", style)
		}
	}
}

// TestSeam: a record that comes before the pages and goes again hides the one on the seam.
// Every page looks right, both times; that a record is on two of them shows it.
func TestSeam(t *testing.T) {
	for _, style := range []string{"offset", "page"} {
		p := newProvider(t, 35)
		pages := 5
		if style == "page" {
			pages = 4
		}
		p.before = func(n int) {
			switch n {
			case 2, pages + 2:
				p.rows = slices.Insert(slices.Clone(p.rows), 0, row{ID: 1000 + n, At: 1})
			case 3, pages + 3:
				p.rows = p.rows[1:]
			}
		}
		r := request(t, strings.Replace(styles[style], "{url", "{limits: {passes: 1}, url", 1), p.URL)
		_, err := pull(r)
		want(t, err, fail.Input, "has a record that was on a page before it")
		unstaged(t, r)
	}
}
