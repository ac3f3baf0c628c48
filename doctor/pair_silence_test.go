package doctor

import (
	"strings"
	"testing"

	"github.com/recon-batch/recon-batch/rules"
)

const statusReport = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><GrpHdr><MsgId>A</MsgId></GrpHdr>` +
	`<OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId><GrpSts>PART</GrpSts></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>P</OrgnlPmtInfId>` +
	`<TxInfAndSts><OrgnlEndToEndId>op-1</OrgnlEndToEndId><TxSts>RJCT</TxSts></TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`

// TestSilenceOfStatusReport: the written job loads, concludes nothing from what a
// pain.002 does not list, and says so.
func TestSilenceOfStatusReport(t *testing.T) {
	left := writeFile(t, "sent.csv", []byte("operation_id,amount\nop-1,10.00\nop-2,20.00\n"))
	_, job, assumed := joined(t, left, writeFile(t, "acks.xml", []byte(statusReport)), PairOptions{})
	c := job.Results.Sources[0].Coverage
	if c.Proves != rules.PresenceOnly || c.Complete || !strings.Contains(assumed, "its silence proves nothing") || strings.Contains(assumed, "both files are whole") {
		t.Errorf("coverage %+v, assumed\n%s", c, assumed)
	}
}
