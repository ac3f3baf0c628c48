package extract

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

func TestParseDecimal(t *testing.T) {
	point := decimalForm{mark: '.'}
	comma := decimalForm{mark: ',', group: '.'}
	signs := decimalForm{mark: '.', parentheses: true, trailing: true}
	const unreadable = ""
	for _, c := range []struct {
		form decimalForm
		text string
		want string
	}{
		// C29: the same number written differently
		{point, ".5", "0.5"}, {point, "0.50", "0.5"}, {point, "-.30", "-0.3"}, {point, "+7.00", "7"},
		{point, "-0.00", "0"}, {point, "0", "0"}, {point, "1.50E+2", "150"}, {point, "8.", "8"},
		{point, "12,5", unreadable}, {point, "0012.40", "12.4"},
		// C28: nothing is cut or rounded
		{point, "1.0079999999999999", "1.0079999999999999"},
		// C58: decimal comma, groups of exactly three
		{comma, "1.234,56", "1234.56"}, {comma, "-8,00", "-8"}, {comma, "1.000", "1000"}, {comma, "13", "13"},
		{comma, "0,5", "0.5"}, {comma, "1.000.050,25", "1000050.25"}, {comma, "1.23,4", unreadable},
		{comma, "1000000,25", "1000000.25"}, {comma, "1.0000", unreadable}, {comma, ".100", unreadable},
		{comma, "1..000", unreadable}, {comma, "1234.567", unreadable}, {comma, "1,000.5", unreadable}, {comma, "1.", unreadable},
		// exponents are exact
		{point, "1e0", "1"}, {point, "25E-3", "0.025"}, {point, "0E999999999999", "0"}, {point, "1E400", unreadable},
		{point, "1E", unreadable}, {point, "1E+", unreadable}, {point, "E5", unreadable}, {point, "1E5.5", unreadable},
		{point, "1.2E37", "12" + strings.Repeat("0", 36)}, {point, "1.2E38", unreadable},
		// 38 digits
		{point, strings.Repeat("9", 38), strings.Repeat("9", 38)}, {point, "1" + strings.Repeat("0", 38), unreadable},
		{point, "0." + strings.Repeat("0", 37) + "1", "0." + strings.Repeat("0", 37) + "1"},
		{point, "0." + strings.Repeat("0", 38) + "1", unreadable},
		{point, strings.Repeat("0", 500) + "1." + strings.Repeat("0", 500), "1"},
		{point, strings.Repeat("9", 19) + "." + strings.Repeat("8", 19), strings.Repeat("9", 19) + "." + strings.Repeat("8", 19)},
		// no numbers
		{point, "", unreadable}, {point, ".", unreadable}, {point, "-", unreadable}, {point, "NaN", unreadable},
		{point, "Inf", unreadable}, {point, "0x10", unreadable}, {point, "1_000", unreadable}, {point, " 1", unreadable},
		{point, "1 ", unreadable}, {point, "1.2.3", unreadable}, {point, "--1", unreadable}, {point, "٣", unreadable},
		// declared notations
		{signs, "(12.30)", "-12.3"}, {signs, "12.30-", "-12.3"}, {signs, "(0)", "0"}, {signs, "-12.30-", unreadable},
		{signs, "(-1)", unreadable}, {signs, "(1", unreadable}, {signs, "()", unreadable},
		{point, "(12.30)", unreadable}, {point, "12.30-", unreadable},
	} {
		d, ok := c.form.parse([]byte(c.text))
		switch {
		case ok != (c.want != unreadable):
			t.Errorf("%q readable: %v (%s)", c.text, ok, d)
		case ok && d.String() != c.want:
			t.Errorf("%q = %s, want %s", c.text, d, c.want)
		}
	}
}

// The canonical text of whatever is readable is the number that math/big reads, and
// two spellings of one number have one canonical text.
func TestDecimalAgreesWithRat(t *testing.T) {
	form := decimalForm{mark: '.'}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[+-]?[0-9]{0,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "text")
		d, ok := form.parse([]byte(text))
		want, readable := new(big.Rat).SetString(strings.TrimPrefix(text, "+"))
		if !readable {
			if ok {
				t.Fatalf("%q is no number, read as %s", text, d)
			}
			return
		}
		canonical := ratText(want)
		whole, fraction, _ := strings.Cut(strings.TrimPrefix(canonical, "-"), ".")
		fits := len(strings.TrimLeft(whole+fraction, "0")) <= maxDigits && len(fraction) <= maxDigits
		if ok != fits {
			t.Fatalf("%q is %s, readable: %v", text, canonical, ok)
		}
		if !ok {
			return
		}
		if d.String() != canonical || d.rat().Cmp(want) != 0 {
			t.Fatalf("%q = %s, want %s", text, d, canonical)
		}
		again, ok := form.parse([]byte(d.String()))
		if !ok || again != d {
			t.Fatalf("%s read again is %s", d, again)
		}
	})
}

func TestDecimalFixed(t *testing.T) {
	form := decimalForm{mark: '.'}
	for _, c := range []struct {
		text             string
		precision, scale int
		want             string
	}{
		{"12.3", 28, 2, "1230"}, {"-12.30", 28, 2, "-1230"}, {"12.345", 28, 2, ""}, {"0", 28, 2, "0"},
		{strings.Repeat("9", 26), 28, 2, strings.Repeat("9", 26) + "00"}, {strings.Repeat("9", 27), 28, 2, ""},
		{strings.Repeat("9", 38), 38, 0, strings.Repeat("9", 38)}, {"-" + strings.Repeat("9", 38), 38, 0, "-" + strings.Repeat("9", 38)},
	} {
		d, _ := form.parse([]byte(c.text))
		n, ok := d.fixed(c.precision, c.scale)
		if ok != (c.want != "") || ok && n.BigInt().String() != c.want {
			t.Errorf("%s as DECIMAL(%d,%d): %s %v, want %s", c.text, c.precision, c.scale, n.BigInt(), ok, c.want)
		}
	}
}

func TestDecimalRound(t *testing.T) {
	form := decimalForm{mark: '.'}
	for _, c := range []struct {
		text, halves string
		places       int
		want         string
	}{
		// C28, round_half_away_2
		{"1.005", "away_from_zero", 2, "1.01"}, {"2.675", "away_from_zero", 2, "2.68"}, {"1.0079999999999999", "away_from_zero", 2, "1.01"},
		{"5.375", "away_from_zero", 2, "5.38"}, {"5.37", "away_from_zero", 2, "5.37"}, {"-1.005", "away_from_zero", 2, "-1.01"},
		{"1.005", "to_even", 2, "1"}, {"1.015", "to_even", 2, "1.02"}, {"1.0150001", "to_even", 2, "1.02"}, {"0.005", "to_even", 2, "0"},
		{"-0.001", "away_from_zero", 2, "0"}, {"99.995", "away_from_zero", 2, "100"}, {"0.5", "to_even", 0, "0"}, {"1.5", "to_even", 0, "2"},
		{strings.Repeat("9", 37) + ".5", "away_from_zero", 0, "1" + strings.Repeat("0", 37)},
	} {
		d, ok := form.parse([]byte(c.text))
		if !ok {
			t.Fatal(c.text)
		}
		if got := d.round(&rules.Round{Places: c.places, Halves: c.halves}).String(); got != c.want {
			t.Errorf("%s to %d places, halves %s: %s, want %s", c.text, c.places, c.halves, got, c.want)
		}
	}
}

// A sum is the same as one by math/big, also past 128 bits and when merged.
func TestDecimalSum(t *testing.T) {
	form := decimalForm{mark: '.'}
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.StringMatching(`-?[0-9]{1,38}|-?[0-9]{1,5}\.[0-9]{1,30}`)).Draw(t, "texts")
		var s, other decSum
		want := new(big.Rat)
		for i, text := range texts {
			d, ok := form.parse([]byte(text))
			if !ok {
				t.Fatalf("%q is unreadable", text)
			}
			if i%2 == 0 {
				s.add(d)
			} else {
				other.add(d)
			}
			want.Add(want, d.rat())
		}
		s.merge(&other)
		if s.rat().Cmp(want) != 0 {
			t.Fatalf("sum %s, want %s", ratText(s.rat()), ratText(want))
		}
	})
}

func TestDecimalSumOverflows(t *testing.T) {
	d, _ := (&decimalForm{mark: '.'}).parse([]byte(strings.Repeat("9", 38)))
	var s decSum
	want := new(big.Rat)
	for range 5 {
		s.add(d)
		want.Add(want, d.rat())
	}
	if s.rat().Cmp(want) != 0 {
		t.Errorf("sum %s, want %s", ratText(s.rat()), ratText(want))
	}
}

func TestMinorExponent(t *testing.T) {
	for code, want := range map[string]int{
		"USD": 2, "EUR": 2, "JPY": 0, "KRW": 0, "CLP": 0, "ISK": 0, "UGX": 0, "KWD": 3, "BHD": 3, "TND": 3, "IQD": 3, "CLF": 4, "MGA": 2, "HUF": 2,
	} {
		if n, ok := minorExponent(code); !ok || n != want {
			t.Errorf("%s: %d decimals (%v), want %d", code, n, ok, want)
		}
	}
	for _, code := range []string{"ZZZ", "XXX", "XTS", "XAU", "usd", ""} {
		if n, ok := minorExponent(code); ok {
			t.Errorf("%q has %d decimals", code, n)
		}
	}
}

// The short way of reading an amount reads what the long way reads, and the
// canonical text that it finds in the text is the canonical one.
func TestQuickDecimal(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, f decimalForm, text string) {
		d, canonical, ok := f.quick([]byte(text))
		if !ok {
			return // the long way judges it
		}
		want, readable := f.parse([]byte(text))
		if !readable || d != want {
			t.Errorf("%q with the mark %q is %v in short, %v %v in full", text, f.mark, d, want, readable)
		}
		if canonical != nil && string(canonical) != want.String() {
			t.Errorf("%q: canonical %q, want %q", text, canonical, want)
		}
	}
	forms := []decimalForm{{mark: '.'}, {mark: ','}, {mark: ',', group: '.'}, {mark: '.', parentheses: true, trailing: true}}
	for _, text := range []string{
		"", "-", ".", "-.", "0", "-0", "0.00", "-0.00", ".5", "5.", "-5.", "00", "007", "0.50", "00.5", "10", "100.00", "1.230", "+1", "1-", "(1)",
		"999999999999999999", "9999999999999999999", "99999999999999999999", "0.99999999999999999", "99999999999999999.9",
		".999999999999999999", "-999999999999999999", "-99999999999999999.99", "1e3", "1,000.00", "1.000,00",
	} {
		for _, f := range forms {
			check(t, f, text)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("00012345679..,-")), 0, 22, -1).Draw(r, "text")
		check(r, rapid.SampledFrom(forms).Draw(r, "form"), text)
	})
	if _, canonical, ok := forms[0].quick([]byte("59116.20")); !ok || string(canonical) != "59116.2" {
		t.Errorf("a plain amount takes the long way: %q %v", canonical, ok)
	}
}
