package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/internal/fail"
	"github.com/recon-batch/recon-batch/internal/scan"
)

// exitCode is one line of the table of exit statuses. docs/exit-codes.md and
// `help exit-codes` come from it.
type exitCode struct {
	class     fail.Class
	name      string // error.name in JSON
	meaning   string
	published string
	next      string
}

var exitCodes = []exitCode{
	{fail.OK, "ok", "completed, all gates pass; there may be work in the queues", "yes", "act on the queues"},
	{fail.Internal, "internal", "a bug in recon-batch", "no", "report it with the message"},
	{fail.Usage, "usage", "wrong command line or job file", "no", "correct what the message names"},
	{fail.Gate, "gate", "completed and published, but a gate failed (runs diff: the runs differ)", "yes", "read the report"},
	{fail.Input, "input", "input not ready, incomplete, or a control total is wrong", "no", "get the files whole, run again"},
	{fail.Temporary, "temporary", "temporary failure outside, after retries", "no", "run again later"},
	{fail.Conflict, "conflict", "another run holds the job and date, or somebody else was first", "no", "wait, run again"},
	{fail.Integrity, "integrity", "numbers do not add up, or a digest or the chain of runs is wrong", "no", "stop and look; page somebody"},
	{fail.Resources, "resources", "disk, memory or time do not suffice", "no", "give more, run again"},
	{fail.Policy, "policy", "refused by policy: blast radius, a canary, what was never observed, or nothing to match", "report and review queue; acting queues are withheld", "let a person look"},
	{fail.Interrupt, "interrupted", "ended by SIGINT", "no", "run again"},
	{fail.Terminate, "terminated", "ended by SIGTERM", "no", "run again"},
}

func exitName(c fail.Class) string {
	for _, e := range exitCodes {
		if e.class == c {
			return e.name
		}
	}
	return "unknown"
}

// exitTable renders the table as Markdown.
func exitTable() string {
	var b strings.Builder
	b.WriteString("| code | name | meaning | published? | what to do |\n|---|---|---|---|---|\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", e.class, e.name, e.meaning, e.published, e.next)
	}
	return b.String()
}

// errorObject is the last member of every JSON document of a call that did not
// end with 0.
type errorObject struct {
	Code    fail.Class `json:"code"`
	Name    string     `json:"name"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}

func errorOf(err error) *errorObject {
	o := &errorObject{Code: fail.ClassOf(err), Message: scan.Text(err.Error())}
	o.Name = exitName(o.Code)
	if e, ok := errors.AsType[*fail.Error](err); ok {
		o.Hint = scan.Text(e.Hint)
	}
	return o
}

// messageText sets a cause of several lines, such as all faults of a job file, apart
// from the sentence about it.
func messageText(err error, message string) string {
	e, ok := err.(*fail.Error)
	if !ok || e.Err == nil || !strings.Contains(e.Err.Error(), "\n") {
		return message
	}
	return e.Msg + ":\n\n" + e.Err.Error()
}

// finish is the one place where an error becomes a message, a hint and an exit
// status.
func (s *session) finish(ctx context.Context, err error) int {
	if err == nil && s.broken != nil {
		err = fail.Wrap(fail.Resources, s.broken, "stdout cannot be written")
	}
	if err == nil {
		return int(s.ending)
	}
	if ctx.Err() != nil { // whatever the statement that was stopped said
		err = context.Cause(ctx)
	}
	o := errorOf(err)
	if o.Code == fail.Internal && o.Hint == "" {
		o.Hint = "this is a bug: please report it with this message and the output of `recon-batch version`"
	}
	s.notef("recon-batch: %s\n", messageText(err, o.Message))
	if o.Hint != "" {
		s.notef("hint: %s\n", o.Hint)
	}
	if s.wantsJSON() && !s.document {
		if werr := s.writeJSON(struct {
			SchemaVersion int          `json:"schema_version"`
			Error         *errorObject `json:"error"`
		}{1, o}); werr != nil {
			s.notef("recon-batch: %s\n", werr)
		}
	}
	return int(o.Code)
}
