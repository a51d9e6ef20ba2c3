# A thin front of CMake: `make` builds build/release/regard and the library beside it. `make help` lists the rest.
PREFIX  ?= /usr/local
JOBS    ?= 2
BUILD   := build/release
CMAKE   := cmake -DCMAKE_INSTALL_PREFIX=$(PREFIX)
BENCH   ?= all

.PHONY: all setup demo test check tests sanitize debug tsan clang fuzz install format tidy coverage bench campaign clean help deb abi

all:             ## build the program and the library (build/release)
	@tools/setup --quiet build
	@tools/build release all

setup:           ## install what building needs
	@tools/setup build

demo: setup      ## set up, build, train the built-in grammar and show its alignments
	@tools/build release all
	@$(BUILD)/regard demo translate

test:            ## everything: set up, build with gcc and clang, all tests plainly and under sanitizers, tidy, coverage
	@tools/setup test
	@tools/test

check: all       ## quick: run the tests of the release build; T=regex chooses some
	@tools/build release tests
	@ctest --test-dir $(BUILD) --output-on-failure -j$(JOBS) $(if $(T),-R '$(T)')

tests sanitize debug tsan clang fuzz: ## build tests, or one of the other presets (with its tests)
	@tools/build $(if $(filter tests,$@),release,$@) tests

install: all     ## install to PREFIX (under DESTDIR)
	@$(CMAKE) $(BUILD) > /dev/null
	@cmake --build $(BUILD) -j$(JOBS)
	@cmake --install $(BUILD)

deb:             ## Debian packages in build/packages: program, library, -dev, modules, Python
	@tools/setup --quiet build
	@JOBS=$(JOBS) tools/deb

abi:             ## compare the library with that of another commit: BASE=v0.1.0
	@JOBS=$(JOBS) tools/abi $(BASE)

format:          ## clang-format all C files
	@git ls-files '*.c' '*.h' | xargs clang-format -i

tidy:            ## clang-tidy all C files of src, the static analyser to its full depth
	@tools/setup test
	@tools/build release all
	@JOBS=$(JOBS) tools/tidy

coverage:        ## line coverage of the readers by their tests (gcov), with a floor
	@tools/setup test
	@JOBS=$(JOBS) tools/coverage

bench:           ## measure us and PyTorch: BENCH=gemm,lstm BENCHFLAGS="--json FILE"
	@tools/setup bench
	@tools/build release bench
	@bench/run $(BENCH) $(BENCHFLAGS)

campaign:        ## the long tests before a release, in parts: run it again to continue; FUZZ_SECONDS=3600 for each target
	@tools/setup test
	@tools/campaign

clean:           ## remove build/
	@rm -rf build

help:            ## this list
	@sed -n 's/^\([a-z ]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12
