package rules

// The shapes of what is told when a run has ended: metrics and notifications.

var metricsShape = &shape{
	name: "metrics", doc: "Where the metrics of a run are delivered once it has ended. A dead or slow place never changes how a run ends.",
	keys: []key{
		{name: "textfile", doc: "Folder of the textfile collector of node_exporter, relative to the job file; it must exist. The file is recon_batch_JOB.prom.", def: "none", value: schema{"type": "string"}},
		{name: "pushgateway", doc: "URL of a Pushgateway, or a mapping.", def: "none", value: anyValue(schema{"type": "string"}, shapeValue(endpointShape))},
		{name: "otlp", doc: "URL of an OTLP/HTTP receiver, /v1/metrics included, or a mapping.", def: "none", value: anyValue(schema{"type": "string"}, shapeValue(endpointShape))},
	},
}

var endpointShape = &shape{
	name: "endpoint", doc: "A place on the network.",
	keys: []key{
		{name: "url", doc: "Its URL, or where a URL that is a secret is: {file: …} or {env: …}.", required: true, value: anyValue(schema{"type": "string"}, shapeValue(secretShape))},
		{name: "hosts", doc: "The hosts that the URL may name: host or host:port. Required where the URL is a secret. Redirects are not followed.", def: "the host of the URL", value: listValue(textValue())},
		{name: "token", doc: "Sent as a bearer token.", def: "none", value: shapeValue(secretShape)},
	},
}

var notifyShape = &shape{
	name: "notify", doc: "Tells somebody how a run ended: numbers, amounts by currency and the run, no value of a row. A dead or slow place never changes how a run ends.",
	keys: []key{
		{name: "to", doc: "The way it goes.", required: true, value: enumValue(notifyWays...)},
		{name: "when", doc: "On which endings; one suffices. failed is a run that was not published.", def: "gate_failed, withheld, failed", value: listValue(enumValue(notifyOccasions...))},
		{name: "link", doc: "URL under which the output folder is served: the message names the report below it.", def: "none: the folder is named", value: schema{"type": "string"}},
		{name: "url", doc: "webhook, slack: the URL, or where a URL that is a secret is. That of Slack is one.", value: anyValue(schema{"type": "string"}, shapeValue(secretShape))},
		{name: "hosts", doc: "webhook, slack: the hosts that the URL may name. Required for a webhook whose URL is a secret. Redirects are not followed.", def: "the host of the URL; hooks.slack.com for Slack", value: listValue(textValue())},
		{name: "token", doc: "webhook: sent as a bearer token.", def: "none", value: shapeValue(secretShape)},
		{name: "secret", doc: "webhook: key of the HMAC-SHA-256 over time and body, in the header X-Recon-Signature.", def: "not signed", value: shapeValue(secretShape)},
		{name: "server", doc: "smtp: host:port of the mail server.", value: schema{"type": "string"}},
		{name: "from", doc: "smtp: address of the sender.", value: schema{"type": "string"}},
		{name: "recipients", doc: "smtp: addresses.", value: listValue(textValue())},
		{name: "username", doc: "smtp: name at the server.", def: "no login", value: schema{"type": "string"}},
		{name: "password", doc: "smtp: its password; never without TLS, but on this machine.", value: shapeValue(secretShape)},
		{name: "tls", doc: "smtp: starttls (required of the server), tls from the start, or none.", def: "starttls", value: enumValue(smtpTLS...)},
	},
}

var (
	notifyWays      = []string{ToWebhook, ToSlack, ToSMTP}
	notifyOccasions = []string{OnAlways, OnGateFailed, OnWithheld, OnFailed, OnDifferences}
	defaultNotify   = []string{OnGateFailed, OnWithheld, OnFailed}
	smtpTLS         = []string{"starttls", "tls", "none"}
)
