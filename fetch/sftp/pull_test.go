package sftp

import (
	"testing"
)

// TestPull: the files that a pattern names come whole.
func TestPull(t *testing.T) {
	w := newWorld(t)
	want := map[string][]byte{"a.csv": noise(1, 100), "b.csv": noise(2, 7<<20+13), "c.csv": {}}
	for name, body := range want {
		w.put(name, body)
	}
	a := w.request(w.at("in/*.csv"))
	whole(t, a, pulled(t, a), want)
}
