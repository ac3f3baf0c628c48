// Package rules reads a job file into an immutable, validated description.
//
// # The idea
//
//  1. The YAML text becomes nodes with line and column; aliases and merge keys are
//     filled in, within bounds.
//  2. Each mapping is checked against its shape (vocabulary.go). The JSON Schema
//     and the reference come from the same shapes, so that loader, editor and
//     manual know the same keys.
//  3. Values become typed: durations, exact decimals, layouts, templates,
//     expressions. Short forms become long ones, defaults are filled in.
//  4. What concerns several parts is checked (check.go): names that refer to
//     nothing, types that never agree, windows and keys that cannot work (V39).
//  5. Every fault of the file is reported at once, with file:line:column, the
//     source line, the rule broken and a remedy; or a Job comes out, which nothing
//     changes afterwards.
//  6. Bind resolves a job for one business date: templates become paths and
//     instants.
//
// It imports none of our packages but internal/fail.
package rules
