package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// sample is one measured child process.
type sample struct {
	wall time.Duration
	rss  int64 // peak resident memory in bytes
}

// timed runs a command to its end. Exit statuses in allow count as success.
func timed(cmd *exec.Cmd, allow ...int) (sample, error) {
	var stderr bytes.Buffer
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	began := time.Now()
	err := cmd.Run()
	s := sample{wall: time.Since(began)}
	if cmd.ProcessState == nil {
		return s, err
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.rss = u.Maxrss << 10 // Linux counts in KiB (getrusage(2))
	}
	if err != nil && !slices.Contains(allow, cmd.ProcessState.ExitCode()) {
		return s, fmt.Errorf("%v: %w\n%s", cmd.Args, err, stderr.Bytes())
	}
	return s, nil
}

// median of the samples' wall times, and the greatest memory.
func median(samples []sample) sample {
	walls := make([]time.Duration, len(samples))
	var m sample
	for i, s := range samples {
		walls[i] = s.wall
		m.rss = max(m.rss, s.rss)
	}
	slices.Sort(walls)
	if n := len(walls); n%2 == 1 {
		m.wall = walls[n/2]
	} else if n > 0 {
		m.wall = (walls[n/2-1] + walls[n/2]) / 2
	}
	return m
}

// exponent of growth: time ~ rows^exponent between two sizes.
func exponent(small, large time.Duration, factor float64) float64 {
	return math.Log(large.Seconds()/small.Seconds()) / math.Log(factor)
}

// freshDir empties and makes a folder.
func freshDir(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o777)
}
