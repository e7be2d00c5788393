# make test is the whole suite, with real servers; plain `go test ./...` is the fast loop and needs nothing but Go.

GO         ?= go
TESTFLAGS  ?=
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test smoke e2e-deps lint fmt-check vet staticcheck clean

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

clean:
	rm -rf bin e2e/node_modules
