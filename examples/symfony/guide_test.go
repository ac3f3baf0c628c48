package symfony

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The code in the guide is the code that the tests run.
func TestGuideShowsTheCode(t *testing.T) {
	guide := read(t, "../../docs/workers-php.md")
	shown := regexp.MustCompile("(?s)<!-- from (\\S+) -->\n```php\n(.*?)```").FindAllStringSubmatch(guide, -1)
	if len(shown) != strings.Count(guide, "```php") || len(shown) < 2 {
		t.Fatalf("%d blocks of PHP say where they are from, of %d", len(shown), strings.Count(guide, "```php"))
	}
	for _, s := range shown {
		if !strings.Contains(read(t, s[1]), s[2]) {
			t.Errorf("%s does not hold what the guide shows of it:\n%s", s[1], s[2])
		}
	}
	for _, r := range regexp.MustCompile(`case \w+ = '(\w+)'`).FindAllStringSubmatch(read(t, "src/Apply/Result.php"), -1) {
		if r[1] != "applied" && r[1] != "not_for_us" && !strings.Contains(guide, "`"+r[1]+"`") {
			t.Errorf("the guide does not say what %s is", r[1])
		}
	}
	for _, key := range regexp.MustCompile(`(?m)^    (connection|lease_seconds):`).FindAllStringSubmatch(guide, -1) {
		if !strings.Contains(read(t, "src/DependencyInjection/Configuration.php"), "'"+key[1]+"'") {
			t.Errorf("the bundle has no key %s", key[1])
		}
	}
	for _, c := range regexp.MustCompile(`recon:\w+`).FindAllString(guide, -1) {
		if !strings.Contains(read(t, "src/Command/SchemaCommand.php")+read(t, "src/Command/ExportCommand.php")+read(t, "src/Command/ApplyCommand.php"), "'"+c+"'") {
			t.Errorf("there is no command %s", c)
		}
	}
}

// Every broker has facts with their sources, a check, and how a run shows the
// trouble, in verdicts and refusals that exist.
func TestBrokersHaveChecks(t *testing.T) {
	page, verdicts := read(t, "../../docs/brokers.md"), read(t, "../../docs/verdicts.md")
	sources := page[strings.Index(page, "## Sources"):]
	verdict := regexp.MustCompile("`(correct|divergent|absent|ambiguous|not_applicable|not_due|duplicate|unexpected)/(\\w+)`")
	for _, name := range []string{"RabbitMQ", "Amazon SQS", "Redis streams", "Kafka", "Doctrine transport"} {
		_, section, ok := strings.Cut(page, "\n## "+name)
		if !ok {
			t.Errorf("%s has no section", name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, want := range []string{"| acknowledgement", "| redelivery", "| order", "**Check.**", "**If it is wrong:**", "*For the register.*"} {
			if !strings.Contains(section, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
		_, wrong, _ := strings.Cut(section, "**If it is wrong:**")
		if !verdict.MatchString(wrong) {
			t.Errorf("%s: no verdict shows the trouble", name)
		}
		for _, s := range regexp.MustCompile(`\[([A-Z]\d)`).FindAllStringSubmatch(section, -1) {
			if !strings.Contains(strings.ReplaceAll(sources, "\n", " "), s[1]+" ") {
				t.Errorf("%s: the source %s is not listed", name, s[1])
			}
		}
	}
	for _, v := range verdict.FindAllStringSubmatch(page, -1) {
		row := regexp.MustCompile("(?m)^\\| `" + v[1] + "` \\|.*`" + v[2] + "`")
		if !row.MatchString(verdicts) {
			t.Errorf("there is no verdict %s/%s", v[1], v[2])
		}
	}
	for _, code := range regexp.MustCompile("(?:refus(?:es|al|ed)[^.`]*)`(\\w+)`").FindAllStringSubmatch(page, -1) {
		if !strings.Contains(verdicts, "`"+code[1]+"`") {
			t.Errorf("there is no refusal %s", code[1])
		}
	}
}
