package classify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/match"
	"github.com/recon-batch/recon-batch/rules"
)

// items is section H: SQL computes which checks fail, Judge decides, and what is
// left is written as queue items.
func (c *classifier) items() error {
	for _, step := range []func() error{c.requeueFacts, c.surplusFacts, c.units, c.writeItems, c.plainItems, c.budget, c.countItems} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ok renders a check: it fails unless the condition is true, so that what is
// unknown is never favourable.
func ok(cond string, check Check) string {
	return fmt.Sprintf("(CASE WHEN %s THEN 0 ELSE %d END)", cond, check)
}

func (c *classifier) policy(value func(rules.TypePolicy) string, none string) string {
	return match.PolicyCase(c.job.Job, c.o, value, none)
}

func literals(xs []string) string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = duck.Literal(x)
	}
	return strings.Join(out, ", ")
}

// legal is true where the local state may move to the target; NULL or false where
// it is unknown.
func (c *classifier) legal(target string) string {
	from := c.job.States.Transitions[target]
	if len(from) == 0 {
		return "false"
	}
	return c.o.Raw("state", "VARCHAR") + " IN (" + literals(from) + ")"
}

func (c *classifier) final() string { return finalState(c.job.Job, c.o) }

func finalState(job *rules.Job, s match.ColumnSet) string {
	if len(job.States.Final) == 0 {
		return "false"
	}
	return s.Raw("state", "VARCHAR") + " IN (" + literals(job.States.Final) + ")"
}

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

// nextAttempt is NextDelay after the reference time, in SQL.
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
	attempts := "coalesce(CAST(" + c.o.Raw("attempts", "BIGINT") + " AS BIGINT), 0)"
	delay := fmt.Sprintf("list_extract(%[1]s, CAST(least(greatest(%[2]s, 0), len(%[1]s) - 1) AS BIGINT) + 1)", list, attempts)
	draw := fmt.Sprintf("CAST(md5_number_lower(%s) %% 2001 AS BIGINT)", id)
	return fmt.Sprintf("%[1]s + %[2]s + %[2]s // 1000 * %[3]s * (%[4]s - 1000) // 1000", c.asOf(), delay, jitter, draw)
}

func (c *classifier) requeueFacts() error {
	o := c.o
	var absent int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM verdicts_o WHERE class = 'absent'", &absent); err != nil {
		return err
	}
	if absent == 0 {
		return c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE requeue_facts (rid BIGINT, next_us BIGINT, expiry_us BIGINT, failed INTEGER)")
	}
	firstUse := o.Raw("created_at", "BIGINT")
	if o.Has("first_attempt_at") {
		firstUse = "coalesce(" + o.Raw("first_attempt_at", "BIGINT") + ", " + firstUse + ")"
	}
	idem := c.idempotencyKey()
	idempotent := c.policy(func(p rules.TypePolicy) string { return fmt.Sprint(p.Idempotent) }, "false")
	limit := c.policy(func(p rules.TypePolicy) string {
		if p.MaxAttempts == 0 {
			return "NULL"
		}
		return fmt.Sprint(p.MaxAttempts)
	}, "NULL")
	checks := []string{
		ok(idempotent, NotIdempotent),
		ok(idem+" IS NOT NULL", NoKey),
		ok("NOT ("+idempotent+") OR t.next_us < t.key_end_us", KeyLifetime),
		ok(c.o.Raw("attempts", "BIGINT")+" < "+limit, Attempts),
		ok("NOT "+o.Unknown("first_failed_at")+" AND (t.duration_end_us IS NULL OR t.next_us < t.duration_end_us)", Duration),
		ok("NOT "+o.Unknown("error_class")+" AND ("+o.Raw("error_class", "VARCHAR")+" IS NULL OR "+o.Raw("error_class", "VARCHAR")+" IN ('', 'none', 'transient')) AND "+c.retryable(), ErrorClass),
		ok("NOT "+o.Unknown("lease_until")+" AND NOT coalesce("+o.Late("lease_until")+" > "+c.asOf()+", false)", Lease),
		ok(c.legal("retry_scheduled"), State),
	}
	identity, err := c.identityCarried()
	if err != nil {
		return err
	}
	checks = append(checks, ok(identity, NoIdentity), ok(c.freshExport(), StaleExport))
	joins := ""
	add := func(name, cond, join string, check Check, slots duck.Slots) error {
		if err := c.exec(name, slots); err != nil {
			return err
		}
		joins += join
		checks = append(checks, ok(cond, check))
		return nil
	}
	if o.Has("idempotency_key") {
		// A key that repeats under an identity pass is residual wherever it stands
		// (package match); without such a pass every operation has to be asked.
		among := "operations"
		if strings.HasPrefix(idem, "o.k") {
			among = "res_o"
		}
		slots := duck.Slots{"key": strings.TrimPrefix(idem, "o."), "among": among}
		if !strings.HasPrefix(idem, "o.k") {
			slots["key"] = "f_idempotency_key"
		}
		if err := add("shared_keys", idem+" IS NULL OR "+idem+" NOT IN (SELECT k FROM shared_keys)", "", KeyShared, slots); err != nil {
			return err
		}
	}
	if v := c.orderedVersion(); v != "" && o.Has("entity") {
		s := match.Columns(c.job.Job, c.ops.Layout, "s")
		typ := s.Raw("type", "VARCHAR")
		join := "\nLEFT JOIN newest n ON n.entity = o.f_entity AND n.type IS NOT DISTINCT FROM " + o.Raw("type", "VARCHAR")
		if err := add("newest", "NOT coalesce(n.unknown, false) AND (n.version IS NULL OR o."+v+" >= n.version)", join, NewerVersion,
			duck.Slots{"type": typ, "version": v, "unknown": s.Unknown("version")}); err != nil {
			return err
		}
	}
	if same := c.oncePer(); same != "" {
		if err := add("siblings", "o.rid NOT IN (SELECT rid FROM siblings)", "", SiblingEffect, duck.Slots{"same": same}); err != nil {
			return err
		}
	}
	if f := c.job.Operations.Field("hold"); f != nil {
		cond := o.Raw("hold", "") + " IS NULL"
		if f.Type == rules.Boolean {
			cond = "NOT coalesce(" + o.Raw("hold", "") + ", false)"
		}
		checks = append(checks, ok("NOT "+o.Unknown("hold")+" AND "+cond, OnHold))
	}
	return c.exec("requeue_facts", duck.Slots{
		"next":         c.nextAttempt(),
		"first_use":    firstUse,
		"ttl":          c.policy(func(p rules.TypePolicy) string { return duration(p.KeyTTL) }, duration(0)),
		"first_failed": o.Raw("first_failed_at", "BIGINT"),
		"max_duration": c.policy(func(p rules.TypePolicy) string { return duration(p.MaxDuration) }, duration(0)),
		"proof_end": c.policy(func(p rules.TypePolicy) string {
			if p.ProofValid == 0 {
				return duration(0)
			}
			return fmt.Sprint(c.job.AsOfTime.Add(p.ProofValid).UnixMicro())
		}, duration(0)),
		"checks": strings.Join(checks, " |\n  "),
		"joins":  joins})
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
// operation as retryable.
func (c *classifier) retryable() string {
	if !c.r.Has("status") {
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

// oncePer is the equality with a sibling, and for which types it is asked. Types
// may name different fields; each is a branch.
func (c *classifier) oncePer() string {
	var branches []string
	for _, name := range sortedTypes(c.job.Job) {
		p := c.job.Types[name]
		if len(p.OncePer) == 0 {
			continue
		}
		var and []string
		if name != "*" {
			and = append(and, c.o.Raw("type", "VARCHAR")+" = "+duck.Literal(name))
		}
		for _, f := range p.OncePer {
			and = append(and, fmt.Sprintf("o.%[1]s IS NOT DISTINCT FROM s.%[1]s", duck.Ident("f_"+f)))
		}
		if c.o.Has("type") {
			and = append(and, "o.f_type IS NOT DISTINCT FROM s.f_type")
		}
		branches = append(branches, "("+strings.Join(and, " AND ")+")")
	}
	if len(branches) == 0 {
		return ""
	}
	return "(" + strings.Join(branches, " OR ") + ")"
}

func sortedTypes(job *rules.Job) []string {
	out := make([]string, 0, len(job.Types))
	for t := range job.Types {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// surplusFacts is V31 for surplus effects.
func (c *classifier) surplusFacts() error {
	var surplus int64
	if err := c.db.Scan(c.ctx, "SELECT count(*) FROM linked WHERE r_verdict = 'duplicate/surplus_effect'", &surplus); err != nil {
		return err
	}
	if surplus == 0 {
		return c.db.Exec(c.ctx, "CREATE OR REPLACE TABLE surplus_facts (o_rid BIGINT, r_rid BIGINT, kept BIGINT, keep_remote_id VARCHAR, failed INTEGER)")
	}
	// The effect that stays must alone be what was asked for: amount, currency and
	// version. A job that compares no amount cannot say so.
	satisfies, amount := []string{}, false
	for i, cmp := range c.job.Compare {
		if cmp.Name == "amount" || cmp.Name == "currency" || cmp.As == rules.AsVersion {
			satisfies = append(satisfies, fmt.Sprintf("p.%s <= 1", code(i)))
			amount = amount || cmp.Name == "amount"
		}
	}
	if !amount {
		satisfies = []string{"false"}
	}
	partial := "false"
	if c.hasAmount(rules.Operations) && c.hasAmount(rules.Results) {
		partial = fmt.Sprintf("coalesce(abs(a.total) <= abs(CAST(%s AS DECIMAL(38,%d))), false)", c.o.Raw("amount", ""), c.scale)
	}
	total := "CAST(NULL AS DECIMAL(38,0))"
	if c.hasAmount(rules.Results) {
		total = fmt.Sprintf("CASE WHEN count(*) = count(r.f_amount) THEN sum(CAST(r.f_amount AS DECIMAL(38,%d))) END", c.scale)
	}
	return c.exec("surplus_facts", duck.Slots{
		"partial": partial, "total": total,
		"remote":    c.r.Raw("remote_id", "VARCHAR"),
		"satisfies": "(" + strings.Join(satisfies, " AND ") + ")",
		"undo": c.policy(func(p rules.TypePolicy) string {
			if p.CompensateWith == "" {
				return "CAST(NULL AS VARCHAR)"
			}
			return duck.Literal(p.CompensateWith)
		}, "CAST(NULL AS VARCHAR)"),
		"no_good": fmt.Sprint(NoGoodEffect), "differs": fmt.Sprint(GoodEffectDiffers),
		"not_succeeded": fmt.Sprint(NotSucceeded), "not_settled": fmt.Sprint(NotSettled),
		"no_remote": fmt.Sprint(NoRemoteID), "no_business": fmt.Sprint(NoBusinessOperation)})
}

func (c *classifier) units() error {
	noItem := "true" // a job without states: nothing to move
	if c.o.Has("state") {
		noItem = "coalesce(" + c.final() + ", false)"
	}
	outOfPeriod := "false"
	if c.job.Period != nil {
		outOfPeriod = "NOT v.in_period"
	}
	return c.exec("units", duck.Slots{
		"confirm_failed": ok(c.legal("confirmed"), State),
		"close_failed":   ok(c.legal("not_applicable"), State),
		"out_of_period":  outOfPeriod, "no_item": noItem})
}

// judgeSQL renders Judge over what can occur: the function itself is asked for each
// wanted queue and class, once with no failed check and once with one.
func judgeSQL() string {
	var b strings.Builder
	for _, q := range Queues {
		for _, cl := range Classes {
			clean, refused := Judge(q, cl, 0), Judge(q, cl, State)
			if clean != Review {
				fmt.Fprintf(&b, " WHEN wanted = '%s' AND class = '%s' AND failed = 0 THEN '%s'", q, cl, clean)
			}
			if refused != Review {
				fmt.Fprintf(&b, " WHEN wanted = '%s' AND class = '%s' AND failed <> 0 THEN '%s'", q, cl, refused)
			}
		}
	}
	return b.String()
}

// itemSlots are the columns that every kind of item shows of its operation.
func (c *classifier) itemSlots() duck.Slots {
	text := func(s match.ColumnSet, f string) string { return "CAST(" + s.Raw(f, "VARCHAR") + " AS VARCHAR)" }
	var caseO []string
	for _, i := range c.identity() {
		caseO = append(caseO, fmt.Sprintf("'%d:' || o.k%d", i, i))
	}
	if len(caseO) == 0 {
		caseO = []string{"CAST(NULL AS VARCHAR)"}
	}
	return duck.Slots{
		"job":             duck.Literal(c.job.Name),
		"case_o":          "coalesce(" + strings.Join(caseO, ", ") + ")",
		"operation_id":    text(c.o, "operation_id"),
		"idempotency_key": text(c.o, "idempotency_key"),
		"type":            text(c.o, "type"),
		"entity_o":        text(c.o, "entity"),
		"version":         text(c.o, "version"),
		"amount_o":        text(c.o, "amount"),
		"currency_o":      text(c.o, "currency"),
		"state":           text(c.o, "state"),
		"attempts":        "CAST(" + c.o.Raw("attempts", "BIGINT") + " AS BIGINT)",
		"rule":            c.policy(func(p rules.TypePolicy) string { return duck.Literal("types." + p.Type) }, "'none'"),
		"owner": c.policy(func(p rules.TypePolicy) string {
			if p.Owner == "" {
				return "CAST(NULL AS VARCHAR)"
			}
			return duck.Literal(p.Owner)
		}, "CAST(NULL AS VARCHAR)"),
		"observe": fmt.Sprint(c.job.Mode == rules.Observe),
	}
}

func (c *classifier) due() string {
	return c.policy(func(p rules.TypePolicy) string {
		if p.ReplyBy == 0 {
			return "CAST(NULL AS BIGINT)"
		}
		return fmt.Sprint(c.job.AsOfTime.Add(p.ReplyBy).UnixMicro())
	}, "CAST(NULL AS BIGINT)")
}

func (c *classifier) writeItems() error {
	s := c.itemSlots()
	text := func(f string) string { return "CAST(" + c.r.Raw(f, "VARCHAR") + " AS VARCHAR)" }
	caseR := "CAST(NULL AS VARCHAR)"
	if c.res.Layout.RecordID() != "" {
		caseR = "r.kx"
	}
	s["case_r"], s["remote_id"] = caseR, text("remote_id")
	s["entity_r"], s["amount_r"], s["currency_r"] = text("entity"), text("amount"), text("currency")
	s["destination"] = "CAST(" + c.o.Raw("destination", "VARCHAR") + " AS VARCHAR)"
	s["due"] = "CASE WHEN u.queue IN ('review', 'compensate') THEN " + c.due() + " END"
	s["judge"] = judgeSQL()
	s["refused"] = refusedSQL("u.failed")
	s["risk"] = riskSQL("u.")
	s["approvals"] = c.approvals()
	return c.exec("items", s)
}

// refusedSQL spells the codes of the failed checks, as Check.Codes does.
func refusedSQL(col string) string {
	var parts []string
	for i, n := range checkNames {
		parts = append(parts, fmt.Sprintf("CASE WHEN (%s >> %d) & 1 = 1 THEN '%s' END", col, i, n.Code))
	}
	return "nullif(concat_ws(';', " + strings.Join(parts, ", ") + "), '')"
}

// riskSQL says in words what acting twice, or wrongly, would do.
func riskSQL(p string) string {
	return `CASE ` + p + `queue
    WHEN 'requeue' THEN 'The effect is proven not to exist. Sent again with the same idempotency key before the item expires, it can happen once only.'
    WHEN 'compensate' THEN 'The operation has this effect twice. Undo the one named here, never the one to keep; undone twice it would be lost.'
    WHEN 'confirm' THEN 'None: only the local state moves.'
    WHEN 'close' THEN 'None: only the local state moves, by a documented rule.'
    ELSE CASE
      WHEN ` + p + `class = 'ambiguous' THEN 'Unknown: the effect may exist. Sending it again could make it happen twice.'
      WHEN ` + p + `class = 'absent' THEN 'The effect is proven not to exist, but a check refuses to send it again.'
      WHEN ` + p + `class = 'duplicate' THEN 'The effect exists more than once, or its record does. Undoing the wrong one would lose it.'
      WHEN ` + p + `class = 'unexpected' THEN 'Nobody asked for this effect as far as the export shows.'
      ELSE 'The effect exists: sending it again would make it happen twice.' END END`
}

// approvals needed by amount and currency; a threshold for another currency says
// nothing, so an amount in a currency without one needs them as well.
func (c *classifier) approvals() string {
	amount := c.o.Field("amount")
	return c.policy(func(p rules.TypePolicy) string {
		if p.Approvals == nil {
			return "0"
		}
		var b strings.Builder
		for _, cur := range sortedKeys(p.Approvals.Over) {
			fmt.Fprintf(&b, " WHEN %s = %s AND abs(%s) <= CAST('%s' AS DECIMAL(28,8)) THEN 0",
				c.o.Raw("currency", "VARCHAR"), duck.Literal(cur), amount, p.Approvals.Over[cur])
		}
		return fmt.Sprintf("CASE%s ELSE %d END", b.String(), p.Approvals.Approvers)
	}, "0")
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// PlainWanted is the condition over operations under which a plain pair has an item:
// its state is not final. "" where the job has no states.
func PlainWanted(job *rules.Bound, ops *extract.Relation) string {
	s := match.Columns(job.Job, ops.Layout, "")
	if !s.Has("state") {
		return ""
	}
	return "NOT coalesce(" + finalState(job.Job, s) + ", false)"
}

// plainItems adds the items of plain pairs: their operations may move to confirmed.
func (c *classifier) plainItems() error {
	if !c.o.Has("state") || c.m.PlainPairs == 0 {
		return nil
	}
	s := c.itemSlots()
	s["legal"], s["final"] = c.legal("confirmed"), c.final()
	s["bit"], s["due"] = fmt.Sprint(State), c.due()
	s["from"] = "operations"
	if c.m.PlainFetched {
		s["from"] = "plain_o"
	}
	return c.exec("plain_items", s)
}

func (c *classifier) budget() error {
	l := c.job.Limits
	if l.RetryRows == 0 || l.RetryPer == 0 {
		return nil
	}
	return c.exec("budget", duck.Slots{"rows": fmt.Sprint(l.RetryRows), "per": fmt.Sprint(l.RetryPer.Microseconds())})
}

func (c *classifier) countItems() error {
	c.out.Items = map[Queue]int64{}
	rows, err := c.db.Query(c.ctx, "SELECT queue, count(*) FROM items GROUP BY queue")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var q string
		var n int64
		if err := rows.Scan(&q, &n); err != nil {
			return err
		}
		c.out.Items[Queue(q)] = n
	}
	return rows.Err()
}
