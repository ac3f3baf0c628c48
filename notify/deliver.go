package notify

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/secret"
	"github.com/recon-batch/recon-batch/rules"
)

// Patience is how long all places together may take.
const Patience = 10 * time.Second

// courier delivers one ending.
type courier struct {
	ending   *Ending
	patience time.Duration
	roots    *x509.CertPool // nil: those of the system
}

// task is one delivery.
type task struct {
	what string // in notes: "metrics to the Pushgateway"
	do   func(context.Context) error
}

// Deliver sends metrics and notifications to every place that the job names, side by
// side, and returns one line for each that failed. It comes back within Patience, or
// sooner when ctx ends.
func Deliver(ctx context.Context, e *Ending) []string {
	return (&courier{ending: e, patience: Patience}).deliver(ctx)
}

// Declared tells whether the job names any place.
func Declared(job *rules.Job) bool { return job.Outputs.Metrics != nil || len(job.Notify) > 0 }

func (c *courier) deliver(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	tasks := c.tasks()
	ends := make([]chan error, len(tasks))
	for i, t := range tasks {
		ends[i] = make(chan error, 1)
		go func() {
			defer func() {
				// What is told must not end a run that is published.
				if p := recover(); p != nil {
					ends[i] <- fmt.Errorf("internal error: %v", p)
				}
			}()
			ends[i] <- t.do(ctx)
		}()
	}
	var notes []string
	for i, t := range tasks {
		var err error
		select {
		case err = <-ends[i]:
		case <-ctx.Done():
			// A file system that hangs does not hear of the end of time.
			select {
			case err = <-ends[i]:
			case <-time.After(100 * time.Millisecond):
				err = ctx.Err()
			}
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s: not delivered: %s", t.what, c.said(err)))
		}
	}
	return notes
}

// said is an error in one line.
func (c *courier) said(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return "no answer within " + c.patience.String()
	case errors.Is(err, context.Canceled):
		return "the run was stopped"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

func (c *courier) tasks() []task {
	var list []task
	job := c.ending.Job
	if m := job.Outputs.Metrics; m != nil {
		if m.Textfile != "" {
			list = append(list, task{"metrics to the textfile", c.textfile})
		}
		if m.Pushgateway != nil {
			list = append(list, task{"metrics to the Pushgateway", c.pushgateway})
		}
		if m.OTLP != nil {
			list = append(list, task{"metrics by OTLP", c.otlp})
		}
	}
	if c.ending.Again {
		return list
	}
	for i := range job.Notify {
		n := &job.Notify[i]
		if !c.ending.Wanted(n) {
			continue
		}
		send := map[string]func(context.Context, *rules.Notification) error{rules.ToWebhook: c.webhook, rules.ToSlack: c.slack, rules.ToSMTP: c.mail}[n.To]
		list = append(list, task{fmt.Sprintf("notification %d by %s", i+1, n.To), func(ctx context.Context) error { return send(ctx, n) }})
	}
	return list
}

// secret reads a secret; "" where none is declared. Neither its text nor what reading
// it says of it reaches a note.
func (c *courier) secret(s rules.Secret, what string) (string, error) {
	return secret.Text(s, c.ending.BaseDir, what)
}
