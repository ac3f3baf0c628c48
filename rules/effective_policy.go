package rules

import (
	"strconv"
	"time"
)

// microseconds is a tolerance of instants as a duration.
func microseconds(text string) string {
	us, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("rules: a tolerance of " + text + " microseconds")
	}
	return formatDuration(time.Duration(us) * time.Microsecond)
}

func (t *tree) policy(p *TypePolicy) {
	if p.HasWindow {
		t.sub("window", func(t *tree) {
			t.duration("expected", p.Expected)
			t.duration("deadline", p.Deadline)
		})
	}
	t.text("effect_is", p.EffectIs)
	t.boolean("idempotent", p.Idempotent)
	t.declared("idempotency_key_ttl", p.KeyTTL)
	t.sub("retry", func(t *tree) {
		t.positive("max_attempts", int64(p.MaxAttempts))
		t.declared("max_duration", p.MaxDuration)
		t.sub("backoff", func(t *tree) {
			t.duration("initial", p.Backoff.Initial)
			t.number("factor", p.Backoff.Factor)
			t.duration("max", p.Backoff.Max)
			t.number("jitter", p.Backoff.Jitter)
		})
		t.texts("retryable", p.Retryable)
	})
	t.text("risk", p.Risk)
	t.text("compensate_with", p.CompensateWith)
	if a := p.Approvals; a != nil {
		t.sub("approvals", func(t *tree) {
			textMap(t, "over", a.Over)
			t.integer("approvers", int64(a.Approvers))
		})
	}
	t.text("owner", p.Owner)
	t.declared("reply_by", p.ReplyBy)
	t.texts("once_per", p.OncePer)
	t.declared("export_age", p.ExportAge)
	t.declared("proof_valid", p.ProofValid)
	t.sub("describe", func(t *tree) {
		t.text("effect", p.Describe.Effect)
		t.text("truth", p.Describe.Truth)
		t.text("closes_when", p.Describe.ClosesWhen)
	})
}

// states are written where the job declares some: a job without them confirms
// and closes nothing that has no state (V32).
func (t *tree) states(s *States) {
	if !s.Declared {
		return
	}
	t.sub("states", func(t *tree) {
		t.texts("all", s.All)
		t.texts("final", s.Final)
		t.sub("transitions", func(t *tree) {
			for _, to := range sortedKeys(s.Transitions) {
				t.texts(to, s.Transitions[to])
			}
		})
	})
}

func (t *tree) limits(l *Limits) {
	t.sub("limits", func(t *tree) {
		if l.RetryRows > 0 {
			t.sub("retry_budget", func(t *tree) {
				t.integer("rows", l.RetryRows)
				t.duration("per", l.RetryPer)
			})
		}
		t.sub("blast_radius", func(t *tree) {
			for _, queue := range sortedKeys(l.BlastRadius) {
				b := l.BlastRadius[queue]
				t.sub(queue, func(t *tree) {
					t.positive("rows", b.Rows)
					if b.Share > 0 {
						t.text("share", formatPercent(b.Share))
					}
					textMap(t, "amount", b.Amount)
				})
			}
		})
	})
}
