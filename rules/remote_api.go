package rules

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// API is a service over HTTP, whose answers are pages of records, or that makes a report.
type API struct {
	Web
	URL        Template
	Method     string              // GET, POST
	Safe       bool                // the POST changes nothing and may be sent again
	Query      map[string][]string // templates
	Headers    map[string]Template
	Body       string     // a JSON document, in whose texts there are placeholders; "" none
	Name       Template   // of the files: page.json gives page-000001.json.zst
	Window     *APIWindow // nil: nothing is asked by time
	Pagination APIPages
	Records    string     // path of the array of records in a page; "" the page is the array
	Count      string     // path of the number of records of the page
	Total      string     // path of the number of records of all pages
	Through    string     // path of the instant that the data reach to
	Report     *APIReport // nil: pages
	Limits     APILimits
}

// APIWindow is the time that is asked for, half-open.
type APIWindow struct {
	From, Until Template
	Zone        *time.Location // nil: that of the job
	Form        string         // rfc3339, rfc3339_utc, unix, unix_ms, date, or a layout of Go
	Included    bool           // {until} is the last instant (or day) that the service includes
	Settle      time.Duration  // how long after its end the window is still written to
	Overlap     time.Duration  // before From, asked for as well
	Step        string         // 1d, 6h: slices; "" one
}

// Styles of pagination.
const (
	PageNone   = "none"
	PageOffset = "offset"
	PageNumber = "page"
	PageCursor = "cursor"
	PageLink   = "link"
)

// What says that a page is the last one.
const (
	StopEmpty  = "empty"   // it has no records
	StopShort  = "short"   // it has fewer than were asked for
	StopMore   = "more"    // it says that there are no more
	StopTotal  = "total"   // all records of the total are there
	StopNoNext = "no_next" // it names no next one
)

// APIPages is how a result is cut into pages.
type APIPages struct {
	Style  string
	At     string // parameter that says where a page begins
	Limit  string // parameter that says how many records it has; "" none is sent
	Size   int64
	First  int64  // of the first page, or its offset
	In     string // query, body: where the parameters are
	Next   string // path of the next cursor, or address
	IsURL  bool   // Next is an address
	Last   string // path in the last record of a page whose value is the next cursor
	More   string // path of what says whether there are more
	Stop   string
	Stable bool // records keep their place: new ones come last, and none goes away
}

// APIReport is what a service makes on demand: create, poll, download. The request of the
// source itself creates it.
type APIReport struct {
	ID       string   // path of its id in the answer
	Poll     Template // address of its state, with {id}
	Status   string   // path of its state
	Done     []string // states in which it can be had
	Failed   []string // states in which it never will
	Every    time.Duration
	Download string   // path of its address in the last answer of its state
	Content  Template // its address, with {id}, where no answer says it
	Bytes    string   // path of its size
	SHA256   string   // path of its digest, hexadecimal
}

// APILimits bound one pull.
type APILimits struct {
	Pages, Rows      int64
	PageBytes, Bytes int64
	Time             time.Duration
	Passes           int64 // how often all is asked for, where it changes meanwhile
}

// extraPlaceholder are placeholders that are known when a request is made; doubled braces
// are passed over.
var extraPlaceholder = regexp.MustCompile(`\{\{|\}\}|\{(from|until|id|key)\}`)

// FillWith replaces the placeholders of dates, and those in extra, of which from, until,
// id and key are known. What they stand for is not looked into.
func (t Template) FillWith(date, fileDate string, extra map[string]string) (string, error) {
	marked, marks := t.marked(func(name string) (string, bool) { v, ok := extra[name]; return v, ok })
	text, err := marked.fill(date, fileDate)
	if err != nil {
		return "", err
	}
	return strings.NewReplacer(marks...).Replace(text), nil
}

// marked puts marks in the place of extra placeholders; NUL occurs in no template.
func (t Template) marked(value func(string) (string, bool)) (Template, []string) {
	var marks []string
	out := extraPlaceholder.ReplaceAllStringFunc(string(t), func(m string) string {
		v, ok := value(strings.Trim(m, "{}"))
		if !ok {
			return m
		}
		mark := fmt.Sprintf("\x00%d\x00", len(marks))
		marks = append(marks, mark, v)
		return mark
	})
	return Template(out), marks
}

// Resolve gives the window for a business date, half-open and without its overlap.
func (w *APIWindow) Resolve(j *Job, date, fileDate string) (from, until time.Time, err error) {
	own := *j
	if w.Zone != nil {
		own.Zone = w.Zone
	}
	if from, err = own.instant(w.From, date, fileDate, "api.window.from"); err != nil {
		return from, until, err
	}
	until, err = own.instant(w.Until, date, fileDate, "api.window.until")
	return from, until, err
}

// In is the zone of the window.
func (w *APIWindow) In(j *Job) *time.Location {
	if w.Zone != nil {
		return w.Zone
	}
	return j.Zone
}

// Slices cuts a time into pieces of the step, half-open, each beginning where the one
// before ends. Steps of days and weeks are those of the calendar of the zone.
func (w *APIWindow) Slices(from, until time.Time, zone *time.Location) [][2]time.Time {
	if w.Step == "" {
		return [][2]time.Time{{from, until}}
	}
	var out [][2]time.Time
	days, length := w.step()
	for at := from; at.Before(until); {
		next := at.Add(length)
		if days > 0 {
			local := at.In(zone)
			next = firstOfDay(local.AddDate(0, 0, days), zone)
		}
		if next.After(until) || !next.After(at) {
			next = until
		}
		out = append(out, [2]time.Time{at, next})
		at = next
	}
	return out
}

// firstOfDay is the first instant of the day of t.
func firstOfDay(t time.Time, zone *time.Location) time.Time {
	x := instantText{wall: time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC), day: true}
	at, err := x.instant(zone)
	if err != nil {
		return t
	}
	return at
}

// step is a number of days, or a time.
func (w *APIWindow) step() (days int, length time.Duration) {
	length, err := ParseDuration(w.Step)
	if err != nil {
		return 1, 0 // the loader has read it
	}
	if day := 24 * time.Hour; strings.HasSuffix(w.Step, "d") || strings.HasSuffix(w.Step, "w") {
		if length%day == 0 {
			return int(length / day), 0
		}
	}
	return 0, length
}

// Stamp writes an instant as the service wants it. last tells that it is the end of a
// window: where the service includes it, it is the last one before.
func (w *APIWindow) Stamp(t time.Time, zone *time.Location, last bool) string {
	back := last && w.Included
	before := func(d time.Duration) time.Time {
		if back {
			return t.Add(-d)
		}
		return t
	}
	switch w.Form {
	case "rfc3339":
		return before(time.Second).In(zone).Format(time.RFC3339)
	case "rfc3339_utc":
		return before(time.Second).UTC().Format(time.RFC3339)
	case "unix":
		return fmt.Sprint(before(time.Second).Unix())
	case "unix_ms":
		return fmt.Sprint(before(time.Millisecond).UnixMilli())
	case "date":
		return before(time.Nanosecond).In(zone).Format(dateLayout)
	}
	return before(time.Second).In(zone).Format(w.Form)
}

// WholeDays tells whether instants are written as days, so that others cannot be.
func (w *APIWindow) WholeDays() bool {
	if w.Form == "date" {
		return true
	}
	// A layout that does not tell two instants of one day apart has no time.
	probe := time.Date(2024, 6, 15, 0, 0, 0, 0, time.UTC)
	return w.Form != "" && probe.Format(w.Form) == probe.Add(23*time.Hour+59*time.Minute+59*time.Second).Format(w.Form) && !strings.HasPrefix(w.Form, "unix") && !strings.HasPrefix(w.Form, "rfc3339")
}

// Bounds of api.
const (
	apiPageBytes = 64 << 20
	apiBytes     = 20 << 30
	apiPages     = 100_000
	apiRows      = 100_000_000
)

// jsonPathPattern is a path of members; header:NAME is a header of the answer.
const (
	jsonPathPattern   = `^[^.\s]+(\.[^.\s]+)*$`
	scalarPathPattern = `^(header:[A-Za-z0-9-]+|[^.\s]+(\.[^.\s]+)*)$`
)

var apiShape = &shape{
	name: "api", doc: "A service over HTTP that gives pages of records, or makes a report.",
	keys: append([]key{
		{name: "url", doc: "Its address, https. {date}, {file_date}, {from} and {until} are filled in here, in query, headers and body; {from} and {until} are the times of `window`.", required: true, value: textValue()},
		{name: "method", doc: "GET or POST.", def: "GET", value: enumValue("GET", "POST")},
		{name: "safe", doc: "The POST changes nothing, and may be sent again when its answer is lost.", def: "false", value: boolValue()},
		{name: "query", doc: "Parameters: name → text, or a list of texts.", def: "none", value: mapValue(anyValue(textValue(), listValue(textValue())))},
		{name: "headers", doc: "Headers. Secrets go to `auth`.", def: "Accept: application/json", value: mapValue(textValue())},
		{name: "body", doc: "Body of the POST, a JSON document.", def: "none", value: anyValue(schema{"type": "object"}, schema{"type": "string"})},
		{name: "name", doc: "Name of the files; its ending says their format. page.json gives page-000001.json.zst.", def: "page.json", value: schema{"type": "string"}},
		{name: "window", doc: "The time that is asked for, half-open.", def: "nothing is asked by time", value: shapeValue(apiWindowShape)},
		{name: "pagination", doc: "How the result is cut into pages.", def: "one page", value: shapeValue(paginationShape)},
		{name: "records", doc: "Dotted path of the array of records in a page; it is `json.path` too.", def: "the page is the array", value: patternValue(jsonPathPattern)},
		{name: "count", doc: "Path of the number of records of the page, or header:NAME.", def: "not said", value: patternValue(scalarPathPattern)},
		{name: "total", doc: "Path of the number of records of all pages, or header:NAME. It has to be the same on every page, and to be reached.", def: "not said", value: patternValue(scalarPathPattern)},
		{name: "through", doc: "Path of the instant that the data reach to, or header:NAME.", def: "not said", value: patternValue(scalarPathPattern)},
		{name: "report", doc: "The request creates a report, which is polled and downloaded.", def: "pages", value: shapeValue(apiReportShape)},
		{name: "limits", doc: "Bounds of one pull.", value: shapeValue(apiLimitsShape)},
	}, webKeys()...),
}

var apiWindowShape = &shape{
	name: "api_window", doc: "The time that is asked for, from its first instant to the first one that is not. Before its end, and `settle` after it, nothing is pulled.",
	keys: []key{
		{name: "from", doc: "First instant.", required: true, value: schema{"type": "string"}},
		{name: "until", doc: "First instant that is not asked for.", required: true, value: schema{"type": "string"}},
		{name: "zone", doc: "Zone of the provider: of local times, days and steps.", def: "the zone of the job", value: schema{"type": "string"}},
		{name: "form", doc: "How {from} and {until} are written: rfc3339, rfc3339_utc, unix, unix_ms, date, or a layout of Go such as 20060102.", def: "rfc3339", value: textValue()},
		{name: "end", doc: "Whether the service takes {until} as excluded or included; then the last second, millisecond or day before it is sent.", def: "excluded", value: enumValue("excluded", "included")},
		{name: "settle", doc: "How long after its end the window may still change.", def: "0s", value: durationValue()},
		{name: "overlap", doc: "Time before `from` that is asked for again, for records that came late. The `survivor` of the side has to be declared: it folds what comes twice.", def: "0s", value: durationValue()},
		{name: "step", doc: "The window is asked for in slices of this length, each with pages of its own; days and weeks are those of the calendar.", def: "one slice", value: durationValue()},
	},
}

var paginationShape = &shape{
	name: "pagination", doc: "How a result is cut into pages, and what says that one is the last.",
	keys: []key{
		{name: "style", doc: "offset: by the number of records before; page: by the number of the page; cursor: by a text of the page before; link: by the Link header; none: one page.", required: true, value: enumValue(PageOffset, PageNumber, PageCursor, PageLink, PageNone)},
		{name: "at", doc: "Parameter that says where a page begins.", def: "offset, page or cursor, as the style", value: textValue()},
		{name: "limit", doc: "Parameter that says how many records a page has.", def: "limit; with cursor and link none is sent unless `size` is declared", value: textValue()},
		{name: "size", doc: "Records of a page.", def: "100", value: intValue(1)},
		{name: "first", doc: "Where the first page begins.", def: "offset 0, page 1", value: intValue(0)},
		{name: "in", doc: "Where the parameters are: query, or body (by their dotted path).", def: "query", value: enumValue("query", "body")},
		{name: "next", doc: "Path of the next cursor in a page, or header:NAME.", value: patternValue(scalarPathPattern)},
		{name: "next_is", doc: "Whether `next` is a cursor or a url; a url has to stay on the origin of the source.", def: "cursor", value: enumValue("cursor", "url")},
		{name: "last", doc: "Path in the last record of a page, whose value is the next cursor.", value: patternValue(jsonPathPattern)},
		{name: "more", doc: "Path of what says whether there are more pages: true or false.", value: patternValue(scalarPathPattern)},
		{name: "stop", doc: "What says that a page is the last one: empty (no records), short (fewer than `size`; with `total` alone, since a service may give fewer than it is asked for), more, total, no_next.", def: "more where it is declared; no_next for `next` and link; else empty", value: enumValue(StopEmpty, StopShort, StopMore, StopTotal, StopNoNext)},
		{name: "stable", doc: "Records keep their place while they are read: new ones come last, and none goes away. Else all pages of offset and page are asked for twice.", def: "false", value: boolValue()},
	},
}

var apiReportShape = &shape{
	name: "api_report", doc: "A report that the service makes on demand. It is known to be whole by its state and the length of the download.",
	keys: []key{
		{name: "id", doc: "Path of its id in the answer to the request, or header:NAME.", required: true, value: patternValue(scalarPathPattern)},
		{name: "poll", doc: "Address of its state, with {id}.", required: true, value: textValue()},
		{name: "status", doc: "Path of its state.", required: true, value: patternValue(scalarPathPattern)},
		{name: "done", doc: "States in which it can be had.", required: true, value: listValue(textValue())},
		{name: "failed", doc: "States in which it never will.", def: "none", value: listValue(textValue())},
		{name: "every", doc: "Time between two looks.", def: "10s", value: durationValue()},
		{name: "download", doc: "Path of its address in the answer that says it is done. Another host has to be among `hosts`, and gets no credentials.", value: patternValue(scalarPathPattern)},
		{name: "content", doc: "Its address, with {id}, where no answer says it.", value: textValue()},
		{name: "bytes", doc: "Path of its size, which is compared.", def: "not said", value: patternValue(scalarPathPattern)},
		{name: "sha256", doc: "Path of its SHA-256, hexadecimal, which is compared.", def: "not said", value: patternValue(scalarPathPattern)},
	},
}

var apiLimitsShape = &shape{
	name: "api_limits", doc: "Bounds of one pull. What is above them is refused.",
	keys: []key{
		{name: "pages", doc: "Pages.", def: "100000", value: intValue(1)},
		{name: "rows", doc: "Records of all pages.", def: "100000000", value: intValue(1)},
		{name: "page_bytes", doc: "Bytes of one page.", def: "67108864, 64 MiB", value: intValue(1)},
		{name: "bytes", doc: "Bytes of all pages, or of the report.", def: "21474836480, 20 GiB", value: intValue(1)},
		{name: "time", doc: "Time of one pull.", def: "1h", value: durationValue()},
		{name: "passes", doc: "How often all is asked for at most, where it changes while it is read.", def: "3", value: intValue(1)},
	},
}
