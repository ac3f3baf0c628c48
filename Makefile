# Everything that people and CI do here. `make help` lists it.
#
# The build tag duckdb_arrow is set once, here: without it the record batches of
# the extraction do not reach the engine, and nothing builds.
export GOFLAGS := -buildvcs=false -tags=duckdb_arrow

DEMO_DIR        ?= demo-data
DEMO_OPERATIONS ?= 200000
DEMO_DATE       ?= 2026-11-29
TOOLS           := $(CURDIR)/.tools
STATICCHECK     := $(TOOLS)/staticcheck
STATICCHECK_VERSION := v0.8.2
TEST_TOOLS      := postgres mariadb php promtool chromium axe xmllint versitygw sshd

.PHONY: help build test race demo bench lint check nightly clean tools-needed test-tools

help:
	@echo "make demo     build, make a seeded day of $(DEMO_OPERATIONS) operations, reconcile it"
	@echo "make test     run every test"
	@echo "make test-tools  install what some tests need, as root on Debian: PostgreSQL, MariaDB, PHP, promtool, Chromium, axe-core, xmllint, versitygw, OpenSSH"
	@echo "make build    bin/recon-batch"
	@echo "make bench    measure against the floor and peers (BENCH_FULL=1 adds 10 M rows)"
	@echo "make lint     gofmt, go vet, staticcheck"
	@echo "make race     the packages that share memory between goroutines, with the race detector"
	@echo "make check    what CI runs: lint, test and race"
	@echo "make nightly  test with ten thousand generated cases, the workbook in LibreOffice, and longer fuzzing"

tools-needed:
	@scripts/tools-needed

# Servers and interpreters that tests start are installed where that may be done. Where one is
# missing, its tests say so and are skipped; in CI they fail.
test-tools:
	@for s in $(TEST_TOOLS); do scripts/install-$$s || echo "tests that need it are left out, see their reasons below" >&2; done

build: tools-needed
	@mkdir -p bin
	go build -trimpath -o bin/recon-batch ./cmd/recon-batch

test: tools-needed test-tools
	@go test -timeout 30m -json ./... | go run ./scripts/testsum

demo: build
	@go build -o bin/recon-fixtures ./cmd/recon-fixtures
	@mkdir -p $(DEMO_DIR)
	@cp examples/demo/job.yaml $(DEMO_DIR)/job.yaml
	@bin/recon-fixtures world -operations $(DEMO_OPERATIONS) -date $(DEMO_DATE) $(DEMO_DIR)
	@bin/recon-batch run --business-date $(DEMO_DATE) $(DEMO_DIR)/job.yaml
	@echo
	@echo "why an operation is to be sent again:"
	@echo "  bin/recon-batch explain --business-date $(DEMO_DATE) $(DEMO_DIR)/job.yaml $$(sed -n '1s/.*"operation_id":"\([^"]*\)".*/\1/p' \
		$(DEMO_DIR)/out/card-charges/$(DEMO_DATE)/current/queues/requeue.ndjson)"

bench: build
	@bench/run.sh

$(STATICCHECK):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)

lint: tools-needed $(STATICCHECK)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	 if [ -n "$$unformatted" ]; then echo "gofmt -w these files:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	$(STATICCHECK) ./...

# The packages in which goroutines share memory, with the engine linked in. -short: the
# detector slows our own code down, and the long tests find no other interleavings.
RACE_PACKAGES := ./internal/duck ./match/compare ./extract ./internal/pipeline ./fetch/... ./publish/...

race: tools-needed
	@go test -race -short -timeout 20m -json $(RACE_PACKAGES) | go run ./scripts/testsum

check: lint test race

# The generated cases are 1,000 in a normal run.
nightly: export RECON_NIGHTLY := 10000
nightly: tools-needed
	@scripts/install-libreoffice || echo "the workbook is not opened in LibreOffice, see its reason below" >&2
	@go test -count=1 -timeout 3h -json ./... | go run ./scripts/testsum
	@scripts/fuzz 60s

clean:
	rm -rf bin $(TOOLS) demo-data
