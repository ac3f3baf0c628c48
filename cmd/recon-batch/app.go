package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/fail"
)

// newApp wires the commands. Everything that the library decides on its own is
// switched off: its exits, its help on a wrong flag, its suggestions on stdout.
func newApp(s *session) *cli.App {
	app := &cli.App{
		Name:     "recon-batch",
		HelpName: "recon-batch",
		Usage:    "prove that every intended operation happened, once, with the right data",
		Description: `A run reads a job file and the files of both sides, gives every row exactly one
verdict, and writes queues and a report. It proposes; it never acts.

Two files and no job yet:
   recon-batch quick orders.csv transactions.csv

First steps with a job:
   recon-batch init job.yaml
   recon-batch validate job.yaml
   recon-batch run --business-date 2026-11-29 job.yaml`,
		CustomAppHelpTemplate:  appHelp,
		Commands:               commands(s),
		Flags:                  []cli.Flag{cli.HelpFlag}, // the library leaves it out beside a command named help
		Writer:                 s.stdout,                 // help that was asked for is a result
		ErrWriter:              s.stderr,
		Reader:                 s.stdin,
		HideVersion:            true,
		HideHelpCommand:        true,
		ExitErrHandler:         func(*cli.Context, error) {}, // finish decides
		UseShortOptionHandling: false,
	}
	app.Action = s.group(app.Commands, "recon-batch")
	app.OnUsageError = s.usageError
	prepare(s, app.Commands, "")
	return app
}

// commands in the order of help.
func commands(s *session) []*cli.Command {
	return []*cli.Command{
		s.quickCommand(), s.doctorCommand(), s.initCommand(), s.validateCommand(), s.planCommand(), s.coverageCommand(), s.runCommand(), s.publishCommand(), s.snapshotCommand(), s.replayCommand(), s.explainCommand(), s.recheckCommand(), s.runsCommand(), s.filesCommand(),
		s.keysCommand(), s.windowsCommand(), s.whatifCommand(), s.readinessCommand(),
		s.verifyCommand(), s.presetsCommand(), s.schemaCommand(), s.configCommand(), s.helpCommand(), s.versionCommand(),
	}
}

// prepare gives every command the same manners. path are the commands above; the
// library puts the name of the program before that of a command of the first level
// and takes the others as they are.
func prepare(s *session, list []*cli.Command, path string) {
	for _, c := range list {
		full := "recon-batch " + path + c.Name
		if path != "" {
			c.HelpName = full
		}
		c.HideHelpCommand = true
		c.OnUsageError = s.usageError
		c.CustomHelpTemplate = commandHelp
		if len(c.Subcommands) > 0 {
			c.Action = s.group(c.Subcommands, full)
			prepare(s, c.Subcommands, c.Name+" ")
		}
	}
}

// group is the action of a name that only has commands below it.
func (s *session) group(list []*cli.Command, path string) cli.ActionFunc {
	return func(c *cli.Context) error {
		var names []string
		for _, sub := range list {
			names = append(names, sub.Name)
		}
		name := c.Args().First()
		if name == "" {
			return fail.New(fail.Usage, "%s needs a command: %s", path, strings.Join(names, ", ")).
				WithHint("%s --help explains them", path)
		}
		err := fail.New(fail.Usage, "unknown command %q", name)
		if near := closest(name, names); near != "" {
			return err.WithHint("did you mean `%s %s`?", path, near)
		}
		return err.WithHint("the commands are %s", strings.Join(names, ", "))
	}
}

// usageError turns the library's text about flags into ours.
func (s *session) usageError(c *cli.Context, err error, _ bool) error {
	const unknown = "flag provided but not defined: -"
	if name, ok := strings.CutPrefix(err.Error(), unknown); ok {
		name = strings.TrimLeft(name, "-")
		e := fail.New(fail.Usage, "unknown flag --%s", name)
		if near := closest(name, flagNames(c)); near != "" {
			return e.WithHint("did you mean --%s?", near)
		}
		return e.WithHint("`%s --help` lists the flags", commandPath(c))
	}
	// The library writes flags with one dash.
	text := strings.Replace(err.Error(), "for flag -", "for --", 1)
	return fail.New(fail.Usage, "%s", text).WithHint("`%s --help` lists the flags", commandPath(c))
}

func commandPath(c *cli.Context) string {
	if c.Command != nil && c.Command.HelpName != "" {
		return c.Command.HelpName
	}
	return "recon-batch"
}

func flagNames(c *cli.Context) []string {
	names := []string{"help"}
	if c.Command != nil {
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
	}
	return names
}

// positionals returns the arguments of a command, one for each name, the last of
// which may be missing where its name is in brackets. The flag library takes
// whatever follows the first argument for arguments: a flag there would be
// ignored without a word, so it is refused.
func (s *session) positionals(c *cli.Context, names ...string) ([]string, error) {
	list := c.Args().Slice()
	// After `--` a leading minus is part of the name.
	raw := len(s.args) - len(list)
	if raw < 1 || s.args[raw-1] != "--" {
		for i, a := range list {
			if len(a) < 2 || a[0] != '-' {
				continue
			}
			if a == "--" {
				list = slices.Delete(list, i, i+1)
				break
			}
			name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
			if known := flagNames(c); !slices.Contains(known, name) {
				e := fail.New(fail.Usage, "unknown flag %s", a)
				if near := closest(name, known); near != "" {
					return nil, e.WithHint("did you mean --%s? It goes before the arguments: %s --%s … %s", near, commandPath(c), near, list[0])
				}
				return nil, e.WithHint("`%s --help` lists the flags; a file name that begins with '-' goes after `--`", commandPath(c))
			}
			return nil, fail.New(fail.Usage, "the flag %s stands after the argument %s", a, list[0]).
				WithHint("move the flag before the argument; did you mean `%s`?", moved(s.args[1:raw], list, i))
		}
	}
	least := 0
	for _, n := range names {
		if !strings.HasPrefix(n, "[") {
			least++
		}
	}
	if len(list) < least {
		return nil, fail.New(fail.Usage, "%s needs %s", strings.TrimPrefix(commandPath(c), "recon-batch "), strings.Join(names[len(list):least], " and ")).
			WithHint("usage: %s", strings.Join(append([]string{commandPath(c), "[flags]"}, names...), " "))
	}
	if len(list) > len(names) {
		return nil, fail.New(fail.Usage, "unexpected argument %q", list[len(names)]).
			WithHint("usage: %s", strings.Join(append([]string{commandPath(c), "[flags]"}, names...), " "))
	}
	for len(list) < len(names) {
		list = append(list, "")
	}
	return list, nil
}

// moved writes the command line with its flags, and the value that follows each
// of them, before the arguments.
func moved(before, list []string, first int) string {
	words := slices.Concat([]string{"recon-batch"}, before, list[first:], list[:first])
	for i, w := range words {
		words[i] = displayQuoted(w)
	}
	return strings.Join(words, " ")
}

// required checks that a flag was given, since the library's own check skips our
// messages.
func required(c *cli.Context, name, example string) (string, error) {
	v := c.String(name)
	if v == "" {
		return "", fail.New(fail.Usage, "--%s is missing", name).WithHint("for example: %s", example)
	}
	return v, nil
}

// outputFlag chooses between text for people and one JSON document.
func outputFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Value: "text", Usage: "`FORMAT` of the result: text or json"}
}

// outputMode reads --output.
func outputMode(c *cli.Context) (json bool, err error) {
	switch v := c.String("output"); v {
	case "text":
		return false, nil
	case "json":
		return true, nil
	default:
		return false, fail.New(fail.Usage, "--output %q is unknown", v).WithHint("use text or json")
	}
}
