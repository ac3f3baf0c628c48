package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/fetch"
	"github.com/recon-batch/recon-batch/internal/fail"
)

// vouchedAtOnce is how many silences one answer about the known key vouches for: where the time
// of the lookup ends in between, no more of them are lost.
const vouchedAtOnce = 100

// vouching takes answers. Where a known key is declared, silence counts only between two answers
// of this pull in which that key was found: an address that has worked may say 404 to everything
// a minute later.
type vouching struct {
	*looking
	out     *fetch.Asked
	pending []int // of out.Answers, silences that nobody has vouched for yet
	silence error // why none counts
}

func (v *vouching) begin(ctx context.Context, questions int) error {
	if v.how.Known == "" || questions == 0 {
		return nil
	}
	for key, pg := range v.stored {
		if fetch.Finding(pg.Said) == fetch.None {
			// The pull that stored it ended before it was vouched for.
			delete(v.stored, key)
		}
	}
	return v.hear(ctx)
}

// hear asks for the known key. An error ends the pull.
func (v *vouching) hear(ctx context.Context) error {
	if v.silence = v.known(ctx); v.silence != nil && !lone(ctx, v.silence) {
		return v.silence
	}
	return nil
}

// add takes an answer.
func (v *vouching) add(ctx context.Context, a fetch.Answer) error {
	v.out.Answers = append(v.out.Answers, a)
	at := len(v.out.Answers) - 1
	switch {
	case a.Finding != fetch.None || v.how.Known == "":
	case v.silence != nil:
		v.refuse(at)
	default:
		v.pending = append(v.pending, at)
	}
	if last := &v.out.Answers[at]; last.Err != nil {
		last.Why, last.Later = v.c.Secrets.Hide(last.Err.Error()), fail.ClassOf(last.Err) == fail.Temporary
	}
	if len(v.pending) == vouchedAtOnce {
		return v.vouch(ctx)
	}
	return nil
}

// vouch asks for the known key again. Unless it is found, the silences before say nothing.
func (v *vouching) vouch(ctx context.Context) error {
	if len(v.pending) == 0 {
		return nil
	}
	if err := v.hear(ctx); err != nil {
		return err
	}
	if v.silence != nil {
		for _, at := range v.pending {
			v.refuse(at)
		}
	}
	v.pending = nil
	return nil
}

// refuse takes an answer for unknown.
func (v *vouching) refuse(at int) {
	a := &v.out.Answers[at]
	a.Finding, a.Covers, a.Err = fetch.Unknown, time.Time{}, v.silence
	a.Why, a.Later = v.c.Secrets.Hide(v.silence.Error()), fail.ClassOf(v.silence) == fail.Temporary
}

// fileName is the name of a file for an answer about a key that is none yet.
func (k *looking) fileName(key string) (string, error) {
	sum := sha256.Sum256([]byte(key))
	base := "lookup-" + hex.EncodeToString(sum[:12])
	for n := 1; ; n++ {
		name := base + ".json" + k.z.ending
		if n > 1 {
			name = base + "-" + strconv.Itoa(n) + ".json" + k.z.ending
		}
		_, err := os.Lstat(k.j.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", fail.Disk(err, "%s cannot be looked at", name)
		}
	}
}

// ageOf is how long an answer has lain in a cache on the way (RFC 9111, section 5.1).
func ageOf(h http.Header) (time.Duration, error) {
	age := time.Duration(0)
	for _, text := range h.Values("Age") {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || n < 0 || n > 1<<31 {
			return 0, fmt.Errorf("the answer comes from a cache, and its age, %.40q, is no number of seconds", text)
		}
		age = max(age, time.Duration(n)*time.Second)
	}
	return age, nil
}

// strange gives a character of a key in an address that is written there in another way (%2F),
// and that the known key does not hold: servers refuse and mend such addresses before anybody
// looks for the key, and say 404 to them. "" there is none.
func (k *looking) strange(key string) string {
	if !strings.Contains(string(k.how.URL), "{key}") {
		return ""
	}
	for _, c := range key {
		if strings.HasPrefix(url.PathEscape(string(c)), "%") && !strings.ContainsRune(k.how.Known, c) {
			return strconv.QuoteToASCII(string(c))
		}
	}
	return ""
}

// against says what in an answer without a record stands against there being none: that it is an
// error all the same, or one page of several. "" nothing.
func (k *looking) against(name string) (string, error) {
	in, done, err := k.opened(name)
	if done != nil {
		defer done()
	}
	if err != nil {
		return "", err
	}
	var v any
	if err := json.NewDecoder(in).Decode(&v); err != nil {
		return "", err
	}
	return contradicts(v), nil
}

// Members by which services say, beside an empty array, that it is not all: as they are spelled
// in lower case without _, - and @.
var (
	saysError = []string{"error", "errors"}
	saysMore  = []string{"hasmore", "more", "hasnext", "hasnextpage", "istruncated", "truncated", "incomplete", "incompleteresults", "timedout", "partial"}
	saysNext  = []string{"next", "nextpage", "nextcursor", "nexttoken", "nextpagetoken", "nexturl", "nextlink", "odata.nextlink", "lastevaluatedkey"}
	saysTotal = []string{"total", "totalcount", "totalresults", "totalrecords", "totalitems"}
)

// contradicts looks through the objects of an answer.
func contradicts(v any) string {
	o, _ := v.(map[string]any)
	plain := strings.NewReplacer("_", "", "-", "", "@", "")
	for _, name := range slices.Sorted(maps.Keys(o)) {
		member := o[name]
		n := plain.Replace(strings.ToLower(name))
		_, flag := member.(bool)
		number, counted := member.(float64)
		switch {
		case slices.Contains(saysError, n) && !blank(member):
			return "it has an error at " + strconv.QuoteToASCII(name)
		case slices.Contains(saysMore, n) && flag && member == true:
			return "by " + strconv.QuoteToASCII(name) + " it is not all"
		case slices.Contains(saysNext, n) && !blank(member):
			return "by " + strconv.QuoteToASCII(name) + " there is another page"
		case slices.Contains(saysTotal, n) && counted && number > 0:
			return "by " + strconv.QuoteToASCII(name) + " there are some"
		}
		if why := contradicts(member); why != "" {
			return why
		}
	}
	return ""
}

// blank tells whether a member says nothing.
func blank(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case bool:
		return !x
	case float64:
		return x == 0
	case string:
		return x == ""
	case []any:
		return len(x) == 0
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(x)), func(m any) bool { return !blank(m) })
	}
	return false
}
