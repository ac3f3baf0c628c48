package report

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"strings"
)

// junitSuites is the common part of what build servers read as JUnit XML; junit.xsd
// describes it. There is no time in it: the same inputs give the same bytes.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Failure *junitWhy `xml:"failure"`
	Error   *junitWhy `xml:"error"`
	Skipped *junitWhy `xml:"skipped"`
}

// junitWhy says why a case did not pass.
type junitWhy struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes one test case for each check of the run: what failed is a failure,
// what could not be evaluated an error, what does not apply is skipped.
func writeJUnit(_ context.Context, d *Delivery) error {
	text, err := junit(d.Summary, checksOf(d.Summary, d.In.Bound.Job))
	if err != nil {
		return err
	}
	return d.write("report.junit.xml", text)
}

func junit(s *Summary, checks []check) ([]byte, error) {
	job := xmlText(MetricsJob(s))
	out := junitSuites{Name: job + " " + s.BusinessDate}
	for _, group := range checkGroups {
		suite := junitSuite{Name: job + "." + group}
		for _, c := range checks {
			if c.Group == group {
				suite.add(c)
			}
		}
		if suite.Tests == 0 {
			continue
		}
		out.Tests += suite.Tests
		out.Failures += suite.Failures
		out.Errors += suite.Errors
		out.Skipped += suite.Skipped
		out.Suites = append(out.Suites, suite)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func (s *junitSuite) add(c check) {
	x := junitCase{Class: s.Name, Name: xmlText(cut(c.Name))}
	lines := make([]string, len(c.Detail))
	for i, l := range c.Detail {
		lines[i] = xmlText(l)
	}
	why := &junitWhy{Message: xmlText(c.Text), Text: strings.Join(lines, "\n")}
	s.Tests++
	switch c.How {
	case checkFailed:
		why.Type, x.Failure = c.Group, why
		s.Failures++
	case checkUnknown:
		why.Type, x.Error = c.Group, why
		s.Errors++
	case checkSkipped:
		x.Skipped = why
		s.Skipped++
	}
	s.Cases = append(s.Cases, x)
}

// xmlText spells out what XML 1.0 has no way to say, beside what people could not see:
// its Char is #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF].
// What is left are only the noncharacters: visible spells the rest.
func xmlText(s string) string {
	s = visible(s)
	for _, r := range []rune{0xFFFE, 0xFFFF} {
		s = strings.ReplaceAll(s, string(r), fmt.Sprintf(`\u{%04X}`, r))
	}
	return s
}
