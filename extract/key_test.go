package extract

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recon-batch/recon-batch/rules"
)

func TestNormalise(t *testing.T) {
	for _, c := range []struct {
		steps []rules.Normalise
		in    string
		want  string
	}{
		{nil, " A ", " A "},
		{[]rules.Normalise{rules.NormTrim}, " \tA b\t ", "A b"},
		{[]rules.Normalise{rules.NormTrim}, "\u00a0A", "\u00a0A"}, // no-break space is no blank
		{[]rules.Normalise{rules.NormTrimUnicode}, "\u00a0\u2003A\u3000", "A"},
		{[]rules.Normalise{rules.NormTrimUnicode}, "\u200bA", "\u200bA"},
		{[]rules.Normalise{rules.NormRemoveZeroWidth}, "\ufeffA\u200bB\u200d\u2060", "AB"},
		{[]rules.Normalise{rules.NormNFC}, "Cafe\u0301", "Caf\u00e9"},
		{[]rules.Normalise{rules.NormIgnoreCase}, "STRASSE \u00c9 \u212a", "strasse \u00e9 k"},
		{[]rules.Normalise{rules.NormIgnoreCase}, "\u0130", "\u0130"}, // a Turkish folding only
		{[]rules.Normalise{rules.NormIgnoreCase}, "\u00df", "\u00df"}, // simple folding keeps lengths
		{[]rules.Normalise{rules.NormLineEnds}, "a\r\nb\rc\n", "a\nb\nc\n"},
		{[]rules.Normalise{rules.NormUUID}, "{9A3C5E71-0B2D-4F68-8A9C-1D3E5F708192}", "9a3c5e71-0b2d-4f68-8a9c-1d3e5f708192"},
		{[]rules.Normalise{rules.NormUUID}, "0b5e7a91c3d44f6082a1b3c5d7e9f012", "0b5e7a91-c3d4-4f60-82a1-b3c5d7e9f012"},
		{[]rules.Normalise{rules.NormUUID}, "ORDER-1", "ORDER-1"},
		{[]rules.Normalise{rules.NormUUID}, "0b5e7a91-c3d44f6082a1b3c5d7e9f012", "0b5e7a91-c3d44f6082a1b3c5d7e9f012"},
		{[]rules.Normalise{"strip_prefix:ch_"}, "ch_ch_1", "ch_1"},
		{[]rules.Normalise{rules.NormTrim, rules.NormIgnoreCase, "strip_prefix:op-"}, " OP-7 ", "7"},
	} {
		in := []byte(c.in)
		if got := string(newNormaliser(c.steps).apply(in)); got != c.want {
			t.Errorf("%v of %q = %q, want %q", c.steps, c.in, got, c.want)
		}
		if string(in) != c.in {
			t.Errorf("%v changed its input", c.steps)
		}
	}
}

// composite builds a key over text fields a and b.
func composite(nullable bool, placeholders ...string) (*key, []*fieldReader) {
	fields := []*fieldReader{
		{field: rules.Field{Name: "a", Type: rules.Text, Placeholders: placeholders}, index: 0, steps: newNormaliser()},
		{field: rules.Field{Name: "b", Type: rules.Text}, index: 1, steps: newNormaliser([]rules.Normalise{rules.NormTrim})},
	}
	index := func(name string) int { return strings.Index("ab", name) }
	return newKey(fields, index, true, rules.KeyPart{Operations: "a"}, rules.KeyPart{Operations: "b", Nullable: nullable}), fields
}

func textValue(s string) value { return value{text: []byte(s), null: s == "\x00"} }

// V2: what links nothing. V1: parts are joined as parts.
func TestKeyText(t *testing.T) {
	const null, none = "\x00", "none"
	for _, c := range []struct {
		a, b     string
		nullable bool
		want     string
	}{
		{"x", "y", false, "1:x1:y"}, {"x", null, false, none}, {null, "y", false, none}, {"", "y", false, none},
		{"x", "  ", false, none}, // trimmed to nothing
		{"x", null, true, "1:x-"}, {"x", " y ", true, "1:x1:y"}, {null, "y", true, none}, {null, null, true, none},
		{"NOTPROVIDED", "y", false, none}, {"1:x", "y", false, "3:1:x1:y"},
	} {
		k, _ := composite(c.nullable, "NOTPROVIDED")
		got, ok := k.text(nil, []value{textValue(c.a), textValue(c.b)})
		if ok != (c.want != none) || ok && string(got) != c.want {
			t.Errorf("key of %q, %q = %q %v, want %q", c.a, c.b, got, ok, c.want)
		}
	}
	k, _ := composite(true)
	if _, ok := k.text(nil, []value{textValue("x"), {text: []byte("?"), bad: true}}); ok {
		t.Error("a part that cannot be read counts as an empty one")
	}
}

// V1: two lists of parts have one key only if they are equal part by part.
func TestKeyIsInjective(t *testing.T) {
	k, _ := composite(true)
	part := rapid.StringMatching(`[0-9:\-x]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a1, b1, a2, b2 := part.Draw(t, "a1"), part.Draw(t, "b1"), part.Draw(t, "a2"), part.Draw(t, "b2")
		k1, ok1 := k.text(nil, []value{textValue(a1), textValue(b1)})
		k2, ok2 := k.text(nil, []value{textValue(a2), textValue(b2)})
		if ok1 && ok2 && string(k1) == string(k2) && (a1 != a2 || b1 != b2) {
			t.Fatalf("%q, %q and %q, %q are one key %q", a1, b1, a2, b2, k1)
		}
	})
}

func TestLooksScientific(t *testing.T) {
	for text, want := range map[string]bool{
		"1.23E+22": true, "1e+22": true, "1.2302025304E+022": true,
		"1E5": false, "2e-7": false, "90210e15": false, "E5": false, "1E": false, "1.5": false, "12E3x": false, "0b5e7a91c3d4": false, "1E+": false, "": false,
	} {
		if got := looksScientific([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
