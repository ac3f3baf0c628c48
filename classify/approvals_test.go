package classify_test

import "testing"

// What a person decides about money needs the approvals of the policy as well: by what
// was asked for, or by what happened, whichever is more.
func TestApprovalsOfReviews(t *testing.T) {
	ours := func(amount, currency string) string {
		return "op-1,k-1,charge,o-1,pending,1," + amount + "," + currency + ",1,,,,p,,,2026-11-29T12:00:00Z,\n"
	}
	theirs := func(amount, currency string) string {
		return "ch-1,op-1,k-1,charge,1," + amount + "," + currency + ",2026-11-29T12:00:01Z\n"
	}
	for name, c := range map[string]struct{ operation, result, queue, want string }{
		"asked for more":         {ours("100.01", "EUR"), theirs("6.00", "EUR"), "review", "2"},
		"happened with more":     {ours("5.00", "EUR"), theirs("100.01", "EUR"), "review", "2"},
		"both below":             {ours("100.00", "EUR"), theirs("99.00", "EUR"), "review", ""},
		"currency without limit": {ours("5.00", "EUR"), theirs("5.00", "USD"), "review", "2"},
		"amount unreadable":      {ours("five", "EUR"), theirs("5.00", "EUR"), "review", "2"},
		"absent":                 {ours("100.01", "EUR"), "", "requeue", "2"},
		"absent, below":          {ours("100.00", "EUR"), "", "requeue", "0"},
		"correct":                {ours("100.01", "EUR"), theirs("100.01", "EUR"), "confirm", ""},
		// The other operation of the set is the large one: the item may show either.
		"undecided set": {ours("5.00", "EUR"), "ch-1,op-1,k-2,charge,1,5.00,EUR,2026-11-29T12:00:01Z\n" +
			"ch-2,op-2,k-1,charge,1,900.00,EUR,2026-11-29T12:00:01Z\n", "review", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			more := ""
			if name == "undecided set" {
				more = "op-2,k-2,charge,o-2,pending,1,900.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
			}
			items := judge(t, "", c.operation+more, c.result)
			for id, it := range items {
				if id != "op-0" && (it["queue"] != c.queue || it["approvals"] != c.want) {
					t.Errorf("%s %s/%s in %s needs %q approvals, want %q in %s", id, it["class"], it["reason"], it["queue"], it["approvals"], c.want, c.queue)
				}
			}
			if len(items) == 0 {
				t.Error("no item")
			}
		})
	}
}

// Advice never tells to send what would move money twice, nor an older version over a
// newer one.
func TestAdviceIsHarmless(t *testing.T) {
	pair := "op-1,k-1,charge,o-1,pending,2,5.00,EUR,1,,,,p,,,2026-11-29T12:00:00Z,\n"
	other := "ch-1,op-1,k-1,charge,2,6.00,EUR,2026-11-29T12:00:01Z\n"
	newer := "ch-1,op-1,k-1,charge,3,6.00,EUR,2026-11-29T12:00:01Z\n"
	const again = "amount: the operation is right, have the result corrected; sent again it would be a second effect"
	const ahead = "amount: the operation is right, but the result is newer: find out who changed it, and do not send the older version over it; version: the result is right, correct it locally"
	for _, c := range []struct{ risk, effect, want string }{
		{"none", other, "amount: the operation is right, send it again"},
		{"customer-visible", other, "amount: the operation is right, send it again"},
		{"financial", other, again},
		{"irreversible", other, again},
		{"regulated", other, again},
		{"none", newer, ahead},
		{"financial", newer, ahead},
	} {
		if got := judge(t, "    risk: "+c.risk+"\n", pair, c.effect)["op-1"]["advice"]; got != c.want {
			t.Errorf("risk %s, %s: %q, want %q", c.risk, c.effect, got, c.want)
		}
	}
}
