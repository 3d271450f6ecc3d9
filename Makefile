# Each target does all its own set-up from a fresh clone.
SHELL := /bin/bash
.DEFAULT_GOAL := help
NODE_TS := node --import tsx
STARTED := $(shell date +%s)

.PHONY: node_modules help build demo test soak lint format docs bench clean setup release site

help: ## list the targets
	@echo 'Each target does all its own set-up from a fresh clone.'
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

node_modules:
	@command -v node >/dev/null || { echo 'Stackloom needs Node 24 (20.19 or newer works), and npm.'; exit 1; }
	@node tools/install.mjs

build: node_modules ## build the program that bin/stackloom runs
	@$(NODE_TS) tools/build.ts

setup: build ## install what the tests need: Debian packages (as root), the sandbox's programs
	@$(NODE_TS) tools/setup.ts

demo: node_modules ## deploy two clouds on this machine, with a real API server and no cluster
	@DEMO_STARTED=$(STARTED) $(NODE_TS) tools/demo.ts

lint: node_modules ## check types, style, imports, generated pages and unused code
	@node_modules/.bin/tsc
	@node_modules/.bin/tsc -p web
	@node_modules/.bin/oxlint --type-aware --quiet
	@node_modules/.bin/biome check --error-on-warnings .
	@$(NODE_TS) tools/lint-imports.ts
	@$(NODE_TS) tools/lint-words.ts
	@$(NODE_TS) tools/generate-docs.ts --check
	@node_modules/.bin/knip

test: lint setup ## run all tests; the last line has the counts; SUITE=<name> selects
	@$(NODE_TS) tools/test.ts $(SUITE)

soak: lint setup ## run the same tests with full counts, for hours
	@$(NODE_TS) tools/test.ts --soak $(SUITE)

bench: setup ## measure figures as ratios against the real alternative; ONLY=<prefix> selects
	@$(NODE_TS) tools/bench.ts $(ONLY)

docs: node_modules ## write the generated pages
	@$(NODE_TS) tools/generate-docs.ts

site: node_modules ## build the documentation site into dist/site; BASE=/v/x/ for an earlier version
	@BASE='$(BASE)' $(NODE_TS) tools/site.ts

format: node_modules ## format and sort imports
	@node_modules/.bin/biome check --write --error-on-warnings .

release: node_modules ## make what is published, into dist/release: VERSION=x, REPOSITORY and IMAGE if known
	@VERSION='$(VERSION)' REPOSITORY='$(REPOSITORY)' IMAGE='$(IMAGE)' $(NODE_TS) tools/release.ts

clean: ## remove what was built here; the user's cache of sandbox programs is kept
	rm -rf dist node_modules
