package scan

import (
	"regexp"
	"slices"
	"strings"
)

// uuids are no numbers, whatever their digits come to.
var uuids = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

func insideUUID(text string, s Span) bool {
	return slices.ContainsFunc(uuids.FindAllStringIndex(text, -1), func(id []int) bool { return s.From < id[1] && id[0] < s.Until })
}

// secret is a form of token. The first group is what is shown before "…".
type secret struct {
	form *regexp.Regexp
	near []string // one of them stands in every text of that form, in lower case; at least three characters
}

var secrets = []secret{
	{regexp.MustCompile(`(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)(?:[^-]|-[^-])*(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?`), []string{"private key"}},
	{regexp.MustCompile(`\b([srp]k_(?:live|test)_)[A-Za-z0-9_]{8,}`), []string{"k_live_", "k_test_"}},
	{regexp.MustCompile(`\b(whsec_)[A-Za-z0-9+/=_-]{8,}`), []string{"whsec_"}},
	{regexp.MustCompile(`\b(gh[pousr]_)[A-Za-z0-9]{20,}`), []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}},
	{regexp.MustCompile(`\b(github_pat_)[A-Za-z0-9_]{20,}`), []string{"github_pat_"}},
	{regexp.MustCompile(`\b(npm_)[A-Za-z0-9]{30,}`), []string{"npm_"}},
	{regexp.MustCompile(`\b(glpat-)[A-Za-z0-9_-]{16,}`), []string{"glpat-"}},
	{regexp.MustCompile(`\b(xox[abeoprs]-)[A-Za-z0-9-]{10,}`), []string{"xox"}},
	{regexp.MustCompile(`\b(SG\.)[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`), []string{"sg."}},
	{regexp.MustCompile(`\b(ya29\.)[A-Za-z0-9_-]{20,}`), []string{"ya29."}},
	{regexp.MustCompile(`\b(AIza)[A-Za-z0-9_-]{30,}`), []string{"aiza"}},
	{regexp.MustCompile(`\b(A[KS]IA)[A-Z0-9]{16}\b`), []string{"akia", "asia"}},
	{regexp.MustCompile(`(?:\b|_)(eyJ)[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?`), []string{"eyj"}},
	{regexp.MustCompile(`(?i)\b(authorization["']?\s*[:=]\s*["']?(?:basic|digest|token|apikey|negotiate)\s+)[A-Za-z0-9._~+/=-]{4,}`), []string{"authorization"}},
	{regexp.MustCompile(`(?i)\b(bearer[ :=]+"?)[A-Za-z0-9._~+/=-]{8,}`), []string{"bearer"}},
	{regexp.MustCompile(`(?i)(?:\b|_)((?:pass(?:word|wd|phrase|code)|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|token|credentials?)["']?\s*[=:]\s*["']?)[^\s"'&,;<>…{}()$*` + "`" + `\[\]][^\s"'&,;<>…]{3,}`),
		[]string{"pass", "pwd", "secret", "key", "token", "credential"}},
	{regexp.MustCompile(`(?i)(\b[a-z][a-z0-9+.-]*://[^\s/:@"'<>]*:)[^\s/@"'<>…]+@`), []string{"://"}},
}

// findTokens lists the tokens; where two overlap, the one whose form comes first.
func findTokens(text string) []Span {
	low := strings.ToLower(text)
	var out []Span
	for _, s := range secrets {
		if !slices.ContainsFunc(s.near, func(n string) bool { return strings.Contains(low, n) }) {
			continue
		}
		for _, at := range s.form.FindAllStringSubmatchIndex(text, -1) {
			from, until := at[2], at[1]
			end := "…"
			if strings.HasSuffix(text[from:until], "@") && s.near[0] == "://" {
				end = "…@"
			}
			if !slices.ContainsFunc(out, func(o Span) bool { return from < o.Until && o.From < until }) {
				out = append(out, Span{from, until, Token, text[from:at[3]] + end})
			}
		}
	}
	return out
}

// Prefilter is a pattern of RE2 that finds every text in which Find finds something, and
// many others: an engine that has no Find asks it first.
var Prefilter = prefilter()

func prefilter() string {
	parts := []string{
		`[0-9](?:[^0-9A-Za-z]?[0-9]){12}`,
		`[A-Za-z]{2}[0-9]{2}(?:[^0-9A-Za-z]?[0-9A-Za-z]){11}`,
	}
	var words []string
	for _, s := range secrets {
		for _, n := range s.near {
			words = append(words, regexp.QuoteMeta(n))
		}
	}
	slices.Sort(words)
	return strings.Join(parts, "|") + "|(?i:" + strings.Join(slices.Compact(words), "|") + ")"
}
