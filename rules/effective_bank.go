package rules

// bank writes how the file of a bank is read.
func (t *tree) bank(b *Bank, f Format) {
	if b == nil {
		return
	}
	t.sub("bank", func(t *tree) {
		if f == FormatCamt {
			t.text("batch", b.Batch)
		}
		t.text("proof", b.Proof)
		if f == FormatCamt || f == FormatMT940 {
			t.text("sequence", b.Sequence)
		}
		if f != FormatCamt && f != FormatPain002 {
			t.text("encoding", b.Encoding)
		}
		t.texts("credit_codes", b.CreditCodes)
		t.texts("debit_codes", b.DebitCodes)
		t.sub("exponents", func(t *tree) {
			for _, c := range sortedKeys(b.Exponents) {
				t.integer(c, int64(b.Exponents[c]))
			}
		})
		if r := b.Reach; r != nil {
			t.sub("reach", func(t *tree) {
				t.text("path", string(r.Path))
				t.text("msg_id", r.MsgID)
				t.text("pmt_inf_id", r.PmtInfID)
				t.text("end_to_end_id", r.EndToEndID)
				t.text("instruction_id", r.InstructionID)
			})
		}
	})
}
