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
			t.windowTime("expected", p.Expected, p.ExpectedDays)
			t.windowTime("deadline", p.Deadline, p.DeadlineDays)
			t.text("calendar", p.Calendar)
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
	t.sub("errors", func(t *tree) {
		for _, class := range []ErrorClass{ErrorTransient, ErrorPermanent, ErrorAmbiguous, ErrorCritical} {
			var codes []string
			for _, code := range sortedKeys(p.Errors) {
				if p.Errors[code] == class {
					codes = append(codes, code)
				}
			}
			t.texts(string(class), codes)
		}
	})
	t.text("risk", p.Risk)
	t.compensation(p.CompensateWith, p.CompensateParameters)
	if u := p.Unexpected; u != nil {
		t.sub("unexpected", func(t *tree) {
			t.text("owner", u.Owner)
			t.compensation(u.CompensateWith, u.CompensateParameters)
		})
	}
	if a := p.Approvals; a != nil {
		t.sub("approvals", func(t *tree) {
			textMap(t, "over", a.Over)
			t.integer("approvers", int64(a.Approvers))
		})
	}
	textMap(t, "authority", p.Authority)
	t.text("when_overtaken", p.WhenOvertaken)
	if p.EnforceDeclared {
		t.flow("enforce", p.Enforce)
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

func (t *tree) windowTime(key string, v time.Duration, days int) {
	if days > 0 {
		t.sub(key, func(t *tree) { t.integer("business_days", int64(days)) })
		return
	}
	t.duration(key, v)
}

func (t *tree) compensation(operation string, parameters map[string]string) {
	if len(parameters) == 0 {
		t.text("compensate_with", operation)
		return
	}
	t.sub("compensate_with", func(t *tree) {
		t.text("operation", operation)
		textMap(t, "parameters", parameters)
	})
}

// extends writes which policy files were read. Their keys are written out.
func (t *tree) extends(files []PolicyFile) {
	t.list("extends", len(files), func(i int, t *tree) {
		t.text("file", files[i].Path)
		t.text("sha256", files[i].SHA256)
		t.boolean("written_out", true)
		for i := 1; t.w.comments && i < len(t.node.Content); i += 2 {
			if at, ok := t.w.job.given["extends"]; ok {
				t.node.Content[i].LineComment = t.w.said(at)
			}
		}
	})
}

func (t *tree) pilot(p *Pilot) {
	if p == nil {
		return
	}
	t.sub("pilot", func(t *tree) {
		t.text("name", p.Name)
		t.texts("types", p.Types)
		t.text("from", string(p.From))
		t.text("until", string(p.Until))
		if p.Share > 0 {
			t.text("share", formatPercent(p.Share))
		}
	})
}

func (t *tree) calendars(calendars map[string]Calendar) {
	t.sub("calendars", func(t *tree) {
		for _, name := range sortedKeys(calendars) {
			c := calendars[name]
			t.sub(name, func(t *tree) {
				t.text("zone", c.Zone)
				if len(c.Weekend) == 0 {
					t.text("weekend", "none")
				}
				var weekend []string
				for _, w := range c.Weekend {
					weekend = append(weekend, weekdayNames[w])
				}
				t.texts("weekend", weekend)
				t.texts("holidays", c.Holidays)
				if c.CutOff > 0 {
					t.text("cut_off", time.Time{}.Add(c.CutOff).Format("15:04"))
				}
			})
		}
	})
}

func (t *tree) rules(rules []PolicyRule) {
	t.list("policy", len(rules), func(i int, t *tree) {
		r := rules[i]
		t.text("rule", r.Name)
		if r.When != nil {
			t.text("when", r.When.Text)
		}
		t.text("propose", r.Propose)
		t.text("owner", r.Owner)
		t.text("because", r.Because)
	})
}

func (t *tree) releases(releases []Release) {
	t.list("releases", len(releases), func(i int, t *tree) {
		r := releases[i]
		t.text("id", r.ID)
		if r.When != nil {
			t.text("when", r.When.Text)
		}
		t.positive("attempts", int64(r.Attempts))
		t.declared("duration", r.Duration)
		t.text("until", r.Until.Format(time.RFC3339))
		t.text("by", r.By)
		t.text("approved_by", r.ApprovedBy)
		t.text("reason", r.Reason)
	})
}

func (t *tree) canaries(canaries []Canary) {
	t.list("canaries", len(canaries), func(i int, t *tree) {
		t.text("operation_id", canaries[i].OperationID)
		t.text("expect", canaries[i].Expect)
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
		textMap(t, "map", s.Map)
		t.texts("final", s.Final)
		textMap(t, "targets", s.Targets)
		t.sub("transitions", func(t *tree) {
			for _, x := range s.Named {
				t.sub(x.To, func(t *tree) {
					t.texts("from", x.From)
					t.text("owner", x.Owner)
					t.text("condition", x.Condition)
				})
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
				t.sub("by", func(t *tree) {
					for _, account := range sortedKeys(l.RetryBy) {
						t.sub(account, func(t *tree) {
							t.integer("rows", l.RetryBy[account].Rows)
							t.duration("per", l.RetryBy[account].Per)
						})
					}
				})
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
					if b.BaselineRuns > 0 {
						t.sub("baseline", func(t *tree) {
							t.integer("runs", int64(b.BaselineRuns))
							t.number("factor", b.BaselineFactor)
						})
					}
				})
			}
		})
	})
}
