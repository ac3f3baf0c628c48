#!/bin/sh
# Builds what the benchmark needs and runs it. Settings:
#   BENCH_ROWS   base size, default 1000000
#   BENCH_FULL   1 adds ten times the base size
#   BENCH_N      rounds, default 5
#   BENCH_WORK   folder for data and outputs, some 1 GB for each million rows
set -eu
cd "$(dirname "$0")/.."
work=${BENCH_WORK:-bench-work}
mkdir -p "$work" bin
go build -trimpath -o bin/recon-fixtures ./cmd/recon-fixtures
go build -trimpath -o bin/floor ./bench/floor
go build -trimpath -o bin/bench ./bench

# csvdiff is a peer. Its version is named exactly, in a module of its own, so that
# no dependency of it is one of ours.
csvdiff=$PWD/.tools/csvdiff
if [ ! -x "$csvdiff" ]; then
	module=$(mktemp -d)
	mkdir -p .tools
	(cd "$module" && go mod init peer && go get github.com/aswinkarthik/csvdiff@v1.4.0 &&
		go build -o "$csvdiff" github.com/aswinkarthik/csvdiff) >"$module/log" 2>&1 ||
		{ cat "$module/log" >&2; echo "csvdiff cannot be built: its rows are left out" >&2; csvdiff=; }
	rm -rf "$module"
fi
qsv=$(command -v qsv || command -v qsvlite || true)

exec bin/bench -work "$work" -rows "${BENCH_ROWS:-1000000}" -n "${BENCH_N:-5}" -full="${BENCH_FULL:-0}" \
	-csvdiff "$csvdiff" -qsv "$qsv"
