package report

import (
	"fmt"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// withheldText names the queues that are not written, "" where all are.
func withheldText(s *Summary) string {
	list := s.Outcome.WithheldQueues
	switch n := len(list); n {
	case 0:
		return ""
	case 1:
		return list[0] + " is not written; the other queues are"
	case 4:
		return "confirm, requeue, compensate and close are not written; review is"
	default:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1] + " are not written; the other queues are"
	}
}

// modeText says how much of the proposals is to be acted on, "" where all of it is.
func modeText(s *Summary) string {
	items, observed := int64(0), int64(0)
	for _, p := range s.Proposals {
		items += p.Items
		observed += p.ObserveOnly
	}
	of := fmt.Sprintf("%s of %s are marked observe_only, nobody is to act on them", grouped(fmt.Sprint(observed)), count(items, "proposal"))
	switch {
	case s.Mode == string(rules.Observe):
		return "observation mode: every queue item is marked observe_only"
	case s.Series != "":
		return "pilot " + shown(s.Series) + ": " + of
	case s.Mode == string(rules.PilotMode):
		return "pilot: " + of
	case observed > 0:
		return "the policy enforces a part: " + of
	}
	return ""
}
