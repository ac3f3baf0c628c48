package classify_test

import (
	"fmt"
	"testing"
	"time"
)

// A critical error is for a person at once, whether the record says so itself or its code
// does; all others have the time of the policy. What is correct is not urgent.
func TestCriticalIsDueAtOnce(t *testing.T) {
	const asOf = "2026-11-30T04:00:00Z"
	inTime := fmt.Sprint(micro(asOf) + (48 * time.Hour).Microseconds())
	at := fmt.Sprint(micro(asOf))
	operation := func(state, class, code string) string {
		return "op-1,k-1,charge,o-1," + state + ",1,5.00,EUR,1," + class + "," + code + ",,p,,,2026-11-29T12:00:00Z,2026-11-29T12:00:01Z\n"
	}
	equal := "ch-1,op-1,k-1,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n"
	differs := "ch-1,op-1,k-1,charge,1,6.00,EUR,2026-11-29T12:00:01Z\n"
	for _, c := range []struct{ name, operation, result, want string }{
		{"the class", operation("pending", "critical", ""), "", "review " + at},
		{"the code", operation("pending", "", "fraud"), "", "review " + at},
		{"the class wins", operation("pending", "permanent", "fraud"), "", "review " + inTime},
		{"another code", operation("pending", "", "declined"), "", "review " + inTime},
		{"an effect that differs", operation("pending", "critical", ""), differs, "review " + at},
		{"correct, but in no state to confirm", operation("parked", "critical", ""), equal, "review " + inTime},
		{"transient", operation("pending", "transient", ""), "", "requeue "},
	} {
		it := judge(t, "", c.operation, c.result)["op-1"]
		if got := it["queue"] + " " + it["due_us"]; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What the retry budget leaves to a person has a time to reply, as every review has.
func TestDeferredHasADueDate(t *testing.T) {
	var operations string
	for i := range 3 {
		operations += fmt.Sprintf("op-%[1]d,k-%[1]d,charge,o-%[1]d,pending,1,5.0%[1]d,EUR,1,,,,p,,,2026-11-28T04:10:00Z,\n", i+1)
	}
	items := judge(t, "limits: {retry_budget: {rows: 1, per: 1h}}\n", operations, "")
	deferred := 0
	for id, it := range items {
		if it["deferred"] != "true" {
			continue
		}
		deferred++
		if want := fmt.Sprint(micro("2026-12-02T04:00:00Z")); it["queue"] != "review" || it["due_us"] != want {
			t.Errorf("%s in %s is due at %q, want %q", id, it["queue"], it["due_us"], want)
		}
	}
	if deferred != 2 {
		t.Errorf("%d items are deferred, want 2", deferred)
	}
}
