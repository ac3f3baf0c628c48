package rules

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// stateSet is a default set of states: those of a register (design.md, section 4),
// or of a recovery queue.
type stateSet struct {
	all, final  []string
	transitions map[string][]string
	targets     map[string]string
}

var defaultSets = map[Profile]*stateSet{
	Register: {
		all: []string{
			"pending", "processing", "awaiting_confirmation", "confirmed", "retry_scheduled", "manual_review", "compensated",
			"not_applicable", "cancelled", "superseded",
		},
		final: []string{"confirmed", "compensated", "not_applicable", "cancelled", "superseded"},
		transitions: map[string][]string{
			"confirmed":       {"pending", "processing", "awaiting_confirmation", "retry_scheduled", "manual_review"},
			"retry_scheduled": {"pending", "processing", "awaiting_confirmation", "retry_scheduled"},
			"not_applicable":  {"pending", "processing", "awaiting_confirmation", "retry_scheduled"},
			"compensated":     {"confirmed", "manual_review", "awaiting_confirmation", "processing", "pending", "retry_scheduled"},
		},
		targets: map[string]string{"confirm": "confirmed", "requeue": "retry_scheduled", "close": "not_applicable", "compensate": "compensated"},
	},
	RecoveryQueue: {
		all:   []string{"quarantined", "ready_for_replay", "succeeded", "ignored"},
		final: []string{"succeeded", "ignored"},
		transitions: map[string][]string{
			"succeeded":        {"quarantined", "ready_for_replay"},
			"ready_for_replay": {"quarantined"},
			"ignored":          {"quarantined", "ready_for_replay"},
		},
		targets: map[string]string{"confirm": "succeeded", "requeue": "ready_for_replay", "close": "ignored"},
	},
}

// states reads the local state machine. What is not declared follows from the default
// set of the profile, through the map where there is one.
func (d *decoder) states(o *object, profile Profile) States {
	set := defaultSets[profile]
	s := States{Declared: o != nil, All: slices.Clone(set.all)}
	if n := o.node("map"); n != nil {
		if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
			d.fail("states.map", "name the states of the export, or leave the key out", "states.map is empty")
		}
		s.All = nil
		s.Map = map[string]string{}
		d.free(n, "states.map", func(own string, _, v *yaml.Node, p string) {
			ours, ok := d.scalar(v, p)
			if !ok {
				return
			}
			if !slices.Contains(set.all, ours) {
				d.failAt(at(v), p, didYouMean(ours, set.all), "%s: %q is no state of the default set", p, ours)
				return
			}
			s.All = append(s.All, own)
			s.Map[own] = ours
		})
	}
	if o.has("all") {
		s.All = o.texts("all")
		for _, own := range sortedKeys(s.Map) {
			if !slices.Contains(s.All, own) {
				d.fail(join("states.map", own), didYouMean(own, s.All), "%s: %q is not in `all`", "states.map", own)
			}
		}
	}
	m := &machine{d: d, states: &s, set: set}
	if s.Final = m.own(set.final...); o.has("final") {
		s.Final = o.texts("final")
		for i, x := range s.Final {
			m.known(x, index("states.final", i))
		}
	}
	m.transitions(o)
	m.targets(o)
	return s
}

// machine derives a state machine from a default set.
type machine struct {
	d      *decoder
	states *States
	set    *stateSet
}

// own are the job's states that stand for states of the default set, in the order of
// All.
func (m *machine) own(ours ...string) []string {
	var out []string
	for _, x := range m.states.All {
		name := x
		if m.states.Map != nil {
			name = m.states.Map[x]
		}
		if slices.Contains(ours, name) {
			out = append(out, x)
		}
	}
	return out
}

func (m *machine) known(state, path string) {
	if !slices.Contains(m.states.All, state) {
		m.d.fail(path, didYouMean(state, m.states.All), "%s: %q is no state", path, state)
	}
}

const transitionForm = "write {from: [pending], owner: reconciliation, condition: a settled result under the same key}"

func (m *machine) transitions(o *object) {
	s, d := m.states, m.d
	s.Transitions = map[string][]string{}
	n := o.node("transitions")
	if n == nil {
		for ours, from := range m.set.transitions {
			for _, to := range m.own(ours) {
				if from := m.own(from...); len(from) > 0 {
					s.Transitions[to] = from
				}
			}
		}
		return
	}
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		o.fail("transitions", "name at least one, or leave the key out", "%s is empty", "states.transitions")
	}
	d.free(n, "states.transitions", func(to string, k, v *yaml.Node, p string) {
		if v.Kind != yaml.MappingNode {
			d.failAt(at(k), p, transitionForm, "%s names neither its owner nor its condition", p)
			return
		}
		m.known(to, p)
		t := d.object(v, transitionShape, p)
		if t == nil {
			return
		}
		x := Transition{To: to, From: t.texts("from"), Owner: t.text("owner", ""), Condition: t.text("condition", "")}
		for i, from := range x.From {
			m.known(from, index(t.at("from"), i))
		}
		s.Transitions[to] = x.From
		s.Named = append(s.Named, x)
	})
	slices.SortFunc(s.Named, func(a, b Transition) int {
		if a.To < b.To {
			return -1
		}
		return 1
	})
}

// targets are where proposals lead to. A proposal whose state the job does not have
// has none, and so no legal transition.
func (m *machine) targets(o *object) {
	s, d := m.states, m.d
	s.Targets = map[string]string{}
	if n := o.node("targets"); n != nil {
		d.free(n, "states.targets", func(proposal string, k, v *yaml.Node, p string) {
			state, ok := d.scalar(v, p)
			if !slices.Contains(actingQueues, proposal) {
				d.failAt(at(k), p, didYouMean(proposal, actingQueues), "%q is no acting queue", proposal)
				return
			}
			if !ok {
				return
			}
			if !slices.Contains(s.All, state) {
				d.failAt(at(v), p, didYouMean(state, s.All), "%s: %q is no state", p, state)
				return
			}
			s.Targets[proposal] = state
			if len(s.Transitions[state]) == 0 && !d.faulty("states.transitions") {
				d.warn(p, "declare the transition under `transitions:`", "no transition leads to %q, so that nothing gets the proposal %s", state, proposal)
			}
		})
	}
	for _, proposal := range sortedKeys(m.set.targets) {
		if _, ok := s.Targets[proposal]; ok || d.faulty(join("states.targets", proposal)) {
			continue
		}
		switch own := m.own(m.set.targets[proposal]); len(own) {
		case 0:
		case 1:
			s.Targets[proposal] = own[0]
		default:
			d.fail("states.map", "add `targets: {"+proposal+": "+own[0]+"}`", "%q and %q both stand for %s, so that it is open where %s leads to", own[0], own[1], m.set.targets[proposal], proposal)
		}
	}
	if to, ok := s.Targets["requeue"]; ok && slices.Contains(s.Final, to) {
		p := join("states.targets", "requeue")
		d.fail(p, "name the state of operations that wait for their next attempt", "requeue leads to %q, which is final", to)
	}
}
