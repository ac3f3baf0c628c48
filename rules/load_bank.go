package rules

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// bank reads the mapping of a bank's file.
func (d *decoder) bank(o *object, s *Source) {
	if !s.Format.Bank() {
		if o.has("bank") && s.Format != "" {
			o.fail("bank", "remove it, or declare `format: camt` (or mt940, mt942, bai2, pain002, nacha)", "the source is %s, `bank` says nothing about it", s.Format)
		}
		return
	}
	if s.OnReject == RejectKeep {
		o.fail("on_reject", "remove it", "the file of a bank is proved as a whole, and has no record that could be left out")
	}
	if s.Compression == CompressionZip && s.Zip != nil && strings.ContainsAny(s.Zip.Member, "*?[") {
		o.fail("zip", "name one member; have each file sent in an archive of its own", "the members of an archive are one file, but each file of a bank proves itself")
	}
	b := &Bank{Batch: "split", Proof: "check", Sequence: "check", Encoding: "utf-8"}
	s.Bank = b
	c := o.sub("bank", bankShape)
	if c == nil {
		return
	}
	b.Batch = choice(c, "batch", "split", "split", "keep")
	b.Proof = choice(c, "proof", "check", "check", "require", "report")
	b.Sequence = choice(c, "sequence", "check", "check", "ignore")
	b.Encoding = choice(c, "encoding", "utf-8", bankEncodings...)
	b.CreditCodes, b.DebitCodes = c.texts("credit_codes"), c.texts("debit_codes")
	for _, code := range b.DebitCodes {
		if slices.Contains(b.CreditCodes, code) {
			c.fail("debit_codes", "keep one of the two", "the type code %s is a credit and a debit", code)
		}
	}
	if n := c.node("exponents"); n != nil {
		d.exponents(n, c.at("exponents"), b)
	}
	for name, f := range map[string][]Format{
		"batch": {FormatCamt}, "sequence": {FormatCamt, FormatMT940}, "encoding": {FormatMT940, FormatMT942, FormatBAI2, FormatNACHA},
		"credit_codes": {FormatBAI2}, "debit_codes": {FormatBAI2}, "exponents": {FormatBAI2}, "reach": {FormatPain002},
	} {
		if c.has(name) && !slices.Contains(f, s.Format) {
			c.fail(name, "remove it", "%s says nothing about %s", c.at(name), s.Format)
		}
	}
	if r := c.sub("reach", bankReachShape); r != nil {
		d.bankReach(r, s)
	}
}

func (d *decoder) exponents(n *yaml.Node, path string, b *Bank) {
	b.Exponents = map[string]int{}
	d.free(n, path, func(currency string, _, v *yaml.Node, p string) {
		text, ok := d.scalar(v, p)
		if !ok {
			return
		}
		e, err := strconv.Atoi(text)
		if err != nil || e < 0 || e > 6 || len(currency) != 3 {
			d.fail(p, "write the decimals of a currency: {JPY: 0}", "%s: %q is no number of decimals from 0 to 6", p, text)
			return
		}
		b.Exponents[currency] = e
	})
}

func (d *decoder) bankReach(o *object, s *Source) {
	r := &BankReach{
		Path: Template(o.text("path", "")), MsgID: o.text("msg_id", "msg_id"), PmtInfID: o.text("pmt_inf_id", ""),
		EndToEndID: o.text("end_to_end_id", "end_to_end_id"), InstructionID: o.text("instruction_id", ""),
	}
	if r.Path != "" {
		d.template(r.Path, o.at("path"), s.Dates != nil)
	}
	s.Bank.Reach = r
}

// bankCoverage: an intraday report proves presence at most, whatever its job says, and
// a status report proves by its silence what its job says alone.
func (d *decoder) bankCoverage(o *object, s *Source, side Side) {
	switch {
	case s.Format == FormatMT942:
		if c := o.sub("coverage", coverageShape); s.Coverage.Declared && c != nil && c.has("proves") && s.Coverage.Proves != PresenceOnly {
			c.fail("proves", "write `proves: presence-only`, or remove it", "an MT942 is an intraday report: its silence proves nothing")
		}
		s.Coverage.Proves = PresenceOnly
	case s.Format == FormatPain002 && side == Results:
		d.statusCoverage(o)
	}
}

// statusCoverage: many banks list in a pain.002 what they refuse alone, so that
// silence may mean accepted. Neither the default nor `complete` says which it is, and
// an absence that is proved wrongly sends money twice.
func (d *decoder) statusCoverage(o *object) {
	const remedy = "write `coverage: {proves: presence-only}`; or with its times `proves: failures-only` where it lists what was refused, `proves: full-lifecycle` where it lists every operation"
	const why = "a pain.002 may list only what was refused: the source does not say what its silence means"
	n := o.node("coverage")
	switch {
	case n == nil:
		d.fail(o.path, remedy, why)
	case n.Kind != yaml.MappingNode:
		o.fail("coverage", remedy, why)
	default:
		if c := o.sub("coverage", coverageShape); c != nil && !c.has("proves") {
			o.fail("coverage", remedy, why)
		}
	}
}

// checkProvisional: the rows of an intraday report are never a ground for confirm.
func (d *decoder) checkProvisional(spec *SideSpec, paths []string) {
	for i := range spec.Sources {
		s := &spec.Sources[i]
		if spec.Side != Results || s.Format != FormatMT942 || i >= len(paths) {
			continue
		}
		if fault, remedy := s.ProvisionalFault(); fault != "" {
			d.fail(paths[i], remedy, "the source %s is an intraday report: %s", s.Name, fault)
		}
	}
}
