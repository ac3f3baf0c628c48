package classify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// idempotencyKey is the key as the passes see it, placeholders taken out, where a
// pass is over it alone; else as found.
func (c *classifier) idempotencyKey() string {
	for i, p := range c.job.Match {
		if len(p.On) == 1 && p.On[0].Operations == "idempotency_key" {
			return fmt.Sprintf("o.k%d", i)
		}
	}
	return "nullif(" + c.o.Raw("idempotency_key", "VARCHAR") + ", '')"
}

func duration(d time.Duration) string {
	if d == 0 {
		return "CAST(NULL AS BIGINT)"
	}
	return fmt.Sprint(d.Microseconds())
}

// delays is the retry schedule of a type by the number of attempts so far, in
// microseconds: initial × factor^attempts, at most max.
func delays(p rules.TypePolicy) []int64 {
	n := max(p.MaxAttempts, 1)
	first, most, factor := p.Backoff.Initial, p.Backoff.Max, p.Backoff.Factor
	if first == 0 {
		first = time.Minute
	}
	if most == 0 {
		most = time.Hour
	}
	if factor < 1 {
		factor = 2
	}
	out := make([]int64, n+1)
	for i := range out {
		// Beyond 2^62 microseconds the cap holds anyway.
		d := math.Min(float64(first.Microseconds())*math.Pow(factor, float64(i)), float64(most.Microseconds()))
		out[i] = int64(d)
	}
	return out
}

// NextDelay is the wait before the attempt after `attempts` of them: the schedule
// with a jitter that depends on the operation alone. draw is 0 to 2000, taken from
// the md5 of the operation id (see nextAttempt).
func NextDelay(p rules.TypePolicy, attempts int, draw int64) time.Duration {
	ds := delays(p)
	d := ds[min(max(attempts, 0), len(ds)-1)]
	jitter := int64(math.Round(p.Backoff.Jitter * 1000))
	return time.Duration(d+d/1000*jitter*(draw-1000)/1000) * time.Microsecond
}

// nextAttempt is NextDelay after the reference time, in SQL, and not before the time that
// the register has set for it.
func (c *classifier) nextAttempt() string {
	list := c.policy(func(p rules.TypePolicy) string {
		var parts []string
		for _, d := range delays(p) {
			parts = append(parts, fmt.Sprint(d))
		}
		return "[" + strings.Join(parts, ", ") + "]::BIGINT[]"
	}, "[60000000]::BIGINT[]")
	jitter := c.policy(func(p rules.TypePolicy) string { return fmt.Sprint(int64(math.Round(p.Backoff.Jitter * 1000))) }, "0")
	id := "coalesce(" + c.o.Raw("operation_id", "VARCHAR") + ", " + c.o.Raw("idempotency_key", "VARCHAR") + ", CAST(o.w1 AS VARCHAR))"
	attempts := "coalesce(" + c.attempts() + ", 0)"
	delay := fmt.Sprintf("list_extract(%[1]s, CAST(least(greatest(%[2]s, 0), len(%[1]s) - 1) AS BIGINT) + 1)", list, attempts)
	draw := fmt.Sprintf("CAST(md5_number_lower(%s) %% 2001 AS BIGINT)", id)
	next := fmt.Sprintf("%[1]s + %[2]s + %[2]s // 1000 * %[3]s * (%[4]s - 1000) // 1000", c.asOf(), delay, jitter, draw)
	if c.o.Has("next_attempt_at") {
		// Where the register's own time cannot be read, no next attempt is known to fit.
		return "CASE WHEN NOT " + c.o.Unknown("next_attempt_at") + " THEN greatest(" + next + ", " + c.o.Late("next_attempt_at") + ") END"
	}
	return next
}

// attempts is the number of attempts so far; NULL where it is none: less than zero, or
// more than whoever reads an item could hold.
func (c *classifier) attempts() string {
	n := "TRY_CAST(" + c.o.Raw("attempts", "BIGINT") + " AS BIGINT)"
	return "(CASE WHEN " + n + " >= 0 THEN " + n + " END)"
}

func (c *classifier) requeueFacts() error {
	o := c.o
	var absent, refused int64
	if err := c.db.Scan(c.ctx, "SELECT count(*), count(*) FILTER (WHERE reason = 'failed_at_provider') FROM verdicts_o WHERE class = 'absent'", &absent, &refused); err != nil {
		return err
	}
	if absent == 0 {
		return c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE requeue_facts (rid BIGINT, next_us BIGINT, expiry_us BIGINT, newest_rid BIGINT, failed INTEGER, lifted INTEGER, release VARCHAR, sendable BOOLEAN)")
	}
	firstUse := o.Instant("created_at")
	if o.Has("first_attempt_at") {
		firstUse = "coalesce(" + o.Instant("first_attempt_at") + ", " + firstUse + ")"
	}
	idem := c.idempotencyKey()
	idempotent := c.policy(func(p rules.TypePolicy) string { return fmt.Sprint(p.Idempotent) }, "false")
	limit := c.policy(func(p rules.TypePolicy) string {
		if p.MaxAttempts == 0 {
			return "NULL"
		}
		return fmt.Sprint(p.MaxAttempts)
	}, "NULL")
	personal := c.policy(func(p rules.TypePolicy) string { return fmt.Sprint(p.Risk == "irreversible" || p.Risk == "regulated") }, "false")
	// A failure without its time was at the creation at the earliest.
	longest := c.policy(func(p rules.TypePolicy) string { return duration(p.MaxDuration) }, duration(0))
	firstFailed := "coalesce(" + o.Instant("first_failed_at") + ", CASE WHEN " + c.hasFailed() + " THEN " + o.Instant("created_at") + " END)"
	checks := []string{
		ok(idempotent, NotIdempotent),
		ok(idem+" IS NOT NULL", NoKey),
		ok("NOT ("+idempotent+") OR t.next_us < t.key_end_us", KeyLifetime),
		ok(c.attempts()+" < "+limit, Attempts),
		ok("NOT "+o.Unknown("first_failed_at")+" AND ("+firstFailed+" IS NOT NULL OR NOT "+c.hasFailed()+" OR ("+longest+") IS NULL) AND (t.duration_end_us IS NULL OR t.next_us < t.duration_end_us)", Duration),
		ok(c.lastError()+" AND "+c.retryable(refused > 0), ErrorClass),
		ok(c.unleased(), Lease),
		ok("t.proof_end_us IS NULL OR t.next_us < t.proof_end_us", ProofLifetime),
		ok("NOT ("+personal+")", Risk),
		ok(c.hasPolicy(), NoPolicy),
		ok(c.legal(Requeue), State),
	}
	identity, err := c.identityCarried()
	if err != nil {
		return err
	}
	checks = append(checks, ok(identity, NoIdentity), ok(c.freshExport(), StaleExport))
	if cond := c.payload(); cond != "" {
		checks = append(checks, ok(cond, Payload))
	}
	if cond := c.unheld(); cond != "" {
		checks = append(checks, ok(cond, OnHold))
	}
	joins := ""
	if o.Has("idempotency_key") {
		// A key that repeats under an identity pass is residual wherever it stands
		// (package match); without such a pass every operation has to be asked.
		slots := duck.Slots{"key": strings.TrimPrefix(idem, "o."), "among": "res_o"}
		if !strings.HasPrefix(idem, "o.k") {
			slots["key"], slots["among"] = "f_idempotency_key", "operations"
		}
		if err := c.exec("shared_keys", slots); err != nil {
			return err
		}
		checks = append(checks, ok(idem+" IS NULL OR "+idem+" NOT IN (SELECT k FROM shared_keys)", KeyShared))
	}
	newest := "CAST(NULL AS BIGINT)"
	if v := c.orderedVersion(); v != "" && o.Has("entity") {
		s := match.Columns(c.job.Job, c.ops.Layout, "s")
		if err := c.exec("newest", duck.Slots{"type": s.Raw("type", "VARCHAR"), "version": v, "unknown": s.Unknown("version")}); err != nil {
			return err
		}
		joins = "\nLEFT JOIN newest n ON n.entity = o.f_entity AND n.type IS NOT DISTINCT FROM " + o.Raw("type", "VARCHAR")
		// One without a version may be newer than this one. Where this one has none either,
		// and no other has, versions do not tell operations apart.
		checks = append(checks, ok("NOT coalesce(n.unknown, false) AND NOT coalesce(n.missing AND o."+v+" IS NOT NULL, false) AND (n.version IS NULL OR o."+v+" >= n.version)", NewerVersion))
		newest = "CASE WHEN NOT coalesce(n.unknown, true) AND NOT n.missing AND o." + v + " < n.version THEN n.rid END"
	}
	pairs, err := c.siblings()
	if err != nil {
		return err
	}
	if len(pairs) > 0 {
		checks = append(checks, ok("o.rid NOT IN (SELECT rid FROM siblings)", SiblingEffect))
	}
	slots := c.releaseSlots()
	for name, text := range map[string]string{
		"next":         c.nextAttempt(),
		"first_use":    firstUse,
		"ttl":          c.policy(func(p rules.TypePolicy) string { return duration(p.KeyTTL) }, duration(0)),
		"first_failed": firstFailed,
		"max_duration": longest,
		"payload_end":  o.Instant("payload_expires_at"),
		"proof_end": c.policy(func(p rules.TypePolicy) string {
			if p.ProofValid == 0 {
				return duration(0)
			}
			return fmt.Sprint(c.job.AsOfTime.Add(p.ProofValid).UnixMicro())
		}, duration(0)),
		"overtaken_by": newest,
		"checks":       strings.Join(checks, " |\n  "),
		"lifted":       c.lifted(limit),
		"duration_bit": fmt.Sprint(Duration),
		"allowances":   fmt.Sprint(Allowances),
		"joins":        joins,
	} {
		slots[name] = text
	}
	if err := c.exec("requeue_facts", slots); err != nil || len(pairs) == 0 {
		return err
	}
	return c.exec("rivals", duck.Slots{"bit": fmt.Sprint(SiblingEffect), "pairs": strings.Join(pairs, "\n  UNION\n  ")})
}

// errorClass is the class of the last error of our side: that of the record, and where it
// has none the class that the policy gives to its code. A code that the policy does not
// list is ambiguous. NULL: no error. known is false where a text cannot be read.
func (c *classifier) errorClass() (class, known string) {
	class = "nullif(CAST(" + c.o.Raw("error_class", "VARCHAR") + " AS VARCHAR), '')"
	known = "NOT " + c.o.Unknown("error_class")
	if c.o.Has("error_code") {
		code := "nullif(CAST(" + c.o.Raw("error_code", "VARCHAR") + " AS VARCHAR), '')"
		mapped := c.policy(func(p rules.TypePolicy) string {
			var b strings.Builder
			for _, k := range sortedNames(p.Errors) {
				fmt.Fprintf(&b, " WHEN %s THEN %s", duck.Literal(k), duck.Literal(string(p.Errors[k])))
			}
			if b.Len() == 0 {
				return "'ambiguous'"
			}
			return "CASE " + code + b.String() + " ELSE 'ambiguous' END"
		}, "'ambiguous'")
		class = "coalesce(" + class + ", CASE WHEN " + code + " IS NOT NULL THEN " + mapped + " END)"
		known += " AND NOT " + c.o.Unknown("error_code")
	}
	return class, known
}

// lastError is true where the last error of our side allows another attempt.
func (c *classifier) lastError() string {
	class, known := c.errorClass()
	return known + " AND coalesce(" + class + ", 'none') IN ('none', 'transient')"
}

// critical is true for a case of which a person is to know at once: the last error of the
// operation is critical, and its effect is not simply there.
func (c *classifier) critical() string {
	class, _ := c.errorClass()
	return "u.queue = 'review' AND u.class <> 'correct' AND coalesce(" + class + " = 'critical', false)"
}

// hasFailed is true where the record shows an error, whatever it says of its time.
func (c *classifier) hasFailed() string {
	text := func(field string) string {
		return "nullif(CAST(" + c.o.Raw(field, "VARCHAR") + " AS VARCHAR), '')"
	}
	return "(" + strings.Join([]string{
		"coalesce(" + text("error_class") + " <> 'none', false)", text("error_code") + " IS NOT NULL", c.o.Late("last_failed_at") + " IS NOT NULL",
		c.o.Unknown("error_class"), c.o.Unknown("error_code"), c.o.Unknown("last_failed_at"),
	}, " OR ") + ")"
}

// unleased is true where no worker holds the operation. A lease that cannot be read, or
// that names a holder and no end, may be live.
func (c *classifier) unleased() string {
	cond := "NOT " + c.o.Unknown("lease_until") + " AND NOT coalesce(" + c.o.Late("lease_until") + " > " + c.asOf() + ", false)"
	if c.o.Has("lease_holder") {
		cond += " AND NOT " + c.o.Unknown("lease_holder") + " AND (" + c.o.Late("lease_until") + " IS NOT NULL OR nullif(CAST(" + c.o.Raw("lease_holder", "VARCHAR") + " AS VARCHAR), '') IS NULL)"
	}
	return cond
}

// payload is true where what would be sent is there, and will be at the next attempt;
// "" where the job declares nothing about it. A reference that states no end has none.
func (c *classifier) payload() string {
	var and []string
	if c.o.Has("payload_ref") {
		and = append(and, "NOT "+c.o.Unknown("payload_ref")+" AND nullif(CAST("+c.o.Raw("payload_ref", "VARCHAR")+" AS VARCHAR), '') IS NOT NULL")
	}
	if c.o.Has("payload_expires_at") {
		and = append(and, "NOT "+c.o.Unknown("payload_expires_at")+" AND (t.payload_end_us IS NULL OR t.next_us < t.payload_end_us)")
	}
	return strings.Join(and, " AND ")
}

// unheld is true where the operation is not on hold; "" where the job has no holds.
func (c *classifier) unheld() string {
	f := c.job.Operations.Field("hold")
	if f == nil {
		return ""
	}
	cond := c.o.Raw("hold", "") + " IS NULL"
	if f.Type == rules.Boolean {
		cond = "NOT coalesce(" + c.o.Raw("hold", "") + ", false)"
	}
	return "NOT " + c.o.Unknown("hold") + " AND " + cond
}

// orderedVersion is the staged column by which versions of operations have an order:
// as the job compares them, else by the type of the field; "" where they have none.
func (c *classifier) orderedVersion() string {
	f := c.job.Operations.Field("version")
	if f == nil {
		return ""
	}
	for i, cmp := range c.job.Compare {
		if cmp.As == rules.AsVersion && cmp.Operations == "version" {
			if cmp.Scheme == rules.VersionOpaque {
				return ""
			}
			return c.ops.Layout.CompareColumn(i)
		}
	}
	if f.Type == rules.Integer || f.Type == rules.Timestamp {
		return "f_version"
	}
	return ""
}

// retryable: a refusal is retried only where the job maps every refusal of the
// operation as retryable. Without a refusal among the absent operations no status is
// looked up.
func (c *classifier) retryable(refused bool) string {
	if !refused || !c.r.Has("status") {
		return "o.reason <> 'failed_at_provider'"
	}
	listed := c.policy(func(p rules.TypePolicy) string {
		if len(p.Retryable) == 0 {
			return "[]::VARCHAR[]"
		}
		return "[" + literals(p.Retryable) + "]"
	}, "[]::VARCHAR[]")
	return "(o.reason <> 'failed_at_provider' OR coalesce(list_has_all(" + listed +
		", (SELECT list(coalesce(r.f_status, '')) FROM links l JOIN res_r r ON r.rid = l.r_rid WHERE l.o_rid = o.rid)), false))"
}

// identityCarried is true where the operation has an identity key of a kind that
// results of an account which should know it carry at all.
func (c *classifier) identityCarried() (string, error) {
	accounts := map[int]string{}
	for _, f := range c.res.Files {
		for _, src := range c.job.Results.Sources {
			if src.Name == f.Source {
				accounts[f.No] = src.Coverage.Account
			}
		}
	}
	var or []string
	for _, i := range c.identity() {
		carrying, err := c.filesWith(i)
		if err != nil {
			return "", err
		}
		seen := map[string]bool{}
		for _, no := range carrying {
			if a := accounts[no]; !seen[a] {
				seen[a] = true
				or = append(or, fmt.Sprintf("(o.k%d IS NOT NULL AND %s)", i, match.Knows(c.o, c.res.Coverage, a)))
			}
		}
	}
	if len(or) == 0 {
		return "false", nil
	}
	return strings.Join(or, " OR "), nil
}

// filesWith lists the files of the results in which some row carries the identity
// key of a pass.
func (c *classifier) filesWith(pass int) ([]int, error) {
	rows, err := c.db.Query(c.ctx, fmt.Sprintf("SELECT DISTINCT file_no FROM results WHERE h%d IS NOT NULL ORDER BY 1", pass))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int
	for rows.Next() {
		var no int
		if err := rows.Scan(&no); err != nil {
			return nil, err
		}
		out = append(out, no)
	}
	return out, rows.Err()
}

// freshExport is true where the operations export is not older than the policy
// allows at the reference time. With several accounts the oldest export counts:
// the guard asks all operations for keys, versions and siblings.
func (c *classifier) freshExport() string {
	newest := map[string]int64{}
	for _, iv := range c.ops.Coverage {
		until := iv.Until
		if iv.Complete {
			until = math.MaxInt64
		}
		newest[iv.Account] = max(newest[iv.Account], until)
	}
	oldest := int64(math.MaxInt64)
	for _, until := range newest {
		oldest = min(oldest, until)
	}
	return c.policy(func(p rules.TypePolicy) string {
		return fmt.Sprint(p.ExportAge == 0 || len(newest) > 0 && oldest >= c.job.AsOfTime.UnixMicro()-p.ExportAge.Microseconds())
	}, "true")
}

func sortedTypes(job *rules.Job) []string { return sortedNames(job.Types) }

func sortedNames[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for t := range m {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}
