package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/doctor"
	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/scan"
	"github.com/recon-batch/recon-batch/rules"
)

func (s *session) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "look at an unknown file: what it is, and how a job could declare it",
		ArgsUsage: "FILE",
		Description: `Tells container, encoding, dialect, header, kinds of lines, columns, damaged ids, the
totals that the file states, and which presets fit. Ends with a part of a job file
to edit. What is a guess says so and how sure it is; a run guesses nothing.

EXAMPLES
   recon-batch doctor transactions.csv.gz
   recon-batch doctor --fragment source.yaml transactions.csv.gz
   recon-batch doctor --inventory failed_jobs.csv`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "side", Usage: "the `SIDE` of the part of a job file: operations or results", DefaultText: "guessed by the columns"},
			&cli.StringFlag{Name: "fragment", Usage: "write the part of a job file to `FILE` instead ('-': that alone, to stdout)"},
			&cli.BoolFlag{Name: "inventory", Usage: "count types, states, money and keys of a job table, and say where to start"},
			outputFlag(),
		},
		Action: s.doctor,
	}
}

func (s *session) doctor(c *cli.Context) error {
	args, asJSON, err := s.call(c, "FILE")
	if err != nil {
		return err
	}
	opt := doctor.Options{Side: rules.Side(c.String("side"))}
	if opt.Side != "" && opt.Side != rules.Operations && opt.Side != rules.Results {
		return fail.New(fail.Usage, "--side %q is unknown", opt.Side).WithHint("use operations or results")
	}
	if c.Bool("inventory") {
		return s.inventory(c, args[0], asJSON)
	}
	r, err := doctor.Look(c.Context, args[0], opt)
	if err != nil {
		return err
	}
	forPeople(r)
	switch to := c.String("fragment"); {
	case to == "-" && r.Fragment != "":
		s.printf("%s", r.Fragment)
		return nil
	case to != "" && r.Fragment != "":
		if err := s.writeNew(to, r.Fragment); err != nil {
			return err
		}
		r.Fragment = ""
	}
	if asJSON {
		if err := s.writeJSON(r); err != nil {
			return err
		}
	} else {
		var text bytes.Buffer
		if err := doctor.Text(&text, r, s.color(s.stdout)); err != nil {
			return printed(err)
		}
		if _, err := s.stdout.Write(text.Bytes()); err != nil {
			return printed(err)
		}
	}
	if r.Problem != "" {
		s.ending = fail.Input
	}
	return nil
}

// forPeople masks card numbers, IBANs and secrets in examples from a file that nobody has
// declared yet. The fragment of a job file is for a program, and has the words of the file.
func forPeople[T any](found *T) {
	scan.Walk(reflect.ValueOf(found).Elem(), func(_ reflect.Value, f *reflect.StructField) bool {
		return f != nil && (f.Name == "Fragment" || strings.HasSuffix(f.Name, "SHA256"))
	})
}

// writeNew writes a file that must not exist.
func (s *session) writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fail.New(fail.Usage, "%s exists already", path).WithHint("name another file, or remove it first")
	}
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fail.Wrap(fail.Resources, err, "%s cannot be written", path)
	}
	s.notef("wrote %s\n", path)
	return nil
}

func (s *session) inventory(c *cli.Context, path string, asJSON bool) error {
	v, err := doctor.TakeInventory(c.Context, path, doctor.Options{})
	if err != nil {
		return err
	}
	forPeople(v)
	if asJSON {
		return s.writeJSON(v)
	}
	var text bytes.Buffer
	if err := doctor.InventoryText(&text, v, s.color(s.stdout)); err != nil {
		return printed(err)
	}
	_, err = s.stdout.Write(text.Bytes())
	return printed(err)
}
