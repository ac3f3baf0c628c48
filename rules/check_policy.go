package rules

import (
	"slices"
	"strings"
)

// mayAct tells whether something may be proposed for a type beyond looking at it.
func (p *TypePolicy) mayAct() bool {
	return p.Idempotent || p.CompensateWith != "" || p.Unexpected != nil
}

// grave risks are those of which a mistake cannot be made good by trying again.
var graveRisks = []string{"financial", "irreversible", "regulated"}

// checkActing finds what a type lacks that may act: people who answer for it, the
// fields that its keys are about.
func (d *decoder) checkActing(job *Job, name string, p TypePolicy, path string) {
	var missing, add []string
	if p.Owner == "" {
		missing, add = append(missing, "owner"), append(add, "`owner: team`")
	}
	if p.ReplyBy == 0 {
		missing, add = append(missing, "reply_by"), append(add, "`reply_by: 2d`")
	}
	if p.mayAct() && len(missing) > 0 && job.Mode != Observe && !d.faulty(path) {
		hint := "add " + strings.Join(add, " and ") + ", or `mode: observe` to the job"
		const format = "%s may act, but does not say who answers for it until when: it has no %s"
		lacks := strings.Join(missing, " and no ")
		if slices.Contains(graveRisks, p.Risk) {
			d.fail(path, hint, format+", and its risk is "+p.Risk, name, lacks)
		} else {
			d.warn(path, hint, format, name, lacks)
		}
	}
	if p.Idempotent && p.Risk == "financial" && len(p.OncePer) == 0 {
		d.warn(path, "declare the field entity, or write `once_per: […]`: the fields in which two operations are the same payment", "%s is financial and may be requeued, but nothing tells whether the customer has paid again by another operation", name)
	}
	if p.Unexpected != nil && !job.Operations.WholeRegister {
		d.warn(join(path, "unexpected"), "add `whole_register: true` to operations where that holds", "unexpected effects of %s go to review: the operations are not declared to be the whole register (V31)", name)
	}
	if len(p.Errors) > 0 && job.Operations.Field("error_code") == nil {
		d.warn(join(path, "errors"), "add `error_code: column` to operations.fields", "the codes of %s are not used: the operations declare no field error_code", name)
	}
}

// checkPilot finds conditions of a pilot, and canaries, that no operation could meet.
func (d *decoder) checkPilot(job *Job) {
	if len(job.Canaries) > 0 && job.Operations.Field("operation_id") == nil && !d.faulty("operations.fields") {
		d.fail("canaries", "add `operation_id: column` to operations.fields", "canaries are found by the field operation_id, which the operations do not declare")
	}
	p := job.Pilot
	if p == nil {
		return
	}
	if _, all := job.Types["*"]; !all {
		for i, t := range p.Types {
			at := "pilot.types"
			if _, ok := d.places[index(at, i)]; ok {
				at = index(at, i)
			}
			if _, ok := job.Types[t]; !ok && !d.faulty("types") {
				d.fail(at, didYouMean(t, sortedKeys(job.Types)), "no policy names the type %q, so that the pilot acts on none", t)
			}
		}
	}
	if len(p.Types) > 0 && job.Operations.Field("type") == nil && !d.faulty("operations.fields") {
		d.fail("pilot.types", "add `type: column` to operations.fields", "a pilot by type needs the field type of the operations")
	}
	for _, key := range []struct {
		name string
		at   Template
	}{{"from", p.From}, {"until", p.Until}} {
		if f := job.Operations.Field("created_at"); key.at != "" && (f == nil || f.Type != Timestamp) && !d.faulty("operations.fields") {
			d.fail("pilot."+key.name, "add `created_at: {column: …, type: timestamp}` to operations.fields", "a pilot by time needs the field created_at of the operations, of type timestamp")
			break
		}
	}
	if p.Share > 0 && job.Operations.Field("operation_id") == nil && !d.faulty("operations.fields") {
		d.fail("pilot.share", "add `operation_id: column` to operations.fields", "a share is chosen by the field operation_id of the operations")
	}
}
