package classify

import (
	"github.com/recon-batch/recon-batch/internal/duck"
	"github.com/recon-batch/recon-batch/rules"
)

// What an absent operation becomes whose version was overtaken while it waited. With
// anything but these it is refused as newer_version and goes to a person.
const (
	whenClose      = "close"
	whenSendNewest = "send_newest"
)

// overtaken finds the absent operations that their policy closes.
func (c *classifier) overtaken() error {
	return c.exec("overtaken", duck.Slots{"when_overtaken": c.policy(func(p rules.TypePolicy) string {
		switch p.WhenOvertaken {
		case whenClose, whenSendNewest:
			return duck.Literal(p.WhenOvertaken)
		}
		return "'review'"
	}, "'review'")})
}
