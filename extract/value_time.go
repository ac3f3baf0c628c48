package extract

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// instant is what the text of a timestamp says.
type instant struct {
	us      int64 // microseconds since the epoch; the first reading of a local time that exists twice
	late    int64 // the second reading
	twice   bool
	never   bool // a local time that the zone skips; us means nothing
	present bool // false: unreadable
}

const (
	usPerSecond = 1_000_000
	secPerDay   = 86_400
)

// timeForm is how a timestamp field writes its times.
type timeForm struct {
	layouts []timeLayout // empty: ISO 8601 / RFC 3339 forms
	zone    *zoneResolver
}

type timeLayout struct {
	layout string
	offset bool  // the text carries its offset, so the zone does not matter
	named  bool  // it carries a zone abbreviation
	plain  byte  // 'T' or ' ': the ISO form with this separator and no offset; 0 none
	cut    bool  // of a number: what is finer than a microsecond is cut
	unix   int64 // microseconds of the unit that the number counts from 1970; 0 no number
}

func newTimeForm(f rules.Field) timeForm {
	t := timeForm{}
	if f.Zone != nil {
		t.zone = &zoneResolver{zone: f.Zone}
	}
	for _, l := range f.Layouts {
		tl := timeLayout{
			layout: l,
			offset: strings.Contains(l, "Z07") || strings.Contains(l, "-07"),
			named:  strings.Contains(l, "MST"),
		}
		switch l {
		case "2006-01-02T15:04:05":
			tl.plain = 'T'
		case "2006-01-02 15:04:05":
			tl.plain = ' '
		case rules.LayoutUnix:
			tl.unix = usPerSecond
		case rules.LayoutUnixMilli:
			tl.unix = usPerSecond / 1000
		case rules.LayoutUnixFloat:
			tl.unix, tl.cut = usPerSecond, true
		}
		t.layouts = append(t.layouts, tl)
	}
	return t
}

// parse reads a timestamp. Without layouts these forms are readable, mixed in one
// column: YYYY-MM-DD, then T or a blank, HH:MM with optional seconds and fraction,
// then Z, ±HH:MM, ±HHMM, ±HH or nothing. Without an offset the declared zone
// decides, and without a zone the text is unreadable: never the zone of the
// process. Digits beyond microseconds must be zeros; a leap second is unreadable.
func (t *timeForm) parse(b []byte) instant {
	if len(t.layouts) == 0 {
		sec, us, off, hasOff, ok := parseISO(b)
		switch {
		case !ok:
			return instant{}
		case hasOff:
			return instant{us: (sec-int64(off))*usPerSecond + us, present: true}
		default:
			return t.local(sec, us)
		}
	}
	for i := range t.layouts {
		if l := t.layouts[i].layout; l == "" || l == rules.LayoutISONano {
			iso, text := timeForm{zone: t.zone}, b
			if l != "" {
				text = toMicro(b)
			}
			if v := iso.parse(text); v.present {
				return v
			}
		}
		if u := t.layouts[i].unix; u > 0 {
			if v := parseUnix(b, u, t.layouts[i].cut); v.present {
				return v
			}
		}
	}
	if tooFine(b) {
		return instant{}
	}
	for i := range t.layouts {
		if l := t.layouts[i].layout; l == "" || l == rules.LayoutISONano || t.layouts[i].unix > 0 {
			continue
		}
		if v := t.parseLayout(&t.layouts[i], b); v.present {
			return v
		}
	}
	return instant{}
}

// toMicro cuts the digits of a fraction of a second beyond microseconds.
func toMicro(b []byte) []byte {
	at := bytes.IndexByte(b, '.')
	end := at + 1
	for at >= 0 && end < len(b) && b[end] >= '0' && b[end] <= '9' {
		end++
	}
	if at < 0 || end-at <= 7 {
		return b
	}
	return append(bytes.Clone(b[:at+7]), b[end:]...)
}

// parseUnix reads a number of units since 1970-01-01T00:00:00Z, of us microseconds
// each. A fraction finer than a microsecond is unreadable, or cut, and a year outside
// 1 to 9999 is unreadable.
func parseUnix(b []byte, us int64, cut bool) instant {
	form := decimalForm{mark: '.'}
	d, ok := form.parse(b)
	if !ok || d.hi != 0 || d.scale >= len(pow10)-1 {
		return instant{}
	}
	n := new(big.Int).Mul(d.big(), big.NewInt(us))
	n, rest := n.DivMod(n, big.NewInt(int64(pow10[d.scale])), new(big.Int))
	if rest.Sign() != 0 && !cut || !n.IsInt64() || n.Int64() < firstMicro || n.Int64() > lastMicro {
		return instant{}
	}
	return instant{us: n.Int64(), present: true}
}

// The first and the last microsecond of the years 1 to 9999.
var (
	firstMicro = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	lastMicro  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - 1
)

// newZones resolves the zones that another column names; they are known to load.
func newZones(z *rules.ZoneFrom) map[string]*zoneResolver {
	out := map[string]*zoneResolver{}
	for mark, name := range z.Zones {
		if zone, err := time.LoadLocation(name); err == nil {
			out[mark] = &zoneResolver{zone: zone}
		}
	}
	return out
}

func (t *timeForm) parseLayout(l *timeLayout, b []byte) instant {
	if l.plain != 0 && len(b) == len("2006-01-02T15:04:05") && b[10] == l.plain {
		if sec, us, _, hasOff, ok := parseISO(b); ok && !hasOff {
			return t.local(sec, us)
		}
		return instant{}
	}
	if l.named {
		return t.parseNamed(l, b)
	}
	v, err := time.Parse(l.layout, string(b))
	if err != nil || v.Year() < 1 || v.Year() > 9999 {
		return instant{}
	}
	if l.offset {
		return instant{us: v.UnixMicro(), present: true}
	}
	return t.local(v.Unix(), int64(v.Nanosecond()/1000))
}

// parseNamed reads a text with a zone abbreviation. Only those count that are UTC
// or that the declared zone uses; time.Parse would give any other three letters
// the offset zero.
func (t *timeForm) parseNamed(l *timeLayout, b []byte) instant {
	zone := time.UTC
	if t.zone != nil {
		zone = t.zone.zone
	}
	v, err := time.ParseInLocation(l.layout, string(b), zone)
	if err != nil || v.Year() < 1 || v.Year() > 9999 {
		return instant{}
	}
	name, offset := v.Zone()
	in, inOffset := v.In(zone).Zone()
	if !l.offset && name != "UTC" && name != "GMT" && (name != in || offset != inOffset) {
		return instant{}
	}
	return instant{us: v.UnixMicro(), present: true}
}

// local resolves a time without offset in the declared zone.
func (t *timeForm) local(sec, us int64) instant {
	if t.zone == nil {
		return instant{}
	}
	first, last, n := t.zone.readings(sec)
	switch n {
	case 0:
		return instant{never: true, present: true}
	case 1:
		return instant{us: first*usPerSecond + us, present: true}
	default:
		return instant{us: first*usPerSecond + us, late: last*usPerSecond + us, twice: true, present: true}
	}
}

// tooFine tells whether a fraction of a second has digits other than zero beyond
// microseconds; time.Parse would drop those beyond nanoseconds silently.
func tooFine(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] != '.' && b[i] != ',' {
			continue
		}
		for n := 1; i+n < len(b) && b[i+n] >= '0' && b[i+n] <= '9'; n++ {
			if n > 6 && b[i+n] != '0' {
				return true
			}
		}
	}
	return false
}

// zoneResolver finds the instants at which a zone's clocks show a local time. It
// remembers the stretch around the last one in which there is exactly one reading.
// Not safe for concurrent use.
type zoneResolver struct {
	zone     *time.Location
	from, to int64 // local seconds with one reading
	offset   int64
}

// reach is the furthest that a local time lies from the instant that it names,
// read as if it were UTC, with room to spare. In seconds.
const reach = 30 * 3600

// readings returns the first and the last instant, in seconds since the epoch, at
// which the clocks show the local time (counted as if it were UTC), and how many
// there are: 0 where the clocks jump over it, 2 where they go back.
func (z *zoneResolver) readings(local int64) (first, last int64, n int) {
	if local >= z.from && local < z.to {
		return local - z.offset, local - z.offset, 1
	}
	var found []int64
	at := time.Unix(local-reach, 0).In(z.zone)
	for {
		_, offset := at.Zone()
		u := local - int64(offset)
		if _, there := time.Unix(u, 0).In(z.zone).Zone(); there == offset && !slices.Contains(found, u) {
			found = append(found, u)
			start, end := at.ZoneBounds()
			z.remember(start, end, int64(offset))
		}
		if at = offsetUntil(at); at.IsZero() || at.Unix() > local+reach {
			break
		}
	}
	if len(found) == 0 {
		return 0, 0, 0
	}
	return slices.Min(found), slices.Max(found), len(found)
}

// offsetUntil is a time up to which the clocks of at's zone are not set anew; zero
// where they never are again. In leap years after the last change that the tz
// database lists, ZoneBounds ends a year a day early (Go 1.26), and on that day gives
// an end that is not later than at.
func offsetUntil(at time.Time) time.Time {
	_, end := at.ZoneBounds()
	if !end.IsZero() && !end.After(at) {
		return at.Add(time.Hour)
	}
	return end
}

// remember keeps the inner part of a period of one offset, in which no local time
// can have a reading outside the period.
func (z *zoneResolver) remember(start, end time.Time, offset int64) {
	const forever = int64(1) << 50
	z.from, z.to, z.offset = -forever, forever, offset
	if !start.IsZero() {
		z.from = start.Unix() + offset + 2*reach
	}
	if !end.IsZero() {
		z.to = end.Unix() + offset - 2*reach
	}
}

// parseISO reads the forms of timeForm.parse: seconds since the epoch as if the
// text were UTC, microseconds, the offset east of UTC in seconds.
func parseISO(b []byte) (sec, us int64, offset int, hasOffset, ok bool) {
	if len(b) < len("2006-01-02T15:04") || b[4] != '-' || b[7] != '-' || b[13] != ':' ||
		b[10] != 'T' && b[10] != ' ' && b[10] != 't' {
		return 0, 0, 0, false, false
	}
	day, ok := parseDay(b[:10])
	hour, minute := two(b[11:]), two(b[14:])
	if !ok || hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return 0, 0, 0, false, false
	}
	rest := b[16:]
	second := 0
	if len(rest) >= 3 && rest[0] == ':' {
		if second = two(rest[1:]); second < 0 || second > 59 {
			return 0, 0, 0, false, false
		}
		rest = rest[3:]
		if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
			if us, rest, ok = parseFraction(rest[1:]); !ok {
				return 0, 0, 0, false, false
			}
		}
	}
	sec = day*secPerDay + int64(hour*3600+minute*60+second)
	if len(rest) == 0 {
		return sec, us, 0, false, true
	}
	offset, ok = parseOffset(rest)
	return sec, us, offset, true, ok
}

// parseFraction reads the digits of a fraction of a second as microseconds.
func parseFraction(b []byte) (us int64, rest []byte, ok bool) {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		if n < 6 {
			us = us*10 + int64(b[n]-'0')
		} else if b[n] != '0' {
			return 0, nil, false
		}
		n++
	}
	for i := n; i < 6; i++ {
		us *= 10
	}
	return us, b[n:], n > 0
}

// parseOffset reads Z, ±HH:MM, ±HHMM or ±HH as seconds east of UTC.
func parseOffset(b []byte) (int, bool) {
	if len(b) == 1 && (b[0] == 'Z' || b[0] == 'z') {
		return 0, true
	}
	if b[0] != '+' && b[0] != '-' || len(b) < 3 {
		return 0, false
	}
	hour, minute := two(b[1:]), 0
	switch {
	case len(b) == 3:
	case len(b) == 5:
		minute = two(b[3:])
	case len(b) == 6 && b[3] == ':':
		minute = two(b[4:])
	default:
		return 0, false
	}
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return 0, false
	}
	s := hour*3600 + minute*60
	if b[0] == '-' {
		s = -s
	}
	return s, true
}

// two reads two digits; -1 where there are none.
func two(b []byte) int {
	if len(b) < 2 || b[0] < '0' || b[0] > '9' || b[1] < '0' || b[1] > '9' {
		return -1
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}

// parseDay reads YYYY-MM-DD as days since 1970-01-01, by the proleptic Gregorian
// calendar; a day that its month does not have is unreadable.
func parseDay(b []byte) (int64, bool) {
	if len(b) != 10 || b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	century, year, month, day := two(b), two(b[2:]), two(b[5:]), two(b[8:])
	if century < 0 || year < 0 || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	y := century*100 + year
	if y < 1 || day > daysIn(y, month) {
		return 0, false
	}
	return daysSinceEpoch(y, month, day), true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}

// daysSinceEpoch counts days from 1970-01-01. A year is taken to begin in March,
// so that the leap day comes last; 719468 days lie between 0000-03-01 and the epoch.
func daysSinceEpoch(y, m, d int) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return int64(era)*146097 + int64(doe) - 719468
}

// parseDateLayouts reads a date by its declared Go layouts, the first that fits.
func parseDateLayouts(layouts []string, b []byte) (int64, bool) {
	for _, l := range layouts {
		if l == "" { // iso beside others
			if days, ok := parseDay(b); ok {
				return days, true
			}
			continue
		}
		v, err := time.Parse(l, string(b))
		if err != nil || v.Year() < 1 || v.Year() > 9999 {
			continue
		}
		return daysSinceEpoch(v.Year(), int(v.Month()), v.Day()), true
	}
	return 0, false
}

// appendInstant appends the canonical text of an instant: RFC 3339 in UTC, with as
// many decimals as needed.
func appendInstant(b []byte, us int64) []byte {
	return time.UnixMicro(us).UTC().AppendFormat(b, "2006-01-02T15:04:05.999999Z")
}

// appendDate appends a date as YYYY-MM-DD.
func appendDate(b []byte, days int64) []byte {
	return time.Unix(days*secPerDay, 0).UTC().AppendFormat(b, time.DateOnly)
}
