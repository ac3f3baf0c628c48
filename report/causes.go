package report

import (
	"context"
	"slices"

	"github.com/recon-batch/recon-batch/internal/duck"
)

// causes fills what holds the rest, and what the exceptions have in common.
func causes(ctx context.Context, db *duck.DB, in *Input, red *redactor, s *Summary) (err error) {
	if s.Holds, err = holds(ctx, db, in, red); err != nil {
		return err
	}
	s.Clusters, err = clusters(ctx, db, in, red, s.Exceptions.Of)
	return err
}

// courses fills how the operations went on their way.
func courses(ctx context.Context, db *duck.DB, in *Input, s *Summary) (err error) {
	var byType []Confirmation
	if s.Latency, byType, err = confirmationTimes(ctx, db, in); err != nil {
		return err
	}
	if s.Work != nil && timed(in.Bound.Job) {
		s.Work.Confirmation, s.Work.ConfirmationOf = byType, oneIn(in)
	}
	s.Retries, err = retryOutcomes(ctx, db, in)
	return err
}

// holdLines and clusterLines are the parts of the summary for chat, one line each.
func holdLines(s *Summary) (out []string) {
	for _, h := range s.Holds {
		line := "- " + markdownEscape(visible(holdText(h)))
		if h.Command != "" && !slices.Contains(again, h.Code) {
			line += ": `" + h.Command + "`"
		}
		out = append(out, line)
	}
	return out
}

func clusterLines(s *Summary) (out []string) {
	for _, c := range s.Clusters {
		line := c.Sentence
		if m := moneyText(c.Amounts, 3); m != "" {
			line += " (" + m + ")"
		}
		out = append(out, "- "+markdownEscape(visible(line)))
	}
	return out
}
