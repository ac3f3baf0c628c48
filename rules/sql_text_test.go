package rules

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// piece is a part of a query whose meaning is known because it was made so.
type piece struct {
	text  string
	names []string
}

// pieces are those of one engine. What stands in them is chosen to look like a
// parameter, or like the end of what it stands in.
func pieces(engine string) []*rapid.Generator[piece] {
	inner := rapid.StringOfN(rapid.SampledFrom([]rune(`:from x'"$?-*/\;é`+"\n`#")), 0, 12, -1)
	text := func(make func(s string) (string, bool)) *rapid.Generator[piece] {
		return rapid.Custom(func(t *rapid.T) piece {
			for {
				if s, ok := make(inner.Draw(t, "inner") + ":until"); ok {
					return piece{text: s}
				}
			}
		})
	}
	param := rapid.Custom(func(t *rapid.T) piece {
		name := rapid.StringMatching(`[a-zA-Z_][a-zA-Z0-9_]{0,6}`).Draw(t, "name")
		return piece{":" + name, []string{name}}
	})
	plain := rapid.Map(rapid.SampledFrom([]string{
		"SELECT", "a::text", "(", ")", ",", "+", "a:=1", "a[1:2]", "a[1: 2]", "=", "<>", "1.5", "é", "_x9", "%", "x - 1", "x / 2", "a.b",
	}), func(s string) piece { return piece{text: s} })
	double := func(q string, escapes bool) *rapid.Generator[piece] {
		return text(func(s string) (string, bool) {
			if escapes {
				s = strings.ReplaceAll(s, `\`, `\\`)
			}
			return q + strings.ReplaceAll(s, q, q+q) + q, true
		})
	}
	line := func(start string) *rapid.Generator[piece] {
		return text(func(s string) (string, bool) { return start + strings.ReplaceAll(s, "\n", " ") + "\n", true })
	}
	block := text(func(s string) (string, bool) {
		s = strings.NewReplacer("/*", "", "*/", "", "!", "").Replace(s)
		return "/* " + s + " */", !strings.Contains(s, "/*") && !strings.Contains(s, "*/")
	})
	out := []*rapid.Generator[piece]{param, param, plain, plain, plain, block, line("-- ")}
	if engine == MySQL {
		return append(out, double("'", true), double(`"`, true), double("`", false), line("#"),
			rapid.Just(piece{text: `'it\'s :from'`}), rapid.Just(piece{text: "3--2"}))
	}
	return append(out, double("'", false), double(`"`, false), line("--"),
		rapid.Just(piece{text: `E'it\'s :from' ||`}), rapid.Just(piece{text: `'a\'`}), rapid.Just(piece{text: "a ?| b"}),
		rapid.Just(piece{text: "/* a /* :from */ :until */"}), rapid.Just(piece{text: "a$b"}),
		text(func(s string) (string, bool) { s = strings.ReplaceAll(s, "$", ""); return "$$" + s + "$$", true }),
		text(func(s string) (string, bool) { return "$t$" + s + " $u$ :from $t$", !strings.Contains(s, "$t$") }))
}

// TestSQLParametersFound: whatever surrounds them, the parameters of a query are those
// that were put there, in their order, and the rest of the text is not touched.
func TestSQLParametersFound(t *testing.T) {
	for _, engine := range []string{Postgres, MySQL} {
		one := rapid.OneOf(pieces(engine)...)
		rapid.Check(t, func(t *rapid.T) {
			text, want, rest := "SELECT ", []string{}, "SELECT "
			for _, p := range rapid.SliceOfN(one, 0, 12).Draw(t, "pieces") {
				// Without a blank two pieces could make a third.
				text += p.text + " "
				if p.names != nil {
					want = append(want, p.names...)
					rest += fmt.Sprintf("«%s» ", p.names[0])
				} else {
					rest += p.text + " "
				}
			}
			got, err := parseSQL(engine, text)
			if err != nil {
				t.Fatalf("%s: %q: %s", engine, text, err)
			}
			var names []string
			back := ""
			for _, p := range got {
				if p.Name != "" {
					names = append(names, p.Name)
					back += "«" + p.Name + "»"
				} else {
					back += p.Text
				}
			}
			if fmt.Sprint(names) != fmt.Sprint(want) || back != rest {
				t.Fatalf("%s: %q\n got %v %q\nwant %v %q", engine, text, names, back, want, rest)
			}
		})
	}
}

// TestSQLNeverPanics: any text is cut or refused, and nothing of it is lost but a last
// semicolon and a comment behind it.
func TestSQLNeverPanics(t *testing.T) {
	for _, engine := range []string{Postgres, MySQL} {
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.StringOf(rapid.SampledFrom([]rune(`:ab1 '"$?-*/\;#!M`+"\n`é"))).Draw(t, "text")
			parts, err := parseSQL(engine, text)
			if err != nil {
				return
			}
			back := ""
			for _, p := range parts {
				if p.Name != "" {
					back += ":"
				}
				back += p.Text + p.Name
			}
			if !strings.Contains(text, ";") && !strings.HasPrefix(text, back) {
				t.Fatalf("%q became %q", text, back)
			}
		})
	}
}

// TestSQLWords: single cases, each of which a simpler reading gets wrong.
func TestSQLWords(t *testing.T) {
	for _, c := range []struct{ engine, text, want string }{
		{Postgres, "SELECT :a::date", "a"},
		{Postgres, "SELECT x::date", ""},
		{Postgres, "SELECT E'\\':a', :b", "b"},
		{Postgres, "SELECT '\\', :b", "b"}, // a backslash is a character
		{MySQL, "SELECT '\\', :b, '", ""},  // it escapes
		{Postgres, "SELECT xe'\\', :b --'", "b"},
		{Postgres, "SELECT 5--3 :a\n, :b", "b"},
		{MySQL, "SELECT 5--3, :a", "a"},
		{MySQL, "SELECT # :a\n:b", "b"},
		{Postgres, "SELECT 5 # 3, :b", "b"},
		{MySQL, "SELECT /* /* */ :b", "b"},
		{MySQL, "SELECT @x := 1, :b", "b"},
		{Postgres, "SELECT f(a := :b)", "b"},
		{Postgres, "SELECT $a1$ :x $a1$, :b", "b"},
		{Postgres, "SELECT a$1 || :b", "b"},
		{Postgres, "SELECT '12:30'::time, :b", "b"},
		{Postgres, "SELECT :b;\n-- :c", "b"},
		{Postgres, "SELECT :b -- it's", "b"},
		{Postgres, "SELECT :b,:c,:b", "b c"},
	} {
		got, err := parseSQL(c.engine, c.text)
		if err != nil {
			t.Errorf("%s: %q: %s", c.engine, c.text, err)
		} else if names := strings.Join(got.Names(), " "); names != c.want {
			t.Errorf("%s: %q: got %q, want %q", c.engine, c.text, names, c.want)
		}
	}
}
