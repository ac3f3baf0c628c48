package scan

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// key and jwt are made here, so that no finder of secrets takes this file for one.
const (
	jwt  = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxIn0" + ".c2lnbmF0dXJl"
	live = "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"visa", "4111111111111111", "411111******1111"},
		{"visa of 13", "paid by 4222222222222", "paid by 422222***2222"},
		{"blanks", "card 4111 1111 1111 1111, thanks", "card 411111******1111, thanks"},
		{"dashes", "4111-1111-1111-1111", "411111******1111"},
		{"blanks that do not break", "4111\u00a01111\u00a01111\u00a01111", "411111******1111"},
		{"amex in 4-6-5", "3782 822463 10005", "378282*****0005"},
		{"mastercard of the second range", "2223003122003222", "222300******3222"},
		{"diners in 4-6-4", "3056-930902-5904", "305693****5904"},
		{"with its expiry", "4111 1111 1111 1111 12/27", "411111******1111 12/27"},
		{"with its expiry as digits", "4111111111111111 1227", "411111******1111 1227"},
		{"two of them", "4111111111111111 5555555555554444", "411111******1111 555555******4444"},
		{"in a URL", "https://x.example/?pan=4111111111111111&a=1", "https://x.example/?pan=411111******1111&a=1"},
		{"first track", "%B4111111111111111^DOE/JANE^2512101", "%B411111******1111^DOE/JANE^2512101"},
		{"second track", ";4111111111111111=25121010000", ";411111******1111=25121010000"},
		{"behind a prefix", "card_4111111111111111", "card_411111******1111"},
		{"a full stop behind it", "it was 4111111111111111.", "it was 411111******1111."},

		{"wrong check digit", "4111111111111112", ""},
		{"no issuer", "1234567812345670", ""},
		{"a length that the issuer has not", "41111111111111111112", ""},
		{"an order number", "order 2026112900012345", ""},
		{"an instant in digits", "20261129040000", ""},
		{"microseconds", "1764388800000000", ""},
		{"an instant", "2026-11-29T04:00:00.123456Z", ""},
		{"a long amount", "4111111111111111.00", ""},
		{"cells of a line", "D,4111111111111111,5555555555554444,17", "D,411111******1111,555555******4444,17"},
		{"a fraction", "0.4111111111111111", ""},
		{"a grouped amount", "4 111 111 111 111 111", ""},
		{"inside of a word", "x4111111111111111", ""},
		{"in a digest", "a4111111111111111b", ""},
		{"a UUID of digits", "41111111-1111-1111-4111-111111111111", ""},
		{"digits in a longer number", "94111111111111111199", ""},

		{"IBAN", "DE89370400440532013000", "DE89…3000"},
		{"IBAN in blocks", "to DE89 3704 0044 0532 0130 00 (Jane)", "to DE89…3000 (Jane)"},
		{"IBAN in small letters", "gb29nwbk60161331926819", "gb29…6819"},
		{"IBAN of Norway", "NO93 8601 1117 947.", "NO93…7947."},
		{"IBAN of Malta", "MT84MALT011000012345MTLCAST001S", "MT84…001S"},
		{"IBAN behind a colon", "IBAN:FR1420041010050500013M02606;", "IBAN:FR14…2606;"},
		{"IBAN with dashes", "NL91-ABNA-0417-1643-00", "NL91…4300"},
		{"IBAN with wrong check digits", "DE88370400440532013000", ""},
		{"IBAN that is short", "DE8937040044053201300", ""},
		{"IBAN that is long", "DE893704004405320130001", ""},
		{"no country", "ZZ89370400440532013000", ""},
		{"IBAN inside of a word", "XDE89370400440532013000", ""},
		{"a creditor reference", "RF18539007547034", ""},

		{"Stripe", live, "sk_live_…"},
		{"AWS", "key AKIAIOSFODNN7EXAMPLE used", "key AKIA… used"},
		{"GitHub", "ghp_" + strings.Repeat("a1", 18), "ghp_…"},
		{"Slack", "xoxb-123456789012-abcdef", "xoxb-…"},
		{"Google", "AIza" + strings.Repeat("x", 35), "AIza…"},
		{"JWT", "sent " + jwt + " again", "sent eyJ… again"},
		{"bearer", "Authorization: Bearer abc.def-ghi123", "Authorization: Bearer …"},
		{"basic", "authorization: Basic dXNlcjpwYXNz", "authorization: Basic …"},
		{"password", "login failed: user=ann password=hunter22, host=x", "login failed: user=ann password=…, host=x"},
		{"password in JSON", `{"password": "hunter22"}`, `{"password": "…"}`},
		{"api key", "api_key: 0123456789", "api_key: …"},
		{"secret in a query", "?client_secret=abcdef&x=1", "?client_secret=…&x=1"},
		{"password of a URL", "postgres://ann:hunter22@db.example/x", "postgres://ann:…@db.example/x"},
		{"private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAK-x\n-----END RSA PRIVATE KEY-----!", "-----BEGIN RSA PRIVATE KEY-----…!"},
		{"private key that was cut", "-----BEGIN PRIVATE KEY-----\nMIIBOg", "-----BEGIN PRIVATE KEY-----…"},
		{"webhook secret", "whsec_abcdefgh12345678", "whsec_…"},

		{"no token: an id of a test", "tok_1f2e3d4c5b6a79881f2e3d4c5b6a7988", ""},
		{"no token: the word", "a token needs a key", ""},
		{"no token: a hint", "add `key: {file: redact.key}`, or secret: {env: X}", ""},
		{"no token: bypass", "bypass: nothing", ""},
		{"no token: a pass of the cascade", "match: [{pass: operation_id, on: [operation_id]}]", ""},
		{"no token: an e-mail", "ann@shop.example", ""},
		{"no token: a plain URL", "https://psp.example:8443/charges/ch_123", ""},
		{"no token: basic", "basic understanding", ""},
		{"short", "pwd=a", ""},
	} {
		want := c.want
		if want == "" {
			want = c.text
		}
		got, n := Mask(c.text)
		if got != want {
			t.Errorf("%s: %q becomes %q, want %q", c.name, c.text, got, want)
		}
		if (n.Sum() > 0) != (got != c.text) {
			t.Errorf("%s: %d finds, and %q", c.name, n.Sum(), got)
		}
	}
}

// withCheck gives digits of an issuer their check digit.
func withCheck(digits string) string {
	for c := '0'; c <= '9'; c++ {
		if luhn(digits + string(c)) {
			return digits + string(c)
		}
	}
	panic("no check digit fits")
}

func genCard(t *rapid.T) string {
	r := rapid.SampledFrom(issuers).Draw(t, "issuer")
	n := rapid.IntRange(r.least, r.most).Draw(t, "digits")
	head := fmt.Sprint(rapid.IntRange(number(r.from), number(r.until)).Draw(t, "head"))
	return withCheck(head + rapid.StringMatching(fmt.Sprintf("[0-9]{%d}", n-1-len(head))).Draw(t, "rest"))
}

func number(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}

func genIBAN(t *rapid.T) string {
	countries := make([]string, 0, len(ibanLength))
	for c := range ibanLength {
		countries = append(countries, c)
	}
	c := rapid.SampledFrom(sorted(countries)).Draw(t, "country")
	rest := rapid.StringMatching(fmt.Sprintf("[0-9A-Z]{%d}", ibanLength[c]-4)).Draw(t, "account")
	for check := 2; check <= 98; check++ {
		if s := fmt.Sprintf("%s%02d%s", c, check, rest); mod97(s) {
			return s
		}
	}
	panic("no check digits fit")
}

func sorted(list []string) []string {
	for i := range list {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

// blocks writes blanks or dashes into a text, after every four characters.
func blocks(text, between string) string {
	var b strings.Builder
	for i, r := range text {
		if i > 0 && i%4 == 0 {
			b.WriteString(between)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Whatever stands around it, a card number or an IBAN is never left readable, masking
// again changes nothing, and the pattern of the engine finds every text that is masked.
func TestNothingIsLeft(t *testing.T) {
	pattern := regexp.MustCompile(Prefilter)
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.Custom(genCard).Draw(t, "card")
		if rapid.Bool().Draw(t, "IBAN") {
			plain = rapid.Custom(genIBAN).Draw(t, "iban")
		}
		if rapid.Bool().Draw(t, "small letters") {
			plain = strings.ToLower(plain)
		}
		shown := blocks(plain, rapid.SampledFrom([]string{"", " ", "-", "\u00a0", "–"}).Draw(t, "between"))
		before := rapid.SampledFrom([]string{"", "x ", "=", "\"", "/", "(", "é", "4000 ", "12-", "\n", "DE12 "}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", " x", "&", "\"", ")", ".", ", ", " 12", "-7", "\t"}).Draw(t, "after")
		text := before + shown + after
		got, n := Mask(text)
		if strings.Contains(got, shown) || n.Sum() == 0 {
			t.Fatalf("%q becomes %q", text, got)
		}
		if again, more := Mask(got); again != got || more.Sum() > 0 {
			t.Fatalf("%q becomes %q, and that %q", text, got, again)
		}
		if !pattern.MatchString(text) {
			t.Fatalf("the pattern of the engine does not find %q", text)
		}
	})
}

// Any text at all: finds lie in order inside of the text, masking again changes
// nothing, and the pattern of the engine finds every text that is masked.
func TestAnyText(t *testing.T) {
	pattern := regexp.MustCompile(Prefilter)
	words := []string{"4111", "1111", "1111111111111111", "DE89", "3704", " ", "-", "password", "=", ":", "Bearer ", "eyJ", ".", "abcdefgh", "sk_", "live_",
		"://", "@", "…", "\"", "é", "\x00", "\xff", "AKIA", "-----BEGIN ", "PRIVATE KEY-----", "token", "x", "0"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(words), rapid.String()), 0, 20).Draw(t, "words"), "")
		at := 0
		for _, s := range Find(text) {
			if s.From < at || s.Until <= s.From || s.Until > len(text) {
				t.Fatalf("%q: a find from %d until %d, after %d", text, s.From, s.Until, at)
			}
			at = s.Until
		}
		got, n := Mask(text)
		if again := Text(got); again != got {
			t.Fatalf("%q becomes %q, and that %q", text, got, again)
		}
		if n.Sum() > 0 && !pattern.MatchString(text) {
			t.Fatalf("the pattern of the engine does not find %q", text)
		}
	})
}

// Numbers of orders, instants and amounts by the thousand: what has no issuer's range is
// never touched, and of the rest no more than the check digit lets through.
func TestOrdinaryNumbers(t *testing.T) {
	touched := 0
	for i := range 10000 {
		for _, text := range []string{
			fmt.Sprintf("%016d", 1000000000000000+i*7919),               // a sequence
			fmt.Sprintf("2026112912%06d", i),                            // a day and a number
			fmt.Sprintf("17643888%08d", i*997),                          // an instant
			fmt.Sprintf("%d.%02d", 4111111111111100+i, i%100),           // an amount
			fmt.Sprintf("550e8400-e29b-41d4-a716-4466%08d", i),          // a UUID
			fmt.Sprintf("ch_3MtwBwLkdIwHu7ix%08dKb", i),                 // an id of a provider
			fmt.Sprintf("%064x", i*104729)[:64],                         // a digest
			fmt.Sprintf("2026-11-29T04:%02d:%02d.%06dZ", i%60, i%59, i), // an instant
		} {
			if got := Text(text); got != text {
				t.Fatalf("%q becomes %q", text, got)
			}
		}
		if Text(fmt.Sprintf("4%015d", i*7919)) != fmt.Sprintf("4%015d", i*7919) {
			touched++
		}
	}
	if touched < 900 || touched > 1100 {
		t.Errorf("of 10000 numbers in the range of an issuer %d are taken for cards, want a tenth", touched)
	}
}

func BenchmarkMask(b *testing.B) {
	texts := []string{"order-000123", "settled", "ch_3MtwBwLkdIwHu7ix28a3tqPa", "2026-11-29T04:00:00Z", "ann.smith@shop.example", "card_declined"}
	for b.Loop() {
		for _, t := range texts {
			Text(t)
		}
	}
}
