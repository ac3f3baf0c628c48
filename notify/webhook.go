package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/recon-batch/recon-batch/rules"
)

// Signature is the value of the header X-Recon-Signature: v1= and the HMAC-SHA-256, in
// hexadecimal, of the text of X-Recon-Timestamp, a point, and the body. A receiver
// compares it in constant time and refuses timestamps that are old.
func Signature(key, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// leastKey is the shortest key of a signature, in bytes.
const leastKey = 16

func (c *courier) webhook(ctx context.Context, n *rules.Notification) error {
	u, err := c.address(&n.Endpoint, false)
	if err != nil {
		return err
	}
	body, err := json.Marshal(message(c.ending, n.Link))
	if err != nil {
		return err
	}
	at := strconv.FormatInt(c.ending.Ended.Unix(), 10)
	headers := map[string]string{"X-Recon-Timestamp": at, "X-Recon-Id": strings.Join([]string{c.ending.Series, c.ending.BusinessDate, c.ending.RunID}, "/")}
	if n.Sign.Declared() {
		key, err := c.secret(n.Sign, "secret")
		if err != nil {
			return err
		}
		if len(key) < leastKey {
			return errors.New("secret: a key has at least 16 bytes")
		}
		headers["X-Recon-Signature"] = Signature(key, at, body)
	}
	_, err = c.post(ctx, &n.Endpoint, u, "application/json", body, headers)
	return err
}

// slackText escapes what Slack would read as markup (&, <, >), so that no name of a job
// file becomes a mention or a link.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (c *courier) slack(ctx context.Context, n *rules.Notification) error {
	u, err := c.address(&n.Endpoint, true)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"text": slackText.Replace(message(c.ending, n.Link).Text), "unfurl_links": false})
	if err != nil {
		return err
	}
	_, err = c.post(ctx, &n.Endpoint, u, "application/json", body, nil)
	return err
}
