package rules

import "time"

// PilotTimes are the bounds of the pilot's created_at, half-open, resolved for the
// business date; nil where the bound, or the pilot, is not declared. The error has
// class fail.Usage.
func (b *Bound) PilotTimes() (from, until *time.Time, err error) {
	if b.Pilot == nil {
		return nil, nil, nil
	}
	for _, x := range []struct {
		text Template
		what string
		into **time.Time
	}{{b.Pilot.From, "pilot.from", &from}, {b.Pilot.Until, "pilot.until", &until}} {
		if x.text == "" {
			continue
		}
		at, err := b.instant(x.text, b.Date, "", x.what)
		if err != nil {
			return nil, nil, err
		}
		*x.into = &at
	}
	return from, until, nil
}
