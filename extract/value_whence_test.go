package extract

import (
	"strings"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/rules"
)

// amountText is the canonical amount, "" for null, "?" for an unreadable one.
func amountText(v value) string {
	switch {
	case v.null:
		return ""
	case !v.plain():
		return "?"
	default:
		return v.d.String()
	}
}

// T9: one amount is written in another unit by each channel.
func TestT9UnitIsDeclared(t *testing.T) {
	minor := rules.Field{Name: "amount", Type: rules.Decimal, Scale: -1, MinorUnitsOf: "currency"}
	halves := minor
	halves.ExtraDecimals = 1
	major := rules.Field{Name: "amount", Type: rules.Decimal, Scale: -1, MajorUnitsOf: "currency"}
	for _, c := range []struct {
		channel          string
		field            rules.Field
		amount, currency string
		want             string
	}{
		{"Stripe API", minor, "1099", "usd", "10.99"},
		{"Stripe API, no decimals", minor, "500", "jpy", "500"},
		{"Stripe API, three decimals", minor, "5120", "kwd", "5.12"},
		{"Stripe CSV", major, "10.99", "usd", "10.99"},
		{"GoCardless", halves, "45.0", "GBP", "0.45"},
		{"GoCardless, half a penny", halves, "0.5", "GBP", "0.005"},
		{"GoCardless, finer than said", halves, "0.25", "GBP", "?"},
		{"whole minor units", minor, "45.5", "GBP", "?"},
	} {
		if got := amountText(readOne(t, []rules.Field{c.field, {Name: "currency"}}, map[string]string{"amount": c.amount, "currency": c.currency})[0]); got != c.want {
			t.Errorf("%s: %s %s is %q, want %q", c.channel, c.amount, c.currency, got, c.want)
		}
	}
}

// T10: the provider's table stands over ISO 4217; more decimals than it allows are
// an error, zeros at the end are none, and nothing is rounded.
func TestT10ExponentOfTheProvider(t *testing.T) {
	minor := func(e map[string]int) rules.Field {
		return rules.Field{Name: "amount", Type: rules.Decimal, Scale: -1, MinorUnitsOf: "currency", Exponents: e}
	}
	major := rules.Field{Name: "amount", Type: rules.Decimal, Scale: -1, MajorUnitsOf: "currency"}
	hundredths := map[string]int{"JPY": 2}
	for _, c := range []struct {
		field            rules.Field
		amount, currency string
		want             string
	}{
		{minor(nil), "500", "ISK", "500"},                          // ISO: none
		{minor(map[string]int{"ISK": 2}), "500", "ISK", "5"},       // Stripe API, Adyen
		{minor(nil), "500", "MGA", "5"},                            // ISO: two
		{minor(map[string]int{"MGA": 0}), "500", "MGA", "500"},     // Stripe
		{minor(map[string]int{"CLP": 2}), "500", "CLP", "5"},       // Adyen
		{minor(map[string]int{"CVE": 0}), "500", "CVE", "500"},     // Adyen
		{minor(map[string]int{"IDR": 0}), "50000", "IDR", "50000"}, // Adyen
		{minor(map[string]int{"UGX": 2}), "500", "UGX", "5"},       // Stripe
		{minor(hundredths), "1500000", "JPY", "15000"},             // PayPal
		{minor(hundredths), "1500050", "JPY", "15000.5"},           // as written, and not rounded
		{major, "10.990", "USD", "10.99"},
		{major, "10.995", "USD", "?"},
		{major, "500.00", "JPY", "500"},
		{major, "500.50", "JPY", "?"},
		{major, "1.234", "KWD", "1.234"},
		{major, "1.00", "QQQ", "?"}, // no such currency: its decimals are not known
		{major, "1.00", "", "?"},
	} {
		if got := amountText(readOne(t, []rules.Field{c.field, {Name: "currency"}}, map[string]string{"amount": c.amount, "currency": c.currency})[0]); got != c.want {
			t.Errorf("%s %s %v is %q, want %q", c.amount, c.currency, c.field.Exponents, got, c.want)
		}
	}
}

// T11: one declared sign rule; debit and credit both filled is an error.
func TestT11DebitAndCredit(t *testing.T) {
	f := rules.Field{Name: "amount", Type: rules.Decimal, Scale: -1, DebitCredit: &rules.DebitCredit{Debit: "debit", Credit: "credit"}}
	for _, c := range []struct{ debit, credit, want string }{
		{"", "12.30", "12.3"}, {"12.30", "", "-12.3"}, {"", "", ""}, {"12.30", "0.00", "-12.3"}, {"0", "12.30", "12.3"}, {"0.00", "0.00", "0"},
		{"12.30", "12.30", "?"}, {"0.01", "5", "?"}, {"-12.30", "", "?"}, {"", "-12.30", "?"}, {"x", "", "?"}, {"x", "0", "?"}, {"x", "5", "?"},
	} {
		got := readOne(t, []rules.Field{f}, map[string]string{"debit": c.debit, "credit": c.credit})[0]
		if amountText(got) != c.want {
			t.Errorf("debit %q and credit %q are %q, want %q", c.debit, c.credit, amountText(got), c.want)
		}
		if c.debit == "0.01" && string(got.text) != "0.01 | 5" {
			t.Errorf("what was found is shown as %q", got.text)
		}
	}
	// A refund with a positive amount is told by its type.
	byType := rules.Field{Name: "amount", Type: rules.Decimal, Scale: -1, SignFrom: &rules.SignFrom{Column: "type", Positive: []string{"sale"}, Negative: []string{"credit"}}}
	for typ, want := range map[string]string{"sale": "10", "credit": "-10", "void": "?"} {
		if got := amountText(readOne(t, []rules.Field{byType}, map[string]string{"amount": "10.00", "type": typ})[0]); got != want {
			t.Errorf("10.00 of type %s is %q, want %q", typ, got, want)
		}
	}
}

func TestConstantAndFirstOf(t *testing.T) {
	constant := rules.Field{Name: "currency", Type: rules.Currency, Constant: "eur"}
	if v := readOne(t, []rules.Field{constant}, map[string]string{"currency": "USD"})[0]; string(v.code[:]) != "EUR" {
		t.Errorf("the constant currency is %s", v.code)
	}
	first := rules.Field{Name: "id", Type: rules.Text, FirstOf: []string{"refund", "payment"}}
	for _, c := range []struct{ refund, payment, want string }{{"re_1", "ch_1", "re_1"}, {"", "ch_1", "ch_1"}} {
		if v := readOne(t, []rules.Field{first}, map[string]string{"refund": c.refund, "payment": c.payment})[0]; string(v.text) != c.want || v.null {
			t.Errorf("%q and %q give %q, want %q", c.refund, c.payment, v.text, c.want)
		}
	}
	if v := readOne(t, []rules.Field{first}, map[string]string{"refund": "", "payment": ""})[0]; !v.null {
		t.Error("nothing in either column, and the field holds something")
	}
}

func TestJSONPath(t *testing.T) {
	step := func(way ...any) []rules.JSONStep {
		var out []rules.JSONStep
		for _, w := range way {
			if n, ok := w.(int); ok {
				out = append(out, rules.JSONStep{Index: n})
			} else {
				out = append(out, rules.JSONStep{Member: w.(string)})
			}
		}
		return out
	}
	stamp := `X-Message-Stamp-Symfony\Component\Messenger\Stamp\RedeliveryStamp`
	headers := `{"type":"App\\Message\\Charge","` + strings.ReplaceAll(stamp, `\`, `\\`) + `":"[{\"retryCount\":1},{\"retryCount\":2}]"}`
	for _, c := range []struct {
		text string
		way  []rules.JSONStep
		want string // "" null, "?" unreadable
	}{
		{`{"a":{"b":"x"}}`, step("a", "b"), "x"},
		{`{"a":{"b":12.50}}`, step("a", "b"), "12.50"}, // the digits as written
		{`{"a":{"b":12345678901234567890.01}}`, step("a", "b"), "12345678901234567890.01"},
		{`{"a":[{"b":1},{"b":2},{"b":3}]}`, step("a", 1, "b"), "1"},
		{`{"a":[{"b":1},{"b":2},{"b":3}]}`, step("a", -1, "b"), "3"},
		{`{"a":[{"b":1},{"b":2},{"b":3}]}`, step("a", -3, "b"), "1"},
		{`{"a":[1]}`, step("a", 2), ""}, {`{"a":[1]}`, step("a", -2), ""}, {`{"a":[]}`, step("a", -1), ""},
		{`{"a":{"0":"x"}}`, step("a", "0"), "x"},
		{`{"a":null}`, step("a", "b"), ""}, {`{"a":7}`, step("a", "b"), ""}, {`[]`, step("a"), ""}, {`{}`, step("a"), ""},
		{`{"a":{"b":1}}`, step("a"), `{"b":1}`},
		{` {"a" : "x" } `, step("a"), "x"},
		{``, step("a"), ""},
		{headers, step(strings.ReplaceAll(stamp, `\`, `\`), -1, "retryCount"), "2"},
		{headers, step("type"), `App\Message\Charge`},
		{`{"a":"no json"}`, step("a", "b"), "?"},
		{`{"a":1,"a":2}`, step("a"), "?"}, // which of the two is not ours to say
		{`{"a":{"c":1,"c":2},"b":1}`, step("b"), "?"},
		{`{"a":1`, step("a"), "?"}, {`{"a":1}x`, step("a"), "?"}, {`O:8:"stdClass":0:{}`, step("a"), "?"}, {`a:1:{s:1:"a";i:1;}`, step("a"), "?"},
		{strings.Repeat("[", 200) + strings.Repeat("]", 200), step(1), "?"}, // deeper than the limit
	} {
		f := rules.Field{Name: "x", Type: rules.Text, Column: "headers", JSONPath: c.way}
		v := readOne(t, []rules.Field{f}, map[string]string{"headers": c.text})[0]
		got := string(v.text)
		switch {
		case v.null:
			got = ""
		case v.bad:
			got = "?"
		}
		if got != c.want {
			t.Errorf("%s by %v is %q, want %q", c.text, c.way, got, c.want)
		}
	}
}

// A member that is unreadable links nothing, and equals nothing.
func TestUnreadableMemberIsNoKey(t *testing.T) {
	f := rules.Field{Name: "operation_id", Type: rules.Text, Scale: -1, Column: "headers", JSONPath: []rules.JSONStep{{Member: "id"}}}
	if plainText(&f) {
		t.Error("a key inside JSON is taken for the text of its column")
	}
	k := newKey([]*fieldReader{newFieldReader(&rules.Source{}, f, f, 0, []string{"headers"}, func(string) int { return 0 })},
		func(string) int { return 0 }, true, rules.KeyPart{Operations: "operation_id"})
	for text, want := range map[string]bool{`{"id":"op-1"}`: true, `{"id":`: false, `{}`: false} {
		vals := readOne(t, []rules.Field{f}, map[string]string{"headers": text})
		if _, ok := k.text(nil, vals); ok != want {
			t.Errorf("%s is a key: %v, want %v", text, ok, want)
		}
	}
}

// T23: the zone of each record by the abbreviation beside it; seconds since 1970.
func TestT23ZoneOfEachRecord(t *testing.T) {
	f := rules.Field{Name: "at", Type: rules.Timestamp, Layouts: []string{"2006-01-02 15:04:05"},
		ZoneFrom: &rules.ZoneFrom{Column: "zone", Zones: map[string]string{"CET": "Europe/Amsterdam", "CEST": "Europe/Amsterdam", "PDT": "America/Los_Angeles"}}}
	show := func(v value) string {
		switch {
		case v.null:
			return ""
		case v.twice:
			return "twice"
		case v.never:
			return "never"
		case !v.plain():
			return "?"
		}
		return string(appendInstant(nil, v.i))
	}
	for _, c := range []struct{ text, zone, want string }{
		{"2031-01-15 10:00:00", "CET", "2031-01-15T09:00:00Z"},
		{"2031-07-15 10:00:00", "CEST", "2031-07-15T08:00:00Z"},
		{"2031-07-15 10:00:00", "PDT", "2031-07-15T17:00:00Z"},
		{"2031-07-15 10:00:00", "IST", "?"}, // three zones have this name
		{"2031-07-15 10:00:00", "", "?"},
		{"2031-10-26 02:30:00", "CET", "twice"},
		{"2031-03-30 02:30:00", "CET", "never"},
	} {
		if got := show(readOne(t, []rules.Field{f}, map[string]string{"at": c.text, "zone": c.zone})[0]); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.text, c.zone, got, c.want)
		}
	}
	for layout, list := range map[string][][2]string{
		rules.LayoutUnix: {{"1924952400", "2030-12-31T13:00:00Z"}, {"1924952400.25", "2030-12-31T13:00:00.25Z"}, {"-1", "1969-12-31T23:59:59Z"},
			{"1924952400.1234567", "?"}, {"99999999999999", "?"}, {"2030-12-31", "?"}, {"", ""}},
		rules.LayoutISONano:   {{"2031-03-10T09:00:00.123456789Z", "2031-03-10T09:00:00.123456Z"}, {"2031-03-10T09:00:00Z", "2031-03-10T09:00:00Z"}, {"2031-03-10T09:00:00.1234567+01:00", "2031-03-10T08:00:00.123456Z"}, {"2031-03-10T09:00:00.", "?"}},
		rules.LayoutUnixFloat: {{"1924952400.1234567", "2030-12-31T13:00:00.123456Z"}, {"1.9249524E9", "2030-12-31T13:00:00Z"}, {"x", "?"}},
		rules.LayoutUnixMilli: {{"1924952400123", "2030-12-31T13:00:00.123Z"}, {"1924952400", "1970-01-23T06:42:32.4Z"}},
	} {
		for _, c := range list {
			v := readOne(t, []rules.Field{{Name: "at", Type: rules.Timestamp, Layouts: []string{layout}}}, map[string]string{"at": c[0]})[0]
			if got := show(v); got != c[1] {
				t.Errorf("%s %q is %s, want %s", layout, c[0], got, c[1])
			}
		}
	}
}

// iso beside other layouts stands for all of its forms.
func TestISOAmongLayouts(t *testing.T) {
	zone := time.FixedZone("here", 3600)
	at := rules.Field{Name: "at", Type: rules.Timestamp, Layouts: []string{"", "02.01.2006 15:04"}, Zone: zone}
	for text, want := range map[string]string{
		"2031-03-10T09:03:00Z": "2031-03-10T09:03:00Z", "2031-03-10 09:03:00.5": "2031-03-10T08:03:00.5Z", "10.03.2031 09:03": "2031-03-10T08:03:00Z", "10/03/2031": "?",
	} {
		v := readOne(t, []rules.Field{at}, map[string]string{"at": text})[0]
		if got := string(appendInstant(nil, v.i)); v.bad != (want == "?") || !v.bad && got != want {
			t.Errorf("%s is %s (%v), want %s", text, got, v.bad, want)
		}
	}
	day := rules.Field{Name: "day", Type: rules.Date, Layouts: []string{"", "02.01.2006"}}
	for _, text := range []string{"2031-03-10", "10.03.2031"} {
		if v := readOne(t, []rules.Field{day}, map[string]string{"day": text})[0]; v.bad || string(appendDate(nil, v.i)) != "2031-03-10" {
			t.Errorf("%s is unreadable", text)
		}
	}
}
