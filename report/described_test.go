package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

// The report says of each type with items what the job says of its effect, in every form
// for people; types of which it says nothing are left out.
func TestDescribed(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Types = map[string]rules.TypePolicy{
		"charge": {Type: "charge", Describe: rules.Describe{Effect: "the card was <b>charged</b>", Truth: "psp", ClosesWhen: "a settled row"}},
		"refund": {Type: "refund", Describe: rules.Describe{Effect: "no item is about it"}},
	}
	s := w.load().build()
	want := []Described{{Type: "charge", Effect: "the card was <b>charged</b>", Truth: "psp", ClosesWhen: "a settled row", Items: 7}}
	if !slices.Equal(s.Described, want) {
		t.Fatalf("%+v, want %+v", s.Described, want)
	}
	page, err := HTML(s)
	if err != nil {
		t.Fatal(err)
	}
	const cells = `<th scope="row">charge</th><td class="n">7</td><td class="words">the card was &lt;b&gt;charged&lt;/b&gt;</td><td class="words">psp</td><td class="words">a settled row</td>`
	if !strings.Contains(string(page), cells) {
		t.Error("the page does not describe the effect")
	}
	if text := Markdown(s); !strings.Contains(text, "What closes the work (showing 1 of 1):") || !strings.Contains(text, "the truth is psp; closes when: a settled row") || strings.Contains(text, "<b>") {
		t.Errorf("the summary does not describe the effect:\n%s", text)
	}
}

// A type without a policy of its own has the description of all types.
func TestDescribedByDefault(t *testing.T) {
	w := newWorld(t)
	w.in.Bound.Types = map[string]rules.TypePolicy{"*": {Describe: rules.Describe{ClosesWhen: "the desk says so"}}, "refund": {Type: "refund"}}
	s := w.load().build()
	if want := []Described{{Type: "*", ClosesWhen: "the desk says so", Items: 7}}; !slices.Equal(s.Described, want) {
		t.Errorf("%+v, want %+v", s.Described, want)
	}
}
