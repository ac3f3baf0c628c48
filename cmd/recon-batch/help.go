package main

// The library's templates, calmer: usage, what it does, flags.
const (
	appHelp = `{{.Name}}: {{.Usage}}

USAGE
   {{.Name}} COMMAND [flags] [arguments]

{{.Description}}

COMMANDS{{range .VisibleCommands}}
   {{printf "%-10s" .Name}} {{.Usage}}{{end}}

   {{.Name}} COMMAND --help explains one of them; {{.Name}} help exit-codes the exit statuses.
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
