package rules

import (
	"regexp"
	"strconv"
	"time"
)

// Evidence says that the bytes that a run read are kept, to judge them again later.
type Evidence struct {
	Dir  string // folder, relative to the job file
	Keep Keep
}

// Keep is how long something is kept, counted from a business date. The zero value is for
// good.
type Keep struct{ Years, Days int }

// Until is the first day after it, for a business date; the zero time for good.
func (k Keep) Until(date time.Time) time.Time {
	if k == (Keep{}) {
		return time.Time{}
	}
	return date.AddDate(k.Years, 0, k.Days)
}

// String as a job file says it.
func (k Keep) String() string {
	switch {
	case k.Years > 0:
		return strconv.Itoa(k.Years) + "y"
	case k.Days > 0:
		return strconv.Itoa(k.Days) + "d"
	}
	return ""
}

var keepForm = regexp.MustCompile(`^([1-9][0-9]{0,3})([dy])$`)

// ParseKeep reads what String wrote: 90d, 10y, or nothing for good.
func ParseKeep(text string) (k Keep, ok bool) {
	if text == "" {
		return Keep{}, true
	}
	m := keepForm.FindStringSubmatch(text)
	if m == nil {
		return Keep{}, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		panic(err) // four digits at most
	}
	if m[2] == "y" {
		return Keep{Years: n}, true
	}
	return Keep{Days: n}, true
}

var evidenceShape = &shape{
	name: "evidence", doc: "Keeps the bytes of every file that a published run read, each once, by their digest. `recon-batch replay` judges them again.",
	keys: []key{
		{name: "dir", doc: "The folder, relative to the job file. Several jobs may share one.", required: true, value: schema{"type": "string"}},
		{name: "keep", doc: "How long after its business date a run keeps its evidence: 90d, 10y.", def: "for good", value: patternValue(keepForm.String())},
	},
}

func (d *decoder) evidence(o *object) *Evidence {
	if o == nil {
		return nil
	}
	e := &Evidence{Dir: o.text("dir", "")}
	text := o.text("keep", "")
	var ok bool
	if e.Keep, ok = ParseKeep(text); !ok {
		o.fail("keep", "days or years: 90d, 10y", "%s: %q is not a time to keep something", o.at("keep"), text)
	}
	return e
}

func (t *tree) evidence(e *Evidence) {
	if e == nil {
		return
	}
	t.sub("evidence", func(t *tree) {
		t.text("dir", e.Dir)
		t.text("keep", e.Keep.String())
	})
}
