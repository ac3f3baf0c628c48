package main

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

const helpWidth = 80 // columns of a terminal

// clutter is what the library adds to a flag and nobody needs: that one that may be
// repeated may be, which its text says, and that a switch is off where it is not given.
var clutter = regexp.MustCompile(` \[ --.*? \]| \(default: false\)`)

func init() {
	flag := cli.FlagStringer
	cli.FlagStringer = func(f cli.Flag) string { return clutter.ReplaceAllString(flag(f), "") }
	plain := cli.HelpPrinter
	cli.HelpPrinter = func(w io.Writer, templ string, data any) {
		var b bytes.Buffer
		plain(&b, templ, data)
		// The printer of the library returns no error, and there is nobody to tell: help
		// is the last thing that such a call writes, and a reader who is gone wants none.
		_, _ = io.WriteString(w, wrapHelp(b.String(), helpWidth))
	}
}

// paragraphs are the lines of a text, where those of a paragraph that is too wide are
// one line. What is indented stands on lines of its own.
func paragraphs(text string, width int) []string {
	var out []string
	from := 0
	end := func() {
		if slices.ContainsFunc(out[from:], func(l string) bool { return utf8.RuneCountInString(l) > width }) {
			out = append(out[:from], strings.Join(out[from:], " "))
		}
		from = len(out)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if line != "" && line[0] != ' ' {
			out = append(out, line)
			continue
		}
		end()
		out = append(out, line)
		from = len(out)
	}
	end()
	return out
}

// wrapHelp breaks lines that are wider. What follows stands below the text of the
// line, that of a flag or command below its description. A command line goes on
// behind a backslash, so that it can still be copied.
func wrapHelp(text string, width int) string {
	var b strings.Builder
	for _, line := range paragraphs(text, width) {
		if utf8.RuneCountInString(line) <= width {
			b.WriteString(line + "\n")
			continue
		}
		rest := strings.TrimLeft(line, " ")
		indent, end := len(line)-len(rest), ""
		if strings.HasPrefix(rest, "recon-batch ") && indent > 0 {
			end = " \\"
		}
		lead := strings.Repeat(" ", indent)
		if i := strings.Index(rest, "  "); i > 0 && indent > 0 { // name and description
			words := strings.TrimLeft(rest[i:], " ")
			indent = utf8.RuneCountInString(line) - utf8.RuneCountInString(words)
			lead, rest = strings.TrimSuffix(line, words), words
		} else if end != "" {
			indent += 3
		}
		n := utf8.RuneCountInString(lead)
		b.WriteString(lead)
		for i, word := range strings.Fields(rest) {
			w := utf8.RuneCountInString(word)
			switch {
			case i == 0:
			case n+1+w+len(end) > width:
				b.WriteString(end + "\n" + strings.Repeat(" ", indent))
				n = indent
			default:
				b.WriteByte(' ')
				n++
			}
			b.WriteString(word)
			n += w
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The library's templates, calmer: usage, what it does, flags.
const (
	appHelp = `{{.Name}}: {{.Usage}}

USAGE
   {{.Name}} COMMAND [flags] [arguments]

{{.Description}}

COMMANDS{{range .VisibleCommands}}
   {{printf "%-10s" .Name}} {{.Usage}}{{end}}

   {{.Name}} COMMAND --help    explains one of them
   {{.Name}} help exit-codes   lists the exit statuses
`
	commandHelp = `{{.HelpName}}: {{.Usage}}

USAGE
   {{if .UsageText}}{{.UsageText}}{{else}}{{.HelpName}}{{if .VisibleCommands}} COMMAND{{end}}{{if .VisibleFlags}} [flags]{{end}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}{{end}}
{{if .Description}}
{{.Description}}
{{end}}{{if .VisibleCommands}}
COMMANDS{{range .VisibleCommands}}
   {{printf "%-10s" .Name}} {{.Usage}}{{end}}
{{end}}{{if .VisibleFlags}}
FLAGS{{range .VisibleFlags}}
   {{.}}{{end}}
{{end}}`
)
