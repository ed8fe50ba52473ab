# Two forms of the same engine are tested:
#   compiled     the wheel, built with mypyc and installed in .venv
#   interpreted  the sources, first on PYTHONPATH

PYTHON ?=
VENV   := .venv
PYTHONS := .venv-pythons
BIN    := $(VENV)/bin
NODE   := $(VENV)/node
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

PACKAGES    := engine/keltis_engine bots/keltis_bots ladder/keltis_ladder server/keltis_server cli/keltis_cli
SOURCE_PATH := engine:bots:ladder:server:cli
SOURCES     := $(sort $(shell find $(PACKAGES) -type f -not -path '*/__pycache__/*' -not -name '*.so'))
CHECKED     := $(PACKAGES) tests $(wildcard bench)

INTERPRETED := PYTHONPATH=$(SOURCE_PATH) KELTIS_FORM=interpreted
COMPILED    := env -u PYTHONPATH KELTIS_FORM=compiled
PYTEST      := $(BIN)/python -m pytest --retry-failed
TIMED       := .ci/timed
SCRIPTS     := .ci/javascript run $(NODE)

# Commands that do not come with Python, and the Debian packages that have them: the sandbox, and
# for the tests a PostgreSQL, the languages that they build and play a bot in, and libseccomp (whose
# resolver stands for the library). npm brings the tools that check the scripts of the pages.
TO_RUN  := bwrap=bubblewrap
TO_TEST := $(TO_RUN) chromium=chromium pg_createcluster=postgresql g++=g++ node=nodejs npm=npm cargo=cargo go=golang-go javac=default-jdk-headless lua5.4=lua5.4 ruby=ruby php=php-cli scmp_sys_resolver=seccomp

# Compiled once, modules and tests are loaded by many processes: without it each compiles them anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run demo install dev test lint format test-interpreted test-compiled test-pythons test-pythons-quick test-collected test-steady \
  bench bench-referee bench-strength bench-load bench-fairness bench-deals bench-ratings bench-joint bench-joint-numbers bench-coverage bench-matchmaking bench-store \
  bench-server bench-edge bench-soak bench-builds bench-spectators bench-pages bench-kills bench-uploads bench-shares bench-audit fuzz migration \
  screenshots golden wire-types transcripts help-snapshots sandbox-init clean FORCE

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: install  ## Serve a ladder with our own bots on http://127.0.0.1:8080
	@$(BIN)/keltis-ladder serve

demo: install  ## Play one narrated game of each variant
	@$(BIN)/keltis-ladder demo

install: $(VENV)/installed  ## Build the package and install it in .venv

dev: $(VENV)/dev  ## The same, with the tools that the checks need

test: export KELTIS_TIMES := $(abspath $(VENV))/times
test:  ## All checks: lint, the tests interpreted, some on other Pythons, all compiled
	@$(MAKE) --no-print-directory -j 2 $(VENV)/dev  # packages are installed while the engine is compiled
	@rm -f $(KELTIS_TIMES)
	@$(MAKE) --no-print-directory -j 2 --output-sync=target test-pythons-quick lint test-interpreted test-collected
	@$(MAKE) --no-print-directory test-compiled

lint: $(VENV)/dev $(NODE)/installed  ## ruff, mypy --strict, import-linter; biome and tsc --strict for scripts
	$(TIMED) 'ruff check' $(BIN)/ruff check .
	$(TIMED) 'ruff format' $(BIN)/ruff format --check .
	$(TIMED) mypy $(BIN)/mypy --strict $(CHECKED)
	$(TIMED) lint-imports env PYTHONPATH=$(SOURCE_PATH) $(BIN)/lint-imports --no-logo
	$(TIMED) biome $(SCRIPTS) biome check --error-on-warnings
	$(TIMED) tsc $(SCRIPTS) tsc --project .

format: $(VENV)/dev $(NODE)/installed  ## Format the code, apply safe fixes, wrap the documents
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(SCRIPTS) biome check --fix
	$(BIN)/python -m tests.docs.support.wrap

test-interpreted: $(VENV)/dev  ## The engine's tests on its sources
	$(TIMED) interpreted env $(INTERPRETED) $(PYTEST) -n 2 -m 'not one_form' tests/engine

test-pythons: $(VENV)/dev  ## submit, match, check and the engine on every Python that is here
	@.ci/pythons full $(VENV) $(PYTHONS)

test-pythons-quick: $(VENV)/dev  # the part of it that belongs to `make test`
	@$(TIMED) 'other Pythons' .ci/pythons quick $(VENV) $(PYTHONS)

# pytest compiles every test file for itself, and keeps that: else each process of the next part would.
test-collected: $(VENV)/dev
	@$(COMPILED) $(BIN)/python -m pytest --collect-only -qq tests > $(VENV)/collected || { cat $(VENV)/collected; exit 1; }

test-compiled: $(VENV)/dev $(NODE)/installed  ## All tests on the installed package
	$(TIMED) compiled $(COMPILED) $(PYTEST) -n 4 tests  # more than cores: servers and browsers are mostly waited for

test-steady: $(VENV)/dev  ## Make all checks RUNS times idle and RUNS times beside BUSY busy processes
	$(BIN)/python -m bench.steady --runs $(or $(RUNS),5) --busy $(or $(BUSY),4)

bench: $(VENV)/bench  ## Measure the engine; the results belong in bench/
	$(COMPILED) $(BIN)/python -m bench.engine

bench-referee: $(VENV)/dev  ## Measure the referee, its overhead and a run of 20,000 games
	$(COMPILED) $(BIN)/python -m bench.referee

bench-strength: $(VENV)/dev  ## Measure how strong the reference bots are
	$(COMPILED) $(BIN)/python -m bench.ratings.strength

bench-load: $(VENV)/dev  ## Let search play itself, one side on a crowded core: equally strong?
	$(COMPILED) $(BIN)/python -m bench.clock.load_strength

bench-fairness: $(VENV)/dev  ## Measure whether the clock is fair on a busy machine, and cannot be cheated (root)
	$(COMPILED) $(BIN)/python -m bench.clock.fairness

bench-deals: $(VENV)/dev  ## Measure what duplicate deals save
	$(COMPILED) $(BIN)/python -m bench.ratings.duplicate_deals

bench-ratings: bench-joint  ## Measure the ratings: the noise of a match, and how long the joint one takes
	$(COMPILED) $(BIN)/python -m bench.ratings.rating_model

bench-joint: $(VENV)/dev  ## Measure how long the joint rating of 1,000 bots takes, alone
	$(COMPILED) $(BIN)/python -m bench.ratings.joint_speed

bench-joint-numbers: $(VENV)/bench  ## Estimate the numbers of the joint rating from matches of our own players
	$(COMPILED) $(BIN)/python -m bench.ratings.joint_numbers

bench-coverage: $(VENV)/dev  ## Hold all ratings against the truth, and let bots try to cheat them
	$(COMPILED) $(BIN)/python -m bench.ratings.coverage

bench-matchmaking: $(VENV)/dev  ## Simulate ladders: how many matches until the ranking is right
	$(COMPILED) $(BIN)/python -m bench.matchmaking.policies

bench-store: $(VENV)/dev  ## Measure the store with 1,000 bots and 200,000 matches
	$(COMPILED) $(BIN)/python -m bench.store

bench-server: $(VENV)/dev  ## Measure requests beside a playing ladder, and how quickly a bot is rated
	$(COMPILED) $(BIN)/python -m bench.server.load

bench-edge: $(VENV)/dev  ## Measure honest requests while one address does its worst
	$(COMPILED) $(BIN)/python -m bench.server.edge

bench-shares: $(VENV)/dev  ## Measure what one greedy author leaves to all others
	$(COMPILED) $(BIN)/python -m bench.server.shares

bench-soak: $(VENV)/dev  ## Let honest and hostile clients at a server that plays: MINUTES, 10 unless told
	$(COMPILED) $(BIN)/python -m bench.server.soak --minutes $(or $(MINUTES),10)

bench-builds: $(VENV)/dev  ## Measure how long the starters take to build, in the sandbox and without it
	$(COMPILED) $(BIN)/python -m bench.server.builds

bench-spectators: $(VENV)/dev  ## Let 2,000 websockets watch one match
	$(COMPILED) $(BIN)/python -m bench.server.spectators

bench-pages: $(VENV)/dev  ## Measure the web pages in a browser
	$(COMPILED) $(BIN)/python -m bench.server.pages

fuzz: $(VENV)/fuzz  ## Look for bytes that harm who reads them: MINUTES for each kind of bytes
	env PYTHONPATH=$(SOURCE_PATH) $(BIN)/python -m bench.fuzz --minutes $(or $(MINUTES),10)

bench-kills: $(VENV)/dev  ## Kill a running ladder a thousand times
	$(COMPILED) $(BIN)/python -m bench.server.kills

bench-uploads: $(VENV)/dev  ## Upload 1,000 archives, many of them hostile: does the server stand still?
	$(COMPILED) $(BIN)/python -m bench.server.uploads

bench-audit: $(VENV)/dev  ## Does the audit accuse the honest, and how soon does it find cheaters
	$(COMPILED) $(BIN)/python -m bench.audit.alarms

migration: $(VENV)/dev  ## Write the step from the stored tables to those of the sources: NAME='what changes'
	PYTHONPATH=$(SOURCE_PATH) $(BIN)/python -m keltis_ladder.store.schema.new_step '$(NAME)'

screenshots: $(VENV)/dev  ## Regenerate the screenshots of every page and variant
	$(COMPILED) $(BIN)/python -m tests.system.web.support.screenshots docs/screenshots

golden: $(VENV)/dev  ## Regenerate the golden playthroughs; review them as a diff
	$(COMPILED) $(BIN)/python -m tests.engine.support.golden

sandbox-init: $(VENV)/dev  ## Compile the sandbox's init again, for both architectures: gcc, gcc-aarch64-linux-gnu
	$(COMPILED) $(BIN)/python -m tests.ladder.support.build_init

wire-types: $(VENV)/dev  ## Regenerate the types of what the API sends, for the check of the scripts
	$(COMPILED) $(BIN)/python -m tests.server.web.support.wire_types

transcripts: $(VENV)/dev  ## Regenerate the transcripts of the protocol, and what its document shows of them
	$(COMPILED) $(BIN)/python -m tests.bots.support.transcripts

help-snapshots: $(VENV)/dev  ## Write what every --help says; review it as a diff
	$(COMPILED) $(BIN)/python -m tests.cli.support.help_snapshots

clean:  ## Remove everything that was built
	rm -rf $(VENV) $(PYTHONS) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
	find . -maxdepth 3 \( -name '*.egg-info' -o -name '*.so' \) -prune -exec rm -rf {} +

# The steps of an installation; each file is the stamp of a step done.

$(VENV)/system: $(VENV)/created
	@.ci/packages $(TO_RUN)
	@touch $@

$(VENV)/languages: $(VENV)/system
	@.ci/packages $(TO_TEST)
	@touch $@

$(VENV)/created:
	@python=$$(.ci/choose-python '$(PYTHON)') && rm -rf $(VENV) && "$$python" -m venv $(VENV)
	@touch $@

# What builds the wheel. Building without isolation uses these instead of downloading them again.
$(VENV)/tools: $(VENV)/created pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt setuptools wheel 'mypy[mypyc]==2.4.1' librt==0.16.0
	@touch $@

# Changes when a source file comes or goes: a deleted file is newer than nothing.
$(VENV)/sources: $(VENV)/created FORCE
	@echo '$(SOURCES)' | cmp -s - $@ || echo '$(SOURCES)' > $@

# build/lib would carry modules that no longer exist into the wheel.
$(VENV)/built: $(VENV)/tools $(VENV)/sources setup.py README.md LICENSE $(SOURCES)
	rm -rf build/lib* $(VENV)/wheel
	@echo 'Building the package: its engine is compiled, which takes one to three minutes.'
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir $(VENV)/wheel .
	@touch $@

$(VENV)/installed: $(VENV)/built $(VENV)/system
	$(PIP) --quiet uninstall -y keltis-ladder
	$(PIP) install -c constraints.txt "$$(echo $(VENV)/wheel/*.whl)[fast]"
	@cd $(VENV) && bin/python -c 'import keltis_engine as e; print("keltis-ladder is installed, its engine", "compiled." if e.COMPILED else "interpreted: no working C compiler was found (Debian: gcc, libc6-dev, python3-dev).")'
	@touch $@

$(VENV)/dev: $(VENV)/installed $(VENV)/languages
	$(PIP) install -c constraints.txt "$$(echo $(VENV)/wheel/*.whl)[dev]"
	@touch $@

# Not there after this if node or npm is missing, so that it is tried again.
$(NODE)/installed: package.json .ci/javascript $(VENV)/languages
	@.ci/javascript install $(NODE)

$(VENV)/fuzz: $(VENV)/dev
	$(PIP) install -c constraints.txt "$$(echo $(VENV)/wheel/*.whl)[fuzz]"
	@touch $@

$(VENV)/bench: $(VENV)/dev
	$(PIP) install -c constraints.txt "$$(echo $(VENV)/wheel/*.whl)[bench]"
	@touch $@
