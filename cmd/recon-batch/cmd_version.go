package main

import (
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/recon-batch/recon-batch/internal/pipeline"
)

// versionInfo is the document of `version --output json`.
type versionInfo struct {
	SchemaVersion int    `json:"schema_version"`
	Program       string `json:"program"`
	Commit        string `json:"commit,omitempty"`
	Go            string `json:"go"`
	Semantics     int    `json:"semantics"`
	Manifest      int    `json:"manifest_schema"`
	DuckDB        string `json:"duckdb"`
}

func (s *session) versionCommand() *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the versions of program, rules and engine",
		Description: "EXAMPLE\n   recon-batch version --output json",
		Flags:       []cli.Flag{outputFlag()},
		Action:      s.version,
	}
}

func (s *session) version(c *cli.Context) error {
	if _, err := s.positionals(c); err != nil {
		return err
	}
	asJSON, err := outputMode(c)
	if err != nil {
		return err
	}
	engine, err := pipeline.EngineVersion(c.Context)
	if err != nil {
		return err
	}
	v := versionInfo{
		SchemaVersion: 1, Program: pipeline.Program, Commit: pipeline.Commit(), Go: runtime.Version(),
		Semantics: pipeline.Semantics, Manifest: pipeline.ManifestSchema, DuckDB: engine,
	}
	if asJSON {
		return s.writeJSON(v)
	}
	s.printf("recon-batch %s\nsemantics   %d\nGo          %s\nDuckDB      %s\n", v.Program, v.Semantics, v.Go, v.DuckDB)
	if v.Commit != "" {
		s.printf("commit      %s\n", v.Commit)
	}
	return nil
}
