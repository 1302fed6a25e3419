# SPDX-License-Identifier: GPL-2.0-only
# weft: no configure step. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
SAN ?=
ifeq ($(origin CC),default)
CC := gcc
endif

VERSION := 0.1.0
PACKAGES := libtracefs libzstd libelf

BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib/weft
MANDIR = $(PREFIX)/share/man
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d

# Asked once, not once for each file. Before `make deps` there may be no answer: packages-found says so.
PACKAGE_CFLAGS := $(subst -I,-isystem ,$(shell pkg-config --cflags $(PACKAGES) 2>/dev/null))
PACKAGE_LIBS := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)

WARN := -Wall -Wextra -Wconversion -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
OPT ?= -O2 -g
CPPFLAGS += -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DWEFT_VERSION='"$(VERSION)"' -DWEFT_BINDIR='"$(BINDIR)"' -DWEFT_LIBDIR='"$(LIBDIR)"'
CFLAGS += -std=gnu17 $(OPT) $(WARN) -fno-common -fvisibility=hidden $(SAN) $(PACKAGE_CFLAGS)
# libtracefs names libtraceevent too, of which weft calls nothing.
LDLIBS += -Wl,--as-needed $(PACKAGE_LIBS) -ldl -lpthread -lm
LDFLAGS += $(SAN)

lib_src := $(sort $(wildcard lib/*/*.c formats/*.c))
cmd_src := $(sort $(wildcard cmd/*.c))
unit_src := $(sort $(wildcard tests/unit/*.c))
plugin_src := $(sort $(wildcard plugins/*.c))
fuzz_src := $(sort $(wildcard tests/fuzz/*.c))

lib_obj := $(lib_src:%.c=$(BUILD)/%.o)
cmd_obj := $(cmd_src:%.c=$(BUILD)/%.o)
unit_obj := $(unit_src:%.c=$(BUILD)/%.o)
plugins := $(plugin_src:%.c=$(BUILD)/%.so)
test_plugins := $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/plugins/*.c))
fuzzers := $(fuzz_src:tests/fuzz/%.c=$(BUILD)/fuzz/%)

man_pages := $(sort $(wildcard man/*.[1-8]))

.DELETE_ON_ERROR:
.PHONY: all help deps unit check check-captures lint cases fuzz fuzzers bench bench-scaling demo docs install uninstall clean packages-found force
all: $(BUILD)/weft $(plugins)

help:
	@echo 'make               build $(BUILD)/weft and $(BUILD)/plugins/*.so'
	@echo '                   (CC=clang, BUILD=DIR, OPT="-O0 -g", SAN=-fsanitize=address)'
	@echo 'make demo          record a small workload here and print its report'
	@echo 'make check         build, lint and run every suite of tests; installs what it needs'
	@echo '                   (SUITES="unit cases" runs only those, T=WORD only the matching tests of unit and cases)'
	@echo 'make unit          only the unit tests (T=WORD)'
	@echo 'make lint          only the lints (T=NAME)'
	@echo 'make cases         only the tests of the command line, tests/cases (T=WORD)'
	@echo 'make check-captures  only the comparison with the texts of real kernels'
	@echo 'make fuzz          run the fuzz targets for FUZZ_SECONDS (60) each (T=NAME)'
	@echo 'make bench         weft beside trace-cmd; make bench-scaling: time for an event by events, CPUs, threads'
	@echo 'make deps          install the Debian packages that building and testing need'
	@echo 'make docs          make completions/ and man/ anew from the option tables'
	@echo 'make install       into PREFIX ($(PREFIX)), below DESTDIR if set; make uninstall takes it away'
	@echo 'make clean         remove $(BUILD)'

deps:
	@tests/deps all

packages-found:
	@$(if $(PACKAGE_LIBS),,echo 'not found by pkg-config: $(PACKAGES); make deps installs them' >&2; exit 1)

$(BUILD)/libweft.a: $(lib_obj)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/weft: $(cmd_obj) $(BUILD)/libweft.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/unit/run: $(unit_obj) $(BUILD)/libweft.a | $(plugins) $(test_plugins)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/%.so: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -MMD -MP $(LDFLAGS) -o $@ $<

$(BUILD)/%.o: %.c $(BUILD)/flags | packages-found
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Changes only when the flags do, so that another PREFIX, CC or OPT builds anew.
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS))' > $@

# make unit T=page runs those whose name contains "page"
unit: $(BUILD)/tests/unit/run
	$(BUILD)/tests/unit/run $(T)

lint: all
	@BUILD=$(BUILD) CC="$(CC)" tests/lint/run $(T)

cases: all
	@BUILD=$(BUILD) tests/run --verbose cases $(T)

check:
	@tests/deps check
	@$(MAKE) --no-print-directory deps-done-check

.PHONY: deps-done-check
deps-done-check:
	@BUILD=$(BUILD) tests/run $(SUITES)

check-captures: all
	@BUILD=$(BUILD) tests/run captures

demo:
	@tests/deps build
	@$(MAKE) --no-print-directory -s all
	@BUILD=$(BUILD) tests/demo

bench: all
	@BUILD=$(BUILD) tests/bench/run
bench-scaling: all
	@BUILD=$(BUILD) tests/bench/scaling

# Fuzzing needs clang; the library is built once more with its instrumentation.
fuzzers: $(fuzzers)
ifneq ($(FUZZ_BUILD),)
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/libweft.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)
endif

fuzz:
	@BUILD=$(BUILD)-fuzz tests/fuzz/run fuzz $(T)

docs: all
	@BUILD=$(BUILD) man/generate .
	@BUILD=$(BUILD) completions/generate .

install: all
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/plugins $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	install -m 755 $(BUILD)/weft $(DESTDIR)$(BINDIR)/weft
	$(if $(plugins),install -m 644 $(plugins) $(DESTDIR)$(LIBDIR)/plugins/)
	install -m 644 completions/weft.bash $(DESTDIR)$(BASHDIR)/weft
	install -m 644 completions/_weft $(DESTDIR)$(ZSHDIR)/_weft
	install -m 644 completions/weft.fish $(DESTDIR)$(FISHDIR)/weft.fish
	for page in $(man_pages); do \
		install -D -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; \
	done

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/weft $(DESTDIR)$(BASHDIR)/weft $(DESTDIR)$(ZSHDIR)/_weft $(DESTDIR)$(FISHDIR)/weft.fish
	rm -f $(foreach page,$(man_pages),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
	rm -rf $(DESTDIR)$(LIBDIR)

clean:
	rm -rf $(BUILD) $(BUILD)-clang $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz

-include $(patsubst %.o,%.d,$(lib_obj) $(cmd_obj) $(unit_obj)) $(plugins:.so=.d) $(test_plugins:.so=.d)
