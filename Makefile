# make test is the whole suite, with real servers; plain `go test ./...` is the fast loop and needs nothing but Go.

GO         ?= go
TESTFLAGS  ?=
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test smoke bench soak e2e-deps lint fmt-check vet staticcheck clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/bouncer

# BOUNCER_E2E=required: after the install above there is no honest reason to skip an end-to-end test.
test: e2e-deps
	BOUNCER_E2E=required $(GO) test $(TESTFLAGS) ./...

# What a person would do by hand to see that it works, in one go. Its transcript is docs/smoke.md.
smoke:
	bash examples/smoke/smoke.sh

e2e-deps:
	bash e2e/install

lint: fmt-check vet staticcheck

# find, not ./...: gofmt also has to see files that build tags hide, and no npm package.
fmt-check:
	@files=$$(find . -name node_modules -prune -o -name '*.go' -exec gofmt -l {} +) || exit 1; \
	if [ -n "$$files" ]; then echo "not gofmt'd:"; echo "$$files"; exit 1; fi

vet:
	$(GO) vet ./...

staticcheck:
	$(GO) run $(STATICCHECK) ./...

# What Bouncer costs next to byte relays, in one shuffled run; needs a C compiler. BENCHFLAGS=-markdown prints the tables
# of docs/performance.md.
bench:
	$(GO) run ./bench $(BENCHFLAGS)

# The long forms: every kill test and matrix in full, and SOAK_FUZZ of fuzzing for each target. What was run, and when, is in
# docs/soak.md.
SOAK_FUZZ ?= 10m
soak: e2e-deps
	CGO_ENABLED=0 GOOS=darwin GOARCH=amd64 $(GO) build -o /dev/null ./cmd/bouncer
	CGO_ENABLED=0 GOOS=windows GOARCH=arm64 $(GO) build -o /dev/null ./cmd/bouncer
	BOUNCER_SOAK=1 BOUNCER_E2E=required $(GO) test -count=1 -timeout=60m ./...
	FUZZ_EACH=$(SOAK_FUZZ) FUZZ_LIMIT=1200 bash .ci/fuzz 1000000

clean:
	rm -rf bin e2e/node_modules
