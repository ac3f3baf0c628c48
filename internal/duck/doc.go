// Package duck owns the scratch DuckDB of a run: limits, lock-down, quoting and
// SQL templates. It is the only importer of the driver.
package duck
