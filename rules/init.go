package rules

import _ "embed"

//go:embed template.yaml
var initTemplate []byte

// InitTemplate is a commented job file that loads as it is; `recon-batch init`
// writes it.
func InitTemplate() []byte { return append([]byte(nil), initTemplate...) }
