// Command dashboard writes the Grafana dashboard of recon-batch to stdout: the same bytes
// every time.
//
//	go run ./deploy/observability/dashboard > deploy/observability/dashboard.json
package main

import (
	"fmt"
	"os"
)

func main() {
	text, err := Dashboard()
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
