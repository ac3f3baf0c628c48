// Package rules reads a job file into an immutable, validated description.
//
// It imports none of our packages but internal/fail. Every error of a file is
// reported at once, with file:line:column, the rule broken and a remedy.
package rules
