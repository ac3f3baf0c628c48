package duck

import "strings"

// Ident quotes a name for use as an identifier. A NUL cannot be in one.
func Ident(name string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(name, "\x00", ""), `"`, `""`) + `"`
}

// Literal quotes a text for the few places where the engine cannot bind a value:
// settings, file names of views, and lists of names that we made ourselves.
func Literal(text string) string {
	return `'` + strings.ReplaceAll(strings.ReplaceAll(text, "\x00", ""), `'`, `''`) + `'`
}
