package naive

import (
	"slices"
	"testing"
	"time"

	"github.com/recon-batch/recon-batch/extract"
	"github.com/recon-batch/recon-batch/rules"
)

// Each test is the smallest world that shows one rule of verdicts.md, its edge
// included: it fails when the rule is left out.

// ruleCase is one world. The tables are as in newBench.
type ruleCase struct {
	name                string
	job                 func(*rules.Job)
	bench               func(*bench)
	operations, results string
	want                string
}

func runCases(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			job := newJob()
			if c.job != nil {
				c.job(job)
			}
			b := newBench(job, c.operations, c.results)
			if c.bench != nil {
				c.bench(b)
			}
			b.expect(t, c.want)
		})
	}
}

func TestV2EmptyKeyLinksNothing(t *testing.T) {
	runCases(t, []ruleCase{
		{"empty part", nil, nil, "operation_id,entity,currency,amount\n,E1,,1\n", "operation_id,entity,currency,amount\n,E1,,1\n",
			"o1 ambiguous/no_usable_key\nr1 ambiguous/no_usable_key"},
		{"nullable part", func(j *rules.Job) {
			j.Match[2].On[1].Nullable = true
			j.Match[2].Within = nil
		}, nil, "operation_id,entity,currency,amount\n,E1,,1\n", "operation_id,entity,currency,amount,status\n,E1,,1,settled\n",
			"o1 correct/equal 1\nr1 correct/equal 1"},
	})
}

func TestV4IdenticalCopies(t *testing.T) {
	runCases(t, []ruleCase{
		{"equal in every column", nil, nil,
			"operation_id,amount\na,1\na,1\n", "remote_id,operation_id,amount,status\nx,a,1,settled\nx,a,1,settled\n",
			"o1 correct/equal 1\no2 duplicate/identical_copy\nr1 correct/equal 1\nr2 duplicate/identical_copy"},
		{"an undeclared column differs", nil, nil,
			"operation_id,amount\na,1\n", "remote_id,operation_id,amount,status,memo\nx,a,1,settled,one\nx,a,1,settled,two\n",
			"o1 ambiguous/counterpart_not_unique\nr1 duplicate/conflicting_copies\nr2 duplicate/conflicting_copies"},
		{"transport columns are no part of the record", func(j *rules.Job) { j.Results.TransportColumns = []string{"page"} }, nil,
			"operation_id,amount\na,1\n", "remote_id,operation_id,amount,status,page\nx,a,1,settled,1\nx,a,1,settled,2\n",
			"o1 correct/equal 1\nr1 correct/equal 1\nr2 duplicate/identical_copy"},
		{"without identity never copies", nil, nil,
			"operation_id,amount\nz,1\n", "entity,currency,amount,status\nE,EUR,1,refused\nE,EUR,1,refused\n",
			"o1 absent/no_result\nr1 not_applicable/failed_attempt\nr2 not_applicable/failed_attempt"},
	})
}

func TestV5OneRecordID(t *testing.T) {
	latest := func(j *rules.Job) { j.Results.Survivor = &rules.Survivor{By: "remote_id", Latest: "version"} }
	const two = "remote_id,operation_id,amount,version,status\n"
	runCases(t, []ruleCase{
		{"latest stands", latest, nil, "operation_id,amount,version\na,1,2\n", two + "x,a,9,1,settled\nx,a,1,2,settled\nx,a,8,,settled\n",
			"o1 correct/equal 2\nr1 duplicate/superseded_attempt\nr2 correct/equal 1\nr3 duplicate/superseded_attempt"},
		{"a tie is not resolved", latest, nil, "operation_id,amount,version\na,1,2\n", two + "x,a,9,2,settled\nx,a,1,2,settled\n",
			"o1 ambiguous/counterpart_not_unique\nr1 duplicate/conflicting_copies\nr2 duplicate/conflicting_copies"},
		{"a tie below the latest is no tie", latest, nil, "operation_id,amount,version\na,1,3\n", two + "x,a,9,2,settled\nx,a,8,2,settled\nx,a,1,3,settled\n",
			"o1 correct/equal 3\nr1 duplicate/superseded_attempt\nr2 duplicate/superseded_attempt\nr3 correct/equal 1"},
		{"all null is a tie", latest, nil, "operation_id,amount\na,1\n", two + "x,a,9,,settled\nx,a,1,,settled\n",
			"o1 ambiguous/counterpart_not_unique\nr1 duplicate/conflicting_copies\nr2 duplicate/conflicting_copies"},
		{"without remote id an effect of its own", latest, nil, "operation_id,amount,version\na,1,1\n", two + ",a,1,1,settled\n,a,1,2,settled\n",
			"o1 divergent/duplicate_effect 1;2\nr1 duplicate/surplus_effect 1\nr2 duplicate/surplus_effect 1"},
		{"no remote id declared: by each identity key", func(j *rules.Job) { dropField(j, rules.Results, "remote_id") }, nil,
			"operation_id,idempotency_key,amount\na,k,1\n", "operation_id,idempotency_key,amount,status\na,,1,settled\na,,2,settled\n,k,1,settled\n",
			"o1 ambiguous/counterpart_not_unique\nr1 duplicate/conflicting_copies\nr2 duplicate/conflicting_copies\nr3 ambiguous/keys_disagree"},
		{"operations without operation id: by the first identity pass", func(j *rules.Job) {
			dropField(j, rules.Operations, "operation_id")
			j.Match = j.Match[1:]
		}, nil, "idempotency_key,amount\nk,1\nk,2\n", "idempotency_key,amount,status\nk,1,settled\n",
			"o1 duplicate/conflicting_copies\no2 duplicate/conflicting_copies\nr1 ambiguous/counterpart_not_unique"},
		{"any identity key of the group", nil, nil, "operation_id,idempotency_key,amount\na,k1,1\na,k2,1\nb,k2,1\n",
			"operation_id,idempotency_key,amount,status\n,k2,1,settled\nb,,1,settled\n",
			"o1 duplicate/conflicting_copies\no2 duplicate/conflicting_copies\no3 correct/equal 2\nr1 ambiguous/counterpart_not_unique\nr2 correct/equal 3"},
		{"both sides repeated", nil, nil, "operation_id,amount\na,1\na,2\n", "remote_id,operation_id,amount,status\nx,a,1,settled\nx,a,2,settled\n",
			"o1 duplicate/conflicting_copies\no2 duplicate/conflicting_copies\nr1 duplicate/conflicting_copies\nr2 duplicate/conflicting_copies"},
		{"two accounts have their own remote ids", nil, func(b *bench) {
			b.in.ResultSources = map[int]*rules.Source{0: {Coverage: rules.Coverage{Account: "one"}}, 1: {Coverage: rules.Coverage{Account: "two"}}}
			b.in.Results[1].FileNo = 1
		}, "operation_id,amount\na,1\nb,2\n", "remote_id,operation_id,amount,status\nx,a,1,settled\nx,b,2,settled\n",
			"o1 correct/equal 1\no2 correct/equal 2\nr1 correct/equal 1\nr2 correct/equal 2"},
	})
}

func TestV7Scope(t *testing.T) {
	scope := func(j *rules.Job) {
		j.Scope = []rules.ScopeRule{
			{Side: rules.Operations, When: rule("state = 'cancelled'"), Reason: "cancelled"},
			{Side: rules.Results, When: rule("kind = 'fee'"), Reason: "fee_row"},
		}
	}
	runCases(t, []ruleCase{
		{"results before matching", scope, nil, "operation_id,amount\na,1\n",
			"remote_id,operation_id,amount,status,kind\nx,a,1,settled,\ny,a,1,settled,fee\n",
			"o1 correct/equal 1\nr1 correct/equal 1\nr2 not_applicable/fee_row"},
		{"operations after matching, no effect", scope, nil, "operation_id,state,lease_until\na,cancelled,12T00:00\n", "operation_id\n",
			"o1 not_applicable/cancelled"},
		{"an operation without a usable key", scope, nil, "operation_id,state\n,cancelled\n", "operation_id\n",
			"o1 not_applicable/cancelled"},
		{"an effect is a conflict", scope, nil, "operation_id,state,amount\na,cancelled,1\n", "operation_id,amount,status\na,2,settled\n",
			"o1 divergent/status_conflict 1 amount;status\nr1 divergent/status_conflict 1 amount;status"},
		{"a failed one is no effect", scope, nil, "operation_id,state\na,cancelled\n", "operation_id,status\na,refused\n",
			"o1 not_applicable/cancelled 1\nr1 not_applicable/failed_attempt 1"},
		{"copies of an excluded row", scope, nil, "operation_id\na\n", "operation_id,status,kind\na,settled,fee\na,settled,fee\n",
			"o1 ambiguous/outcome_unknown\nr1 not_applicable/fee_row\nr2 duplicate/identical_copy"},
	})
}

func TestV8Period(t *testing.T) {
	period := func(b *bench) {
		b.job.Period = &rules.Period{By: "created_at", Reason: "out_of_period"}
		b.in.Job.PeriodFrom, b.in.Job.PeriodUntil = instant("10T00:00"), instant("11T00:00")
	}
	runCases(t, []ruleCase{
		{"decided by the operation, half-open", nil, period,
			"operation_id,created_at\na,10T00:00\nb,11T00:00\nc,09T23:59\nd,\n",
			"operation_id,created_at,status\na,09T23:00,settled\nb,10T23:00,settled\nc,10T00:01,uncertain\nd,09T00:00,settled\n",
			`o1 correct/equal 1
			 o2 not_applicable/out_of_period 2
			 o3 not_applicable/out_of_period 3
			 o4 correct/equal 4
			 r1 correct/equal 1
			 r2 not_applicable/out_of_period 2
			 r3 not_applicable/out_of_period 3
			 r4 correct/equal 4`},
		{"a result alone by its own time", nil, period, "operation_id,created_at\nz,10T08:00\n",
			"operation_id,created_at,status\na,09T23:59,settled\nb,10T23:59,settled\nc,,settled\n",
			"o1 absent/no_result\nr1 not_applicable/out_of_period\nr2 unexpected/no_operation\nr3 unexpected/no_operation"},
		{"before scope rules of operations and open matches", func(j *rules.Job) {
			j.Scope = []rules.ScopeRule{{Side: rules.Operations, When: rule("state = 'cancelled'"), Reason: "cancelled"}}
		}, period, "operation_id,idempotency_key,state,created_at\na,,cancelled,09T08:00\nb,k,,09T08:00\nc,k,,10T08:00\n",
			"operation_id,idempotency_key,created_at,status\n,k,10T08:00,settled\n",
			"o1 not_applicable/out_of_period\no2 not_applicable/out_of_period\no3 ambiguous/several_candidates\nr1 ambiguous/several_candidates"},
		{"after section B and results' scope", func(j *rules.Job) {
			j.Scope = []rules.ScopeRule{{Side: rules.Results, When: rule("kind = 'fee'"), Reason: "fee_row"}}
		}, period, "operation_id,created_at\na,09T08:00\na,09T08:00\n", "operation_id,kind,created_at\nq,fee,09T08:00\n",
			"o1 not_applicable/out_of_period\no2 duplicate/identical_copy\nr1 not_applicable/fee_row"},
	})
}

func TestV9FreeRowsOnly(t *testing.T) {
	runCases(t, []ruleCase{
		{"the earlier pass claims", nil, nil, "operation_id,idempotency_key,amount\na,,1\n,k,2\n",
			"operation_id,idempotency_key,amount,status\n,k,2,settled\na,,1,settled\n",
			"o1 correct/equal 2\no2 correct/equal 1\nr1 correct/equal 2\nr2 correct/equal 1"},
	})
}

func TestV10SeveralEffects(t *testing.T) {
	const two = "remote_id,operation_id,amount,created_at,status\n"
	earliest := func(j *rules.Job) { j.Results.KeepEffect = &rules.KeepEffect{Earliest: "created_at"} }
	agrees := func(j *rules.Job) { j.Results.KeepEffect = &rules.KeepEffect{Agrees: []string{"amount"}} }
	const op = "operation_id,amount\na,1\n"
	runCases(t, []ruleCase{
		{"no rule", nil, nil, op, two + "x,a,1,10T08:00,settled\ny,a,1,10T09:00,settled\n",
			"o1 divergent/duplicate_effect 1;2\nr1 duplicate/surplus_effect 1\nr2 duplicate/surplus_effect 1"},
		{"earliest", earliest, nil, op, two + "x,a,1,10T09:00,settled\ny,a,2,10T08:00,processing\nz,a,1,,settled\n",
			"o1 divergent/duplicate_effect 1;2;3\nr1 duplicate/surplus_effect 1\nr2 divergent/duplicate_effect 1\nr3 duplicate/surplus_effect 1"},
		{"earliest, a tie", earliest, nil, op, two + "x,a,1,10T08:00,settled\ny,a,1,10T08:00,settled\n",
			"o1 divergent/duplicate_effect 1;2\nr1 duplicate/surplus_effect 1\nr2 duplicate/surplus_effect 1"},
		{"the one that agrees", agrees, nil, op, two + "x,a,2,10T08:00,settled\ny,a,1,10T09:00,settled\n",
			"o1 divergent/duplicate_effect 1;2\nr1 duplicate/surplus_effect 1\nr2 divergent/duplicate_effect 1"},
		{"two that agree", agrees, nil, op, two + "x,a,1,10T08:00,settled\ny,a,1,10T09:00,settled\n",
			"o1 divergent/duplicate_effect 1;2\nr1 duplicate/surplus_effect 1\nr2 duplicate/surplus_effect 1"},
		{"failed beside an effect", nil, nil, op, two + "x,a,1,10T08:00,refused\ny,a,1,10T09:00,settled\n",
			"o1 correct/equal 2\nr1 not_applicable/failed_attempt\nr2 correct/equal 1"},
	})
}

func TestV11SeveralOperationsUnderOneKey(t *testing.T) {
	runCases(t, []ruleCase{
		{"a result has only that key", nil, nil, "operation_id,idempotency_key\na,k\nb,k\n", "idempotency_key,status\nk,settled\n",
			"o1 ambiguous/several_candidates\no2 ambiguous/several_candidates\nr1 ambiguous/several_candidates"},
		{"no result: both absent", nil, nil, "operation_id,idempotency_key\na,k\nb,k\n", "idempotency_key,status\nq,refused\n",
			"o1 absent/no_result\no2 absent/no_result\nr1 not_applicable/failed_attempt"},
		{"one is linked already", nil, nil, "operation_id,idempotency_key\na,k\nb,k\n", "operation_id,idempotency_key,status\na,k,settled\n",
			"o1 correct/equal 1\no2 ambiguous/keys_disagree\nr1 correct/equal 1"},
	})
}

func TestV12Settled(t *testing.T) {
	latestOperation := func(j *rules.Job) {
		j.Operations.Survivor = &rules.Survivor{By: "operation_id", Latest: "version"}
	}
	const ops, res = "operation_id,idempotency_key,amount\n", "remote_id,operation_id,idempotency_key,amount,status\n"
	runCases(t, []ruleCase{
		{"(a) the other key leads to another operation", nil, nil, ops + "a,k,1\nb,l,1\n", res + "x,a,l,1,settled\n",
			"o1 ambiguous/keys_disagree\no2 ambiguous/keys_disagree\nr1 ambiguous/keys_disagree"},
		{"(a) the operation's key leads to another result", nil, nil, ops + "a,k,1\n", res + "x,a,q,1,settled\ny,p,k,1,settled\n",
			"o1 ambiguous/keys_disagree\nr1 ambiguous/keys_disagree\nr2 ambiguous/keys_disagree"},
		{"(a) it leads nowhere: a difference, the key first", nil, nil, ops + "a,k,1\n", res + "x,a,q,2,settled\n",
			"o1 divergent/field_differs 1 idempotency_key;amount\nr1 divergent/field_differs 1 idempotency_key;amount"},
		{"(a) it wins over the status", nil, nil, ops + "a,k,1\n", res + "x,a,q,1,processing\n",
			"o1 divergent/field_differs 1 idempotency_key;status\nr1 divergent/field_differs 1 idempotency_key;status"},
		{"(a) the operation keeps its settled link", nil, nil, ops + "a,k,1\nb,l,1\n", res + "x,a,k,1,settled\ny,a,l,1,settled\n",
			"o1 correct/equal 1\no2 ambiguous/keys_disagree\nr1 correct/equal 1\nr2 ambiguous/keys_disagree"},
		{"(a) an unsettled effect beside a settled one", nil, nil, ops + "a,k,1\n", res + "x,a,,1,settled\ny,a,q,1,settled\n",
			"o1 divergent/duplicate_effect 1;2\nr1 duplicate/surplus_effect 1\nr2 duplicate/surplus_effect 1"},
		{"(b) a further effect", nil, nil, ops + "a,k,1\n", res + "x,a,,1,settled\ny,,k,1,settled\n",
			"o1 divergent/duplicate_effect 1;2\nr1 duplicate/surplus_effect 1\nr2 duplicate/surplus_effect 1"},
		{"(b) keys that point to two operations", nil, nil, ops + "a,k,1\nb,l,1\nc,l,1\n", res + "x,a,,1,settled\ny,,l,1,settled\n",
			"o1 correct/equal 1\no2 ambiguous/several_candidates\no3 ambiguous/several_candidates\nr1 correct/equal 1\nr2 ambiguous/several_candidates"},
		{"(b) one key points nowhere", nil, nil, ops + "a,k,1\n", res + "x,a,,1,settled\ny,q,k,1,settled\n",
			"o1 correct/equal 1\nr1 correct/equal 1\nr2 ambiguous/keys_disagree"},
		{"(c) a key on a linked result", nil, nil, ops + "a,k,1\nb,k,1\n", res + "x,a,k,1,settled\n",
			"o1 correct/equal 1\no2 ambiguous/keys_disagree\nr1 correct/equal 1"},
		{"(d) a key that repeats among settled pairs", nil, nil, ops + "a,k,1\nb,k,2\n", res + "x,a,k,1,settled\ny,b,k,2,settled\n",
			"o1 correct/equal 1\no2 correct/equal 2\nr1 correct/equal 1\nr2 correct/equal 2"},
		{"(a) a key of a superseded record leads nowhere else", latestOperation, nil, "operation_id,idempotency_key,amount,version\na,q,1,1\na,k,1,2\n",
			"remote_id,operation_id,idempotency_key,amount,version,status\nx,a,q,1,2,settled\n",
			"o1 duplicate/superseded_attempt\no2 divergent/field_differs 1 idempotency_key\nr1 divergent/field_differs 2 idempotency_key"},
		{"(b) a superseded record is no other operation", latestOperation, nil, "operation_id,idempotency_key,amount,version\na,k,1,1\na,k,1,2\n",
			"remote_id,operation_id,idempotency_key,amount,version,status\nx,a,,1,2,settled\ny,,k,1,2,settled\n",
			"o1 duplicate/superseded_attempt\no2 divergent/duplicate_effect 1;2\nr1 duplicate/surplus_effect 2\nr2 duplicate/surplus_effect 2"},
		{"(b) a key that only a superseded record carries", latestOperation, nil, "operation_id,idempotency_key,amount,version\na,q,1,1\na,k,1,2\n",
			"remote_id,operation_id,idempotency_key,amount,version,status\nx,a,k,1,2,settled\ny,,q,1,2,settled\n",
			"o1 duplicate/superseded_attempt\no2 correct/equal 1\nr1 correct/equal 2\nr2 ambiguous/keys_disagree"},
		{"a key that only a superseded result carries", func(j *rules.Job) { j.Results.Survivor = &rules.Survivor{By: "remote_id", Latest: "version"} }, nil,
			"operation_id,amount,version\na,1,2\nb,1,1\n", "remote_id,operation_id,amount,version,status\nx,b,1,1,settled\nx,a,1,2,settled\n",
			"o1 correct/equal 2\no2 ambiguous/keys_disagree\nr1 duplicate/superseded_attempt\nr2 correct/equal 1"},
		{"a key that only a set-aside result carries", nil, nil, ops + "a,k,1\nb,l,1\nb,l,2\n", res + "x,b,k,1,settled\n",
			"o1 ambiguous/keys_disagree\no2 duplicate/conflicting_copies\no3 duplicate/conflicting_copies\nr1 ambiguous/counterpart_not_unique"},
	})
}

func TestV13BusinessKeys(t *testing.T) {
	const head, rhead = "operation_id,entity,currency,amount,created_at\n", "operation_id,entity,currency,amount,created_at,status\n"
	runCases(t, []ruleCase{
		{"mutually unique", nil, nil, head + "a,E,EUR,1.0,08T08:00\n", rhead + ",E,EUR,1,10T08:00,settled\n",
			"o1 correct/equal 1\nr1 correct/equal 1"},
		{"outside the window", nil, nil, head + "a,E,EUR,1,08T08:00\n", rhead + ",E,EUR,1,10T08:01,refused\n",
			"o1 absent/no_result\nr1 not_applicable/failed_attempt"},
		{"a missing time is no candidate", nil, nil, head + "a,E,EUR,1,\n", rhead + ",E,EUR,1,10T08:01,refused\n",
			"o1 absent/no_result\nr1 not_applicable/failed_attempt"},
		{"several", nil, nil, head + "a,E,EUR,1,10T08:00\nb,E,EUR,1,10T08:00\n", rhead + ",E,EUR,1,10T08:00,settled\n",
			"o1 ambiguous/several_candidates\no2 ambiguous/several_candidates\nr1 ambiguous/several_candidates"},
		{"the candidate of a row with several", nil, nil, head + "a,E,EUR,1,06T08:00\nb,E,EUR,1,09T08:00\n", rhead + ",E,EUR,1,08T08:00,settled\n,E,EUR,1,11T08:00,settled\n",
			"o1 ambiguous/several_candidates\no2 ambiguous/several_candidates\nr1 ambiguous/several_candidates\nr2 ambiguous/several_candidates"},
		{"claimed rows are not counted", nil, nil, head + "a,E,EUR,1,10T08:00\nb,E,EUR,1,10T08:00\n", rhead + "a,E,EUR,1,10T08:00,settled\n,E,EUR,1,10T08:00,settled\n",
			"o1 correct/equal 1\no2 correct/equal 2\nr1 correct/equal 1\nr2 correct/equal 2"},
	})
}

func TestV14Contradiction(t *testing.T) {
	const head, rhead = "operation_id,entity,currency,amount,created_at\n", "operation_id,entity,currency,amount,created_at,status\n"
	runCases(t, []ruleCase{
		{"the only candidate", nil, nil, head + "a,E,EUR,1,10T08:00\n", rhead + "q,E,EUR,1,10T08:00,settled\n",
			"o1 ambiguous/keys_disagree\nr1 ambiguous/keys_disagree"},
		{"goes before counting", nil, nil, head + "a,E,EUR,1,10T08:00\n", rhead + "q,E,EUR,1,10T08:00,settled\n,E,EUR,1,10T08:00,settled\n",
			"o1 correct/equal 2\nr1 unexpected/no_operation\nr2 correct/equal 1"},
	})
}

func TestV15Suggest(t *testing.T) {
	runCases(t, []ruleCase{{"links nothing", func(j *rules.Job) { j.Match[2].Suggest = true; j.Match[2].Within = nil }, nil,
		"operation_id,entity,currency,amount\na,E,EUR,1\n", "operation_id,entity,currency,amount,status\nq,E,EUR,1,settled\n",
		"o1 absent/no_result\nr1 unexpected/no_operation"}})
}

func TestV18NoUsableKey(t *testing.T) {
	runCases(t, []ruleCase{{"before status and window", nil, nil, "type,amount\ncharge,1\n", "amount,status\n1,refused\n",
		"o1 ambiguous/no_usable_key\nr1 ambiguous/no_usable_key"}})
}

func TestV19Status(t *testing.T) {
	const head, rhead = "operation_id,type,state,created_at,last_attempt_at\n", "operation_id,status\n"
	refunded := func(j *rules.Job) { j.Compare[3].Expect = rules.Reversed }
	runCases(t, []ruleCase{
		{"unmapped", nil, nil, head + "a,charge,,10T08:00,\n", rhead + "a,Settled\n",
			"o1 ambiguous/unmapped_status 1 status\nr1 ambiguous/unmapped_status 1 status"},
		{"unknown", nil, nil, head + "a,charge,,10T08:00,\n", rhead + "a,uncertain\n",
			"o1 ambiguous/outcome_unknown 1 status\nr1 ambiguous/outcome_unknown 1 status"},
		{"pending inside the window", nil, nil, head + "a,charge,,10T22:01,\n", rhead + "a,processing\n",
			"o1 not_due/pending_at_provider 1 status\nr1 not_due/pending_at_provider 1 status"},
		{"pending at the boundary", nil, nil, head + "a,charge,,10T22:00,\n", rhead + "a,processing\n",
			"o1 ambiguous/outcome_unknown 1 status\nr1 ambiguous/outcome_unknown 1 status"},
		{"pending without the time that decides", nil, nil, head + "a,charge,,,\n", rhead + "a,processing\n",
			"o1 ambiguous/time_ambiguous 1 status\nr1 ambiguous/time_ambiguous 1 status"},
		{"failed", nil, nil, head + "a,charge,,10T08:00,\n", rhead + "a,refused\n",
			"o1 absent/failed_at_provider 1\nr1 not_applicable/failed_attempt 1"},
		{"failed, not due yet", nil, nil, head + "a,charge,,10T22:01,\n", rhead + "a,refused\n",
			"o1 not_due/within_window 1\nr1 not_applicable/failed_attempt 1"},
		{"failed, held confirmed", nil, nil, head + "a,charge,confirmed,10T08:00,\n", rhead + "a,refused\n",
			"o1 divergent/status_conflict 1 status\nr1 divergent/status_conflict 1 status"},
		{"reversed", nil, nil, head + "a,charge,,10T08:00,\n", rhead + "a,charged_back\n",
			"o1 divergent/status_conflict 1 status\nr1 divergent/status_conflict 1 status"},
		{"reversed, and expected", refunded, nil, head + "a,charge,,10T08:00,\n", rhead + "a,charged_back\n",
			"o1 correct/equal 1\nr1 correct/equal 1"},
		{"another status is expected", refunded, nil, head + "a,charge,,10T08:00,\n", rhead + "a,settled\n",
			"o1 divergent/status_conflict 1 status\nr1 divergent/status_conflict 1 status"},
		{"a side without status succeeded", func(j *rules.Job) {
			dropField(j, rules.Results, "status")
			j.Compare = j.Compare[:3]
		}, nil, head + "a,charge,,10T08:00,\n", rhead + "a,refused\n",
			"o1 correct/equal 1\nr1 correct/equal 1"},
	})
}

func TestV20Unreadable(t *testing.T) {
	instants := func(j *rules.Job) {
		j.Compare = append(j.Compare, rules.Compare{Name: "created_at", Operations: "created_at", Results: "created_at", As: rules.AsInstant})
	}
	const head, rhead = "operation_id,amount,currency,created_at\n", "operation_id,amount,currency,created_at,status\n"
	runCases(t, []ruleCase{
		{"equals nothing, itself included", nil, nil, head + "a,!x,EUR,\n", rhead + "a,!x,USD,,settled\n",
			"o1 divergent/value_unreadable 1 amount;currency\nr1 divergent/value_unreadable 1 amount;currency"},
		{"wins over versions", nil, nil, "operation_id,amount,version\na,!x,2\n", "operation_id,amount,version,status\na,1,1,settled\n",
			"o1 divergent/value_unreadable 1 amount;version\nr1 divergent/value_unreadable 1 amount;version"},
		{"two readings that decide", instants, nil, head + "a,1,EUR,10T08:00|10T09:00\n", rhead + "a,2,EUR,10T08:00,settled\n",
			"o1 ambiguous/time_ambiguous 1 amount;created_at\nr1 ambiguous/time_ambiguous 1 amount;created_at"},
		{"two readings with one answer", instants, nil, head + "a,1,EUR,10T08:00|10T09:00\n", rhead + "a,1,EUR,10T10:00,settled\n",
			"o1 divergent/field_differs 1 created_at\nr1 divergent/field_differs 1 created_at"},
		{"a time that never was", instants, nil, head + "a,1,EUR,never\n", rhead + "a,1,EUR,10T10:00,settled\n",
			"o1 ambiguous/time_ambiguous 1 created_at\nr1 ambiguous/time_ambiguous 1 created_at"},
		{"not compared, it decides nothing", nil, nil, head + "a,1,EUR,never\n", rhead + "a,1,EUR,10T10:00,settled\n",
			"o1 correct/equal 1\nr1 correct/equal 1"},
	})
}

func TestV21Versions(t *testing.T) {
	const head, rhead = "operation_id,amount,version\n", "operation_id,amount,version,status\n"
	runCases(t, []ruleCase{
		{"behind", nil, nil, head + "a,1,10\n", rhead + "a,2,9,settled\n", "o1 divergent/version_behind 1 amount;version\nr1 divergent/version_behind 1 amount;version"},
		{"ahead", nil, nil, head + "a,1,9\n", rhead + "a,1,10,settled\n", "o1 divergent/version_ahead 1 version\nr1 divergent/version_ahead 1 version"},
		{"same, other content", nil, nil, head + "a,1,9\n", rhead + "a,2,9,settled\n", "o1 divergent/same_version_other_content 1 amount\nr1 divergent/same_version_other_content 1 amount"},
		{"missing on one side", nil, nil, head + "a,1,\n", rhead + "a,1,9,settled\n", "o1 divergent/field_differs 1 version\nr1 divergent/field_differs 1 version"},
		{"missing on both sides", nil, nil, head + "a,1,\n", rhead + "a,2,,settled\n", "o1 divergent/field_differs 1 amount\nr1 divergent/field_differs 1 amount"},
		{"opaque versions have no order", func(j *rules.Job) { j.Compare[2].Scheme = rules.VersionOpaque }, nil, head + "a,1,10\n", rhead + "a,1,9,settled\n",
			"o1 divergent/field_differs 1 version\nr1 divergent/field_differs 1 version"},
	})
}

func TestV22Fields(t *testing.T) {
	tolerant := func(j *rules.Job) { j.Compare[0].Absolute = "0.01" }
	const head, rhead = "operation_id,amount,currency\n", "operation_id,amount,currency,status\n"
	runCases(t, []ruleCase{
		{"every differing field", nil, nil, head + "a,1,EUR\n", rhead + "a,2,USD,settled\n", "o1 divergent/field_differs 1 amount;currency\nr1 divergent/field_differs 1 amount;currency"},
		{"within tolerance, the boundary", tolerant, nil, head + "a,1.00,EUR\n", rhead + "a,0.99,EUR,settled\n", "o1 correct/within_tolerance 1 amount\nr1 correct/within_tolerance 1 amount"},
		{"beyond tolerance", tolerant, nil, head + "a,1.00,EUR\n", rhead + "a,0.989,EUR,settled\n", "o1 divergent/field_differs 1 amount\nr1 divergent/field_differs 1 amount"},
		{"null equals null", nil, nil, head + "a,,\n", rhead + "a,,,settled\n", "o1 correct/equal 1\nr1 correct/equal 1"},
		{"a tolerance does not bridge null", tolerant, nil, head + "a,,EUR\n", rhead + "a,0,EUR,settled\n", "o1 divergent/field_differs 1 amount\nr1 divergent/field_differs 1 amount"},
		{"only where the guard is equal", func(j *rules.Job) { j.Compare[0].OnlyIfEqual = "currency" }, nil, head + "a,1,EUR\n", rhead + "a,2,USD,settled\n",
			"o1 divergent/field_differs 1 currency\nr1 divergent/field_differs 1 currency"},
	})
}

func TestV23Once(t *testing.T) {
	b := newBench(newJob(), "operation_id,type,created_at\na,charge,10T08:00\nb,charge,09T08:00\nc,charge,\n",
		"operation_id,status\na,settled\nb,settled\nc,settled\n")
	b.in.ResultsCoverage = []extract.Interval{{From: instant("10T00:00"), Until: instant("11T00:00"), Proves: rules.FullLifecycle}}
	out := b.run(t)
	for id, want := range map[int64]bool{1: true, 2: false, 3: false} {
		for _, v := range []Verdict{out.Operations[id], out.Results[id]} {
			if v.Class != Correct || v.Once == nil || *v.Once != want {
				t.Errorf("row %d: %v, want once %t", id, v, want)
			}
		}
	}
}

func TestV24V25Windows(t *testing.T) {
	const head = "operation_id,type,created_at,last_attempt_at,lease_until\n"
	runCases(t, []ruleCase{
		{"a live lease", nil, nil, head + "a,charge,10T08:00,,11T04:01\n", "operation_id\n", "o1 not_due/in_progress"},
		{"an expired lease proves nothing", nil, nil, head + "a,charge,10T08:00,,11T04:00\n", "operation_id\n", "o1 absent/no_result"},
		{"inside the deadline", nil, nil, head + "a,charge,10T22:01,,\n", "operation_id\n", "o1 not_due/within_window"},
		{"the boundary is due", nil, nil, head + "a,charge,10T22:00,,\n", "operation_id\n", "o1 absent/no_result"},
		{"a late attempt", nil, nil, head + "a,charge,10T08:00,11T03:46,\n", "operation_id\n", "o1 not_due/within_window"},
		{"whatever the coverage", nil, func(b *bench) { b.in.ResultsCoverage = nil }, head + "a,charge,10T22:01,,\n", "operation_id\n", "o1 not_due/within_window"},
		{"without the time", nil, nil, head + "a,charge,,,\nb,charge,10T08:00|10T09:00,,\nc,charge,never,,\n", "operation_id\n",
			"o1 ambiguous/time_ambiguous\no2 ambiguous/time_ambiguous\no3 ambiguous/time_ambiguous"},
		{"a last attempt that cannot be read", nil, nil, head + "a,charge,10T08:00,!soon,\nb,charge,10T08:00,never,\n", "operation_id\n",
			"o1 ambiguous/time_ambiguous\no2 ambiguous/time_ambiguous"},
		{"an attempt without its time may be a moment old", nil, nil,
			"operation_id,type,created_at,attempts,last_attempt_at\na,charge,10T08:00,1,\nb,charge,10T08:00,!x,\nc,charge,10T08:00,0,\nd,charge,10T08:00,,\ne,charge,10T08:00,1,10T08:01\n", "operation_id\n",
			"o1 ambiguous/time_ambiguous\no2 ambiguous/time_ambiguous\no3 absent/no_result\no4 absent/no_result\no5 absent/no_result"},
		{"the default of all types", func(j *rules.Job) { j.Types["*"] = j.Types["charge"] }, nil, head + "a,other,10T22:01,,\n", "operation_id\n", "o1 not_due/within_window"},
		{"no window: due", nil, nil, head + "a,other,11T03:59,,\n", "operation_id\n", "o1 absent/no_result"},
	})
}

func TestV26Coverage(t *testing.T) {
	const head = "operation_id,type,created_at,last_attempt_at\n"
	cover := func(spans ...string) func(*bench) {
		return func(b *bench) {
			b.in.ResultsCoverage = nil
			for i := 0; i < len(spans); i += 2 {
				b.in.ResultsCoverage = append(b.in.ResultsCoverage, extract.Interval{
					From: instant(spans[i]), Until: instant(spans[i+1]), Proves: rules.FullLifecycle, Lag: 30 * time.Minute})
			}
		}
	}
	each := func(f func(*extract.Interval)) func(*bench) {
		return func(b *bench) {
			cover("10T07:55", "10T14:35")(b)
			for i := range b.in.ResultsCoverage {
				f(&b.in.ResultsCoverage[i])
			}
		}
	}
	one := head + "a,charge,10T08:00,\n"
	const absent, incomplete = "o1 absent/no_result", "o1 ambiguous/coverage_incomplete"
	runCases(t, []ruleCase{
		{"exactly", nil, cover("10T07:55", "10T14:35"), one, "operation_id\n", absent},
		{"begins too late", nil, cover("10T07:56", "10T14:35"), one, "operation_id\n", incomplete},
		{"ends too early", nil, cover("10T07:55", "10T14:34"), one, "operation_id\n", incomplete},
		{"adjacent", nil, cover("10T10:00", "10T15:00", "10T07:00", "10T10:00"), one, "operation_id\n", absent},
		{"a gap", nil, cover("10T07:00", "10T10:00", "10T10:01", "10T15:00"), one, "operation_id\n", incomplete},
		{"a late attempt moves the end", nil, cover("10T07:55", "10T14:35"), head + "a,charge,10T08:00,10T14:00\n", "operation_id\n", incomplete},
		{"withdrawn", nil, each(func(i *extract.Interval) {
			i.Withdrawn = []extract.Gap{{From: instant("10T09:00"), Until: instant("10T09:01")}}
		}), one, "operation_id\n", incomplete},
		{"withdrawn for another time", nil, each(func(i *extract.Interval) {
			i.Withdrawn = []extract.Gap{{From: instant("09T09:00"), Until: instant("09T09:01")}}
		}), one, "operation_id\n", absent},
		{"proves settlements only", nil, each(func(i *extract.Interval) { i.Proves = rules.SettledOnly }), one, "operation_id\n", incomplete},
		{"the effect is the settlement", func(j *rules.Job) {
			p := j.Types["charge"]
			p.EffectIs = "settlement"
			j.Types["charge"] = p
		}, each(func(i *extract.Interval) { i.Proves = rules.SettledOnly }), one, "operation_id\n", absent},
		{"proves presence only", nil, each(func(i *extract.Interval) { i.Proves = rules.PresenceOnly }), one, "operation_id\n", incomplete},
		{"proves failures only", nil, each(func(i *extract.Interval) { i.Proves = rules.FailuresOnly }), one, "operation_id\n", incomplete},
		{"every account that should know", func(j *rules.Job) {
			j.Results.Sources = append(j.Results.Sources, rules.Source{Coverage: rules.Coverage{Account: "late", Complete: true}})
		}, nil, one, "operation_id\n", incomplete},
		{"an account of other types", func(j *rules.Job) {
			j.Results.Sources = append(j.Results.Sources, rules.Source{Coverage: rules.Coverage{Account: "late", Types: []string{"refund"}}})
		}, nil, one, "operation_id\n", absent},
		{"an account that need not know", func(j *rules.Job) {
			j.Results.Sources = append(j.Results.Sources, rules.Source{Coverage: rules.Coverage{Account: "late", Knows: rule("entity = 'x'")}})
		}, nil, one, "operation_id\n", absent},
		{"without the time that the need counts from", nil, cover("10T07:55", "10T14:35"), head + "a,other,,\n", "operation_id\n", "o1 ambiguous/time_ambiguous"},
		{"nothing is proved, whatever the time", nil, func(b *bench) { b.in.ResultsCoverage[0] = extract.Interval{Proves: rules.FullLifecycle} },
			head + "a,other,,\n", "operation_id\n", incomplete},
		{"no account should know", func(j *rules.Job) { j.Results.Sources[0].Coverage.Types = []string{"refund"} },
			each(func(i *extract.Interval) { i.Types = []string{"refund"} }), one, "operation_id\n", incomplete},
	})
}

func TestV27Unattributed(t *testing.T) {
	const head, rhead = "operation_id,type,entity,currency,amount,created_at\n", "operation_id,type,entity,currency,amount,created_at,status\n"
	const op = head + "a,charge,E,EUR,1,10T08:00\n"
	const could, not = "o1 ambiguous/unattributed_result\nr1 ambiguous/unattributed_result", "o1 absent/no_result\nr1 unexpected/no_operation"
	runCases(t, []ruleCase{
		{"another amount is no contradiction", nil, nil, op, rhead + ",charge,E,EUR,2,10T09:00,settled\n", could},
		{"by type", nil, nil, op, rhead + ",refund,E,EUR,2,10T09:00,settled\n", not},
		{"by the types of its source", nil, func(b *bench) {
			b.in.ResultSources = map[int]*rules.Source{0: {Coverage: rules.Coverage{Types: []string{"refund"}}}}
		}, op, rhead + ",,E,EUR,2,10T09:00,settled\n", not},
		{"by entity", nil, nil, op, rhead + ",charge,F,EUR,2,10T09:00,settled\n", not},
		{"by currency", nil, nil, op, rhead + ",charge,E,USD,1,10T09:00,settled\n", not},
		{"by time", nil, nil, op, rhead + ",charge,E,EUR,2,10T07:54,settled\n", not},
		{"inside the skew", nil, nil, op, rhead + ",charge,E,EUR,2,10T07:55,settled\n", could},
		{"empty values contradict nothing, the key stays unusable", nil, nil, op, rhead + ",,,,,,settled\n",
			"o1 ambiguous/unattributed_result\nr1 ambiguous/no_usable_key"},
		{"what failed is no effect", nil, nil, op, rhead + ",charge,E,EUR,2,10T09:00,refused\n", "o1 absent/no_result\nr1 not_applicable/failed_attempt"},
		{"an identity key makes it somebody's", nil, nil, op, rhead + "q,charge,E,EUR,2,10T09:00,settled\n", not},
		{"no identity pass in the job", func(j *rules.Job) { j.Match = j.Match[2:] }, nil, op, rhead + ",charge,E,EUR,2,10T09:00,settled\n", not},
		{"narrowed by amount", func(j *rules.Job) { j.Unattributed.Contradicts = []string{"amount"} }, nil, op, rhead + ",charge,E,EUR,2,10T09:00,settled\n", not},
		{"narrowed by time", func(j *rules.Job) { j.Unattributed.Within = time.Hour }, nil, op, rhead + ",charge,E,EUR,2,10T09:06,settled\n", not},
		{"narrowed by time, less the skew", func(j *rules.Job) { j.Unattributed.Within = time.Hour }, nil, op, rhead + ",charge,E,EUR,2,10T09:05,settled\n", could},
		{"an operation that is not due", nil, nil, head + "a,charge,E,EUR,1,10T23:00\n", rhead + ",charge,E,EUR,2,10T23:30,settled\n",
			"o1 not_due/within_window\nr1 ambiguous/unattributed_result"},
		{"operations with an effect do not count", nil, nil, op + "b,charge,E,EUR,1,10T08:00\n", rhead + "a,charge,E,EUR,1,10T08:00,settled\n,charge,E,EUR,2,10T09:00,settled\n",
			"o1 correct/equal 1\no2 ambiguous/unattributed_result\nr1 correct/equal 1\nr2 ambiguous/unattributed_result"},
		{"out of the period it may still be the effect", nil, func(b *bench) {
			b.job.Period = &rules.Period{By: "created_at", Reason: "out_of_period"}
			b.in.Job.PeriodFrom, b.in.Job.PeriodUntil = instant("10T00:00"), instant("11T00:00")
		}, op, rhead + ",charge,E,EUR,2,11T00:00,settled\n", "o1 ambiguous/unattributed_result\nr1 not_applicable/out_of_period"},
		{"failed attempts do not excuse it", nil, nil, op, rhead + "a,charge,E,EUR,1,10T08:00,refused\n,charge,E,EUR,2,10T09:00,settled\n",
			"o1 ambiguous/unattributed_result 1\nr1 not_applicable/failed_attempt 1\nr2 ambiguous/unattributed_result"},
	})
}

func TestV27CountsCandidates(t *testing.T) {
	b := newBench(newJob(), "operation_id,type,currency\na,charge,EUR\nb,charge,EUR\nc,charge,USD\n", "currency,status\nEUR,settled\n")
	b.job.Types = nil
	if got := b.run(t).Results[1].Candidates; got != 2 {
		t.Errorf("%d candidates, want 2", got)
	}
}

func TestV28Absent(t *testing.T) {
	fee := func(j *rules.Job) {
		j.Scope = []rules.ScopeRule{{Side: rules.Results, When: rule("kind = 'fee'"), Reason: "fee_row"}}
	}
	runCases(t, []ruleCase{
		{"only an excluded row carries the key", fee, nil, "operation_id\na\n", "operation_id,kind,status\na,fee,settled\n",
			"o1 ambiguous/outcome_unknown\nr1 not_applicable/fee_row"},
		{"failed there, and an excluded row carries a key", fee, nil, "operation_id,idempotency_key\na,k\n",
			"remote_id,operation_id,idempotency_key,kind,status\nx,a,k,,refused\ny,a,k,fee,settled\n",
			"o1 ambiguous/outcome_unknown 1\nr1 not_applicable/failed_attempt 1\nr2 not_applicable/fee_row"},
		{"failed there, and another effect carries a key", nil, nil, "operation_id,idempotency_key\na,k\nb,l\n",
			"remote_id,operation_id,idempotency_key,status\nx,a,k,refused\ny,b,k,settled\n",
			"o1 ambiguous/keys_disagree 1\no2 ambiguous/keys_disagree\nr1 not_applicable/failed_attempt 1\nr2 ambiguous/keys_disagree"},
		{"a business key of a linked result does not count", nil, nil, "operation_id,entity,currency,amount\na,E,EUR,1\nb,E,EUR,1\n",
			"operation_id,entity,currency,amount,status\na,E,EUR,1,settled\n",
			"o1 correct/equal 1\no2 absent/no_result\nr1 correct/equal 1"},
	})
}

func TestV29Unexpected(t *testing.T) {
	export := func(from, until string) func(*bench) {
		return func(b *bench) {
			b.in.OperationsCoverage = []extract.Interval{{From: instant(from), Until: instant(until), Proves: rules.FullLifecycle}}
		}
	}
	const res = "operation_id,created_at,status\nq,10T08:00,settled\n"
	runCases(t, []ruleCase{
		{"shown by the export", nil, export("10T01:55", "10T08:01"), "operation_id\n", res, "r1 unexpected/no_operation"},
		{"the export begins too late", nil, export("10T01:56", "10T08:01"), "operation_id\n", res, "r1 ambiguous/coverage_incomplete"},
		{"the export ends too early", nil, export("10T01:00", "10T07:59"), "operation_id\n", res, "r1 ambiguous/coverage_incomplete"},
		{"without its time", nil, export("10T01:00", "10T09:00"), "operation_id\n", "operation_id,created_at,status\nq,,settled\n", "r1 ambiguous/time_ambiguous"},
		{"failed ones are nobody's", nil, export("10T01:56", "10T08:01"), "operation_id\n", "operation_id,created_at,status\nq,10T08:00,refused\n", "r1 not_applicable/failed_attempt"},
	})
}

// Each case changes one thing of an operation that may be requeued.
func TestV30Requeue(t *testing.T) {
	const head = "operation_id,idempotency_key,type,entity,state,version,attempts,error_class,created_at,first_failed_at,lease_until\n"
	const good = "a,k,charge,E,pending,1,1,transient,10T12:00,10T12:00,\n"
	const known = "operation_id,idempotency_key,status\nz,zz,refused\n"
	policy := func(change func(*rules.TypePolicy)) func(*bench) {
		return func(b *bench) {
			p := b.job.Types["charge"]
			change(&p)
			b.job.Types["charge"] = p
		}
	}
	cases := []struct {
		name                string
		operations, results string
		bench               func(*bench)
		queue               Queue
		refused             []string
	}{
		{"all checks pass", good, known, nil, Requeue, nil},
		{"not idempotent", "a,k,email,E,pending,1,1,,10T12:00,,\n", known, nil, Review, []string{"not_idempotent"}},
		{"attempts unknown", "a,k,charge,E,pending,1,,,10T12:00,,\n", known, nil, Review, []string{"attempts"}},
		{"attempts without a limit", good, known, policy(func(p *rules.TypePolicy) { p.MaxAttempts = 0 }), Review, []string{"attempts"}},
		{"no key", "a,,charge,E,pending,1,1,,10T12:00,,\n", known, nil, Review, []string{"no_key"}},
		{"key lifetime", "a,k,charge,E,pending,1,1,,10T04:00,,\n", known, nil, Review, []string{"key_lifetime"}},
		{"lifetime not declared", good, known, policy(func(p *rules.TypePolicy) { p.KeyTTL = 0 }), Review, []string{"key_lifetime"}},
		{"key shared", good + "b,k,refund,F,pending,1,1,,10T12:00,,\n", known, nil, Review, []string{"key_shared"}},
		{"a copy does not share", good + good, known, nil, Requeue, nil},
		{"attempts", "a,k,charge,E,pending,1,5,,10T12:00,,\n", known, nil, Review, []string{"attempts"}},
		{"duration", "a,k,charge,E,pending,1,1,,10T12:00,10T08:00,\n", known, nil, Review, []string{"duration"}},
		{"error class", "a,k,charge,E,pending,1,1,permanent,10T12:00,,\n", known, nil, Review, []string{"error_class"}},
		{"a refusal", good, "operation_id,idempotency_key,status\na,k,refused\n", nil, Review, []string{"error_class"}},
		{"a refusal that may be retried", good, "operation_id,idempotency_key,status\na,k,refused\n",
			policy(func(p *rules.TypePolicy) { p.Retryable = []string{"refused"} }), Requeue, nil},
		{"newer version", good + "b,l,charge,E,confirmed,2,1,,10T12:00,,\n", known, nil, Review, []string{"newer_version"}},
		{"version unknown beside a known one", "a,k,charge,E,pending,,1,,10T12:00,,\nb,l,charge,E,confirmed,2,1,,10T12:00,,\n", known, nil, Review, []string{"newer_version"}},
		{"newer version of another type", good + "b,l,refund,E,confirmed,2,1,,10T12:00,,\n", known, nil, Requeue, nil},
		{"sibling with an effect", good + "b,l,charge,E,confirmed,1,1,,10T12:00,,\n", "operation_id,idempotency_key,version,status\nb,l,1,settled\n",
			policy(func(p *rules.TypePolicy) { p.OncePer = []string{"entity"} }), Review, []string{"sibling_effect"}},
		{"sibling that we hold confirmed and that failed", good + "b,l,charge,E,confirmed,1,1,,10T12:00,,\n", "operation_id,idempotency_key,version,status\nb,l,1,refused\n",
			policy(func(p *rules.TypePolicy) { p.OncePer = []string{"entity"} }), Review, []string{"sibling_effect"}},
		{"absent sibling", good + "b,l,charge,E,pending,1,5,,10T12:00,,\n", known,
			policy(func(p *rules.TypePolicy) { p.OncePer = []string{"entity"} }), Requeue, nil},
		{"absent sibling that could be sent as well", good + "b,l,charge,E,pending,1,1,,10T12:00,,\n", known,
			policy(func(p *rules.TypePolicy) { p.OncePer = []string{"entity"} }), Review, []string{"sibling_effect"}},
		{"undecided sibling", good + "b,l,charge,E,confirmed,1,1,,11T03:00,,\n", known,
			policy(func(p *rules.TypePolicy) { p.OncePer = []string{"entity"} }), Review, []string{"sibling_effect"}},
		{"results do not carry its key", good, "operation_id,status\n,refused\n", nil, Review, []string{"no_identity"}},
		{"stale export", good, known, func(b *bench) {
			policy(func(p *rules.TypePolicy) { p.ExportAge = time.Hour })(b)
			b.in.OperationsCoverage = []extract.Interval{{From: instant("01T00:00"), Until: instant("11T02:59"), Proves: rules.FullLifecycle}}
		}, Review, []string{"stale_export"}},
		{"a stale export beside a fresh one", good, known, func(b *bench) {
			policy(func(p *rules.TypePolicy) { p.ExportAge = time.Hour })(b)
			b.in.OperationsCoverage = []extract.Interval{{Complete: true}, {Account: "b", From: instant("01T00:00"), Until: instant("11T02:59")}}
		}, Review, []string{"stale_export"}},
		{"the newer of two exports of an account", good, known, func(b *bench) {
			policy(func(p *rules.TypePolicy) { p.ExportAge = time.Hour })(b)
			b.in.OperationsCoverage = []extract.Interval{{Complete: true}, {From: instant("01T00:00"), Until: instant("11T02:59")}}
		}, Requeue, nil},
		{"state", "a,k,charge,E,confirmed,1,1,,10T12:00,,\n", known, nil, Review, []string{"state"}},
		{"unknown state", "a,k,charge,E,parked,1,1,,10T12:00,,\n", known, nil, Review, []string{"state"}},
		{"a lease that cannot be read", "a,k,charge,E,pending,1,1,,10T12:00,,!soon\n", known, nil, Review, []string{"lease"}},
		{"a lease until a time that never was", "a,k,charge,E,pending,1,1,,10T12:00,,never\n", known, nil, Review, []string{"lease"}},
		{"a first failure that cannot be read", "a,k,charge,E,pending,1,1,,10T12:00,!soon,\n", known, nil, Review, []string{"duration"}},
		{"attempts that cannot be read", "a,k,charge,E,pending,1,!x,,10T12:00,,\n", known, nil, Review, []string{"attempts"}},
		{"a version beside it that cannot be read", good + "b,l,charge,E,confirmed,!x,1,,10T12:00,,\n", known, nil, Review, []string{"newer_version"}},
		{"every refused check", "a,,email,E,parked,1,5,critical,10T12:00,10T08:00,\n", known, nil, Review,
			[]string{"not_idempotent", "no_key", "attempts", "duration", "error_class", "state"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			job := newJob()
			for name, p := range job.Types {
				p.Expected = 0 // the tables do not say when the last attempt was
				job.Types[name] = p
			}
			b := newBench(job, head+c.operations, c.results)
			if c.bench != nil {
				c.bench(b)
			}
			out := b.run(t)
			if p := out.Proposals[1]; p.Queue != c.queue || !slices.Equal(p.Refused, c.refused) {
				t.Errorf("%s: got %s %v, want %s %v", line("o", 1, out.Operations[1]), p.Queue, p.Refused, c.queue, c.refused)
			}
		})
	}
}

func TestV31V32Proposals(t *testing.T) {
	scope := []rules.ScopeRule{{Side: rules.Operations, When: rule("entity = 'off'"), Reason: "off"}}
	const head = "operation_id,idempotency_key,type,entity,state,amount,version\n"
	const rhead = "remote_id,operation_id,idempotency_key,amount,version,created_at,status\n"
	const twice = rhead + "x,a,k,1,1,10T08:00,settled\ny,a,k,1,1,10T09:00,settled\n"
	cases := []struct {
		name                string
		operations, results string
		keep                bool
		queue               Queue
		refused             []string
	}{
		{"confirm", "a,k,,,pending,1,1\n", rhead + "x,a,k,1,1,,settled\n", false, Confirm, nil},
		{"confirmed already", "a,k,,,confirmed,1,1\n", rhead + "x,a,k,1,1,,settled\n", false, None, nil},
		{"final already", "a,k,,,compensated,1,1\n", rhead + "x,a,k,1,1,,settled\n", false, None, nil},
		{"no way to confirmed", "a,k,,,parked,1,1\n", rhead + "x,a,k,1,1,,settled\n", false, Review, []string{"state"}},
		{"compensate", "a,k,,,pending,1,1\n", twice, true, Compensate, nil},
		{"no good effect", "a,k,,,pending,1,1\n", twice, false, Review, []string{"no_good_effect"}},
		{"good one differs", "a,k,,,pending,2,1\n", twice, true, Review, []string{"good_effect_differs"}},
		{"good one has another version", "a,k,,,pending,1,2\n", twice, true, Review, []string{"good_effect_differs"}},
		{"not succeeded", "a,k,,,pending,1,1\n", rhead + "x,a,k,1,1,10T08:00,settled\ny,a,k,1,1,10T09:00,processing\n", true, Review, []string{"not_succeeded"}},
		{"partial effects", "a,k,,,pending,1,1\n", rhead + "x,a,k,1,1,10T08:00,settled\ny,a,k,-1,1,10T09:00,settled\n", true, Review, []string{"good_effect_differs"}},
		{"not settled", "a,k,,,pending,1,1\n", rhead + "x,a,,1,1,10T08:00,settled\ny,a,q,1,1,10T09:00,settled\n", true, Review, []string{"not_settled"}},
		{"nothing names it", "a,k,,,pending,1,1\n", rhead + "x,a,k,1,1,10T08:00,settled\n,a,k,1,1,10T09:00,settled\n", true, Review, []string{"no_remote_id"}},
		{"nothing undoes it", "a,k,voucher,,pending,1,1\n", twice, true, Review, []string{"no_business_operation"}},
		{"close", "a,k,,off,pending,1,1\n", rhead, false, Close, nil},
		{"closed already", "a,k,,off,not_applicable,1,1\n", rhead, false, None, nil},
		{"no way to closed", "a,k,,off,manual_review,1,1\n", rhead, false, Review, []string{"state"}},
		{"divergent", "a,k,,,pending,2,1\n", rhead + "x,a,k,1,1,,settled\n", false, Review, nil},
		{"ambiguous is never requeued", "a,k,,,pending,2,1\n", rhead + "x,a,k,1,1,,uncertain\n", false, Review, nil},
		{"an operation without its time", "a,k,charge,,pending,2,1\n", rhead, false, Review, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			job := newJob()
			job.Scope = scope
			undo := job.Types["charge"]
			undo.HasWindow = false
			job.Types["*"] = undo
			if c.keep {
				job.Results.KeepEffect = &rules.KeepEffect{Earliest: "created_at"}
			}
			out := newBench(job, head+c.operations, c.results).run(t)
			if p := out.Proposals[1]; p.Queue != c.queue || !slices.Equal(p.Refused, c.refused) {
				t.Errorf("%s: got %s %v, want %s %v", line("o", 1, out.Operations[1]), p.Queue, p.Refused, c.queue, c.refused)
			}
		})
	}
}

func TestUnresolvedSets(t *testing.T) {
	b := newBench(newJob(), `operation_id,idempotency_key,entity,currency,amount,created_at
a,k,,,1,
a,l,,,1,
b,m,,,1,
c,m,,,1,
d,n,,,1,
e,o,,,1,
f,,E,EUR,1,10T08:00
g,,E,EUR,1,10T08:00
h,,F,EUR,1,10T08:00
`, `operation_id,idempotency_key,entity,currency,amount,created_at,status
,l,,,1,,settled
,m,,,1,,settled
d,o,,,1,,settled
,,E,EUR,1,10T08:00,settled
q,,F,EUR,1,10T08:00,settled
`)
	out := b.run(t)
	sets := map[int64]string{}
	for id := int64(1); id <= 9; id++ {
		if s := out.Operations[id].SetID; s != 0 {
			sets[s] += line("o", id, Verdict{})[:2]
		}
	}
	for id := int64(1); id <= 5; id++ {
		if s := out.Results[id].SetID; s != 0 {
			sets[s] += line("r", id, Verdict{})[:2]
		}
	}
	var got []string
	for _, s := range sets {
		got = append(got, s)
	}
	slices.Sort(got)
	if want := []string{"o1o2r1", "o3o4r2", "o5o6r3", "o7o8r4", "o9r5"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPassOfEachLink(t *testing.T) {
	out := newBench(newJob(), "operation_id,idempotency_key,entity,currency,amount,created_at\na,k,,,1,\nb,l,,,1,\nc,m,E,EUR,1,10T08:00\n",
		"operation_id,idempotency_key,entity,currency,amount,created_at,status\na,k,,,1,,settled\n,k,,,1,,settled\n,l,,,1,,settled\n,,E,EUR,1,10T08:00,settled\nz,,,,1,,settled\n").run(t)
	for id, want := range map[int64]int{1: 0, 2: 1, 3: 2} {
		if got := out.Operations[id].Pass; got != want {
			t.Errorf("operation %d: pass %d, want %d", id, got, want)
		}
	}
	for id, want := range map[int64]int{1: 0, 2: 1, 3: 1, 4: 2, 5: -1} {
		if got := out.Results[id].Pass; got != want {
			t.Errorf("result %d: pass %d, want %d", id, got, want)
		}
	}
}

func TestDates(t *testing.T) {
	job := func(j *rules.Job) {
		j.Operations.Fields = append(j.Operations.Fields, rules.Field{Name: "booked_on", Type: rules.Date})
		j.Results.Fields = append(j.Results.Fields, rules.Field{Name: "booked_on", Type: rules.Date})
		j.Match[2].Within[0] = rules.Within{Field: "booked_on", Max: 24 * time.Hour}
		j.Zone = time.FixedZone("", 2*60*60)
		j.Period = &rules.Period{By: "booked_on", Reason: "out_of_period"}
	}
	period := func(b *bench) {
		b.in.Job.PeriodFrom, b.in.Job.PeriodUntil = instant("10T00:00"), instant("11T00:00")
	}
	const head, rhead = "operation_id,entity,currency,amount,booked_on\n", "operation_id,entity,currency,amount,booked_on,status\n"
	runCases(t, []ruleCase{
		{"V13: the window counts whole days", func(j *rules.Job) { job(j); j.Period = nil }, nil, head + "a,E,EUR,1,2031-06-10\nb,F,EUR,1,2031-06-10\n",
			rhead + ",E,EUR,1,2031-06-11,settled\nq,F,EUR,1,2031-06-12,settled\n",
			"o1 correct/equal 1\no2 absent/no_result\nr1 correct/equal 1\nr2 unexpected/no_operation"},
		{"V8: days are compared as days, whatever the zone", job, period, head + "a,E,EUR,1,2031-06-10\nb,E,EUR,1,2031-06-09\nc,E,EUR,1,2031-06-11\n",
			"operation_id,status\nq,refused\n",
			"o1 absent/no_result\no2 not_applicable/out_of_period\no3 not_applicable/out_of_period\nr1 not_applicable/failed_attempt"},
	})
}
