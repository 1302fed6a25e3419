# SPDX-License-Identifier: GPL-2.0-only
# weft has no configure step. `make help` lists the targets. The user sets CC, AR, PKG_CONFIG, CPPFLAGS, CFLAGS,
# LDFLAGS, LDLIBS, PREFIX and DESTDIR in the environment or on the command line; the Makefile adds what weft itself
# needs.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
SAN ?=
PKG_CONFIG ?= pkg-config
# Some compilers have warnings that the project does not know. For these, make WERROR= keeps warnings from being errors.
WERROR ?= -Werror
STATIC ?=
ifeq ($(origin CC),default)
CC := gcc
endif
OBJCOPY ?= objcopy

# The last release: `packaging/release` changes it. A build of any other commit says which one, in `weft --version`.
VERSION := 0.3.0
COMMIT := $(filter-out v$(VERSION),$(if $(wildcard .git), \
	$(shell GIT_OPTIONAL_LOCKS=0 git describe --always --dirty --abbrev=12 --match 'v$(VERSION)' 2>/dev/null),$(shell cat COMMIT 2>/dev/null)))
# The library's name changes only when a program that was linked with an older one could not use it.
SONAME := libweft.so.0
# If this program is missing, the command that needs it says so.
SQLITE := $(shell $(PKG_CONFIG) --exists sqlite3 2>/dev/null && echo sqlite3)
PACKAGES := libtracefs libzstd libelf zlib $(SQLITE)

BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib/weft
INCLUDEDIR = $(PREFIX)/include
# Of libweft.so and libweft.a, and of their description for pkg-config.
SODIR = $(PREFIX)/lib
PCDIR = $(SODIR)/pkgconfig
MANDIR = $(PREFIX)/share/man
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d
UNITDIR = $(PREFIX)/lib/systemd/system
SYSUSERSDIR = $(PREFIX)/lib/sysusers.d
# systemd reads units below /usr and /usr/local; their options are in /etc then.
CONFDIR = $(filter-out /usr% /usr/local%,$(PREFIX))/etc/weft

# pkg-config is asked once and not for each file. Before `make deps` it may have no answer; the target packages-found
# reports that.
PACKAGE_CFLAGS := $(subst -I,-isystem ,$(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null))
PACKAGE_LIBS := $(shell $(PKG_CONFIG) $(if $(STATIC),--static) --libs $(PACKAGES) 2>/dev/null)
# A C library without argp, such as musl, needs argp as a separate library (argp-standalone).
ARGP_LIBS := $(shell printf '\043include <argp.h>%%int main(int c, char **v) { return argp_parse(0, c, v, 0, 0, 0); }' | tr % '\n' | \
	$(CC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE -x c - $(LDFLAGS) -o /dev/null 2>/dev/null || echo -largp)
# Names of functions of C++ and Rust are made readable by libiberty, which has no description for pkg-config. Without it they stay as the compiler made them.
IBERTY_LIBS := $(shell printf '\043include <libiberty/demangle.h>%%int main(void) { return !cplus_demangle("", 0); }' | tr % '\n' | \
	$(CC) $(CPPFLAGS) $(CFLAGS) -x c - $(LDFLAGS) -liberty -o /dev/null 2>/dev/null && echo -liberty)

# The tables of names are pointers: each takes a bit in place of 24 bytes, where the linker and the C library (glibc since 2.36) know that.
RELR := $(shell printf '\043include <features.h>%%\043if !__GLIBC_PREREQ(2, 36)%%\043error%%\043endif%%int weft_any;' | tr % '\n' | \
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -x c - $(LDFLAGS) -Wl,--fatal-warnings,-z,pack-relative-relocs -o /dev/null 2>/dev/null && echo -Wl,-z,pack-relative-relocs)

WARN := -Wall -Wextra -Wconversion $(WERROR) -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
# -g1: a backtrace needs only lines and functions. For a debugger: make OPT='-O0 -g'
OPT ?= -O2 -g1
# The shared library has no debug information, which is larger than it. A packager who keeps it elsewhere sets this to nothing.
STRIP_LIB ?= -Wl,-S
CFLAGS ?= $(OPT)
# In these rooms nothing runs for each event or page: they read options, set up the kernel and print messages. They are
# not optimized, which takes a fifth off the build and slows no command down. CFLAGS and OPT, if given, hold for all files.
cold_rooms := cmd lib/kernel/refusals lib/kernel/setup lib/kernel/tracefs lib/kernel/undo tests/unit
ifeq ($(origin OPT) $(origin CFLAGS),file file)
COLD ?= -O0
endif
# Only these files need texts. The commands for all others have no quotes, so make starts the compiler without a shell.
texts := -DWEFT_VERSION='"$(VERSION)"' -DWEFT_BINDIR='"$(BINDIR)"' -DWEFT_LIBDIR='"$(LIBDIR)"'
commit_text := -DWEFT_COMMIT='"$(if $(COMMIT), (git $(COMMIT)))"'
need_texts := cmd/extract_dump.c cmd/options/decode.c cmd/mcp.c cmd/pack.c cmd/weft.c formats/export/parquet/file.c lib/api/api.c lib/api/file.c lib/api/live.c lib/kernel/record/facts.c lib/kernel/record/plain.c
all_cppflags = -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 $(if $(SQLITE),-DWEFT_SQLITE) $(if $(filter lib/kernel/probe/elf_functions.c,$<),$(IBERTY_LIBS:-liberty=-DWEFT_LIBIBERTY)) $(if $(STATIC),-DWEFT_STATIC) $(if $(filter $(need_texts),$<),$(texts)) \
	$(if $(filter cmd/weft.c,$<),$(commit_text)) $(CPPFLAGS)
# The same objects are in the command and in libweft.so: hidden names make position-independent code as fast as other code.
PIC := $(if $(STATIC),,-fPIC) -ffunction-sections
all_cflags = -std=gnu17 $(WARN) -fno-common -fvisibility=hidden $(if $(filter lib/% formats/% $(BUILD)/formats/%,$<),$(PIC)) $(if $(filter bindings/%,$<),-fPIC) \
	$(PACKAGE_CFLAGS) $(CFLAGS) $(if $(filter $(addsuffix /%,$(cold_rooms)),$<),$(COLD)) $(SAN)
# pkg-config names libtraceevent as a dependency of libtracefs; weft calls nothing in it.
all_ldlibs = $(LDLIBS) -Wl,--as-needed $(PACKAGE_LIBS) $(ARGP_LIBS) $(IBERTY_LIBS) -ldl -lpthread -lm
# A file of dependencies names its object by the relative and the absolute path: the next make may have BUILD in the other way.
dep_flags = -MMD -MP $(foreach path,$(sort $@ $(abspath $@) $(patsubst $(CURDIR)/%,%,$(abspath $@))),-MT $(path))
all_ldflags = $(LDFLAGS) $(if $(STATIC),-static) $(SAN)

lib_src := $(sort $(wildcard lib/*/*.c lib/*/*/*.c formats/*.c formats/*/*.c formats/*/*/*.c))
api_src := $(sort $(wildcard lib/api/*.c))
cmd_src := $(sort $(wildcard cmd/*.c cmd/*/*.c))
unit_src := $(sort $(wildcard tests/unit/*.c))
plugin_src := $(sort $(wildcard plugins/*.c))
fuzz_src := $(sort $(wildcard tests/fuzz/*.c))
fuzz_mutator := $(sort $(wildcard tests/fuzz/mutator/*.c))

# Pages, styles and scripts that weft writes out. Each becomes a C string, named as its folder and its file: html/page.css is html_page_css.
lib_text := $(sort $(foreach kind,html css js sh,$(wildcard formats/*/*/*.$(kind))))
cmd_text := $(sort $(wildcard cmd/*.sh)) man/weft-recipes.7 man/weft-tracefs.7
comma := ,
text_name = $(subst -,_,$(subst .,_,$(notdir $(patsubst %/,%,$(dir $1)))_$(notdir $1)))
text_obj := $(patsubst %,$(BUILD)/%.o,$(lib_text) $(cmd_text))

lib_obj := $(lib_src:%.c=$(BUILD)/%.o) $(lib_text:%=$(BUILD)/%.o)
api_obj := $(api_src:%.c=$(BUILD)/%.o)
cmd_obj := $(cmd_src:%.c=$(BUILD)/%.o) $(cmd_text:%=$(BUILD)/%.o)
python_obj := $(patsubst %.c,$(BUILD)/%.o,$(wildcard bindings/python/*.c))
unit_obj := $(unit_src:%.c=$(BUILD)/%.o)
plugins := $(plugin_src:%.c=$(BUILD)/%.so)
example_obj := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/examples/*.c))
test_plugins := $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/plugins/*.c))
fuzzers := $(fuzz_src:tests/fuzz/%.c=$(BUILD)/fuzz/%)

# Pages of the commands and of libweft, and the completions: made from the option tables, man/*.in, completions/*.in and weft.h. A tarball has
# them in docs/, for a build for a machine whose programs this one cannot run.
docs := $(if $(wildcard docs/made),docs,$(BUILD)/docs)
written_pages := $(sort $(wildcard man/*.[1-8]))

.DELETE_ON_ERROR:
.PHONY: all lib abi python help examples static check-arch check-builds check-kernels deps unit check check-all check-captures lint format cases faults fuzz fuzzers quick coverage mutants compile_commands.json bench bench-scaling demo docs install install-python uninstall dist check-release clean packages-found force
# A weft with sanitizers may report leaks of its own end, and nobody installs it.
all: $(BUILD)/weft $(plugins) lib $(if $(SAN),,$(docs)/made)

help:
	@echo 'make               build $(BUILD)/weft and $(BUILD)/plugins/*.so'
	@echo '                   (CC=clang, BUILD=DIR, CFLAGS="-O0 -g", SAN=-fsanitize=address, WERROR= where a compiler warns of more)'
	@echo 'make python        build the module for Python, $(BUILD)/python/weft.abi3.so; make install-python installs it'
	@echo 'make static        build a weft that needs no library, $(BUILD)-static/weft (without plugins);'
	@echo '                   LIBC=musl: one small file for a target or an initramfs, $(BUILD)-musl/weft-static'
	@echo 'make check-arch    cross-build for other architectures and run their unit tests under qemu-user (A="s390x i386")'
	@echo 'make check-builds  with clang, musl, statically, and with the newest compilers and libraries of Debian (B="musl newest-gcc")'
	@echo 'make check-kernels the guest tests on kernels of other Debian suites and of other machines (K="5.10 7.2-rt s390x arm64-16k-7.2 mips64el")'
	@echo '                   and on a kernel of your own (K=/path/to/bzImage; S names scenarios)'
	@echo 'make demo          record a small workload here and print its report'
	@echo 'make quick         lints, unit tests and some captures, in half a minute: no root, no tracefs'
	@echo 'make check         build, lint and run a fixed part of every suite of tests; installs what it needs'
	@echo '                   (SUITES="unit cases" runs only those, T=WORD only the matching tests of unit and cases)'
	@echo 'make check-all     the same with every test of each suite, which takes hours: before a release; SUITES="captures" for a part'
	@echo 'make unit          only the unit tests (T=WORD)'
	@echo 'make lint          only the lints (T=NAME)'
	@echo 'make cases         only the tests of the command line, tests/cases (T=WORD)'
	@echo 'make faults        commands whose allocations and system calls fail, some of them (ALL=1: every one; T=WORD)'
	@echo 'make coverage      lines and branches of lib/ and formats/ that the unit tests run, by room (FILES=1: by file)'
	@echo 'make mutants       faults that no unit test notices, by room (R="lib/pages/ring ..."; EACH=60 faults of each room); needs python3-clang-14'
	@echo 'make check-captures  only the comparison with the texts of real kernels'
	@echo 'make fuzz          run the fuzz targets for TIME seconds (60) each (T=NAME)'
	@echo 'make bench         weft beside trace-cmd; make bench-scaling: time for an event by events, CPUs, threads'
	@echo 'make deps          install the Debian packages that building and testing need'
	@echo 'make format        format every file of C by .clang-format, with clang-format 14'
	@echo 'make compile_commands.json  how each file is compiled, for clangd and its like'
	@echo 'make docs          only the manual pages and completions, which are in $(BUILD)/docs'
	@echo 'make abi           write the dump of the interface of libweft anew, after functions were added'
	@echo 'make install       into PREFIX ($(PREFIX)), below DESTDIR if set; make uninstall takes it away'
	@echo 'make dist          pack the commit into $(BUILD)/weft-VERSION.tar.gz; packaging/release cuts a release'
	@echo 'make check-release build the Debian packages, install, use and purge them in new systems of Debian (R="bookworm sid")'
	@echo 'make clean         remove $(BUILD)'

deps:
	@tests/deps all

packages-found:
	@$(if $(PACKAGE_LIBS),,echo 'not found by pkg-config: $(PACKAGES); make deps installs them' >&2; exit 1)

# Everything below cmd/: for the command and the tests, which know the rooms. The public libraries are made of it.
$(BUILD)/rooms.a: $(lib_obj)
	@rm -f $@
	$(AR) rcs $@ $^

lib: $(BUILD)/$(SONAME) $(BUILD)/libweft.so $(BUILD)/libweft.a $(BUILD)/weft.pc

# --exclude-libs: what a static libzstd or the like defines is not weft's.
# A program that is built with sanitizers brings their functions, a library does not.
$(BUILD)/$(SONAME): $(api_obj) $(BUILD)/rooms.a lib/api/weft.map
	$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=lib/api/weft.map $(if $(SAN),,-Wl,--no-undefined) -Wl,--exclude-libs,ALL -Wl,--gc-sections $(RELR) $(STRIP_LIB) $(all_ldflags) \
		-o $@ $(api_obj) $(BUILD)/rooms.a $(LDLIBS) -Wl,--as-needed $(PACKAGE_LIBS) -ldl -lpthread -lm

$(BUILD)/libweft.so: $(BUILD)/$(SONAME)
	ln -sf $(SONAME) $@

# One object of the rooms that the functions need, in which only these are visible: it may be linked with any program.
$(BUILD)/libweft.a: $(api_obj) $(BUILD)/rooms.a
	@rm -f $@
	$(CC) -r -nostdlib -o $(BUILD)/libweft.o $(api_obj) $(BUILD)/rooms.a
	$(OBJCOPY) --localize-hidden $(BUILD)/libweft.o
	$(AR) rcs $@ $(BUILD)/libweft.o
	@rm -f $(BUILD)/libweft.o

# The module for Python is of the limited API, so that one build serves every Python since 3.9; PYTHON has the headers.
PYTHON ?= /usr/bin/python3
PYTHONDIR = $(PREFIX)/lib/python3/dist-packages
# A module of the tree has the library in it; with PYTHON_SHARED=1, for a package, it needs libweft.so.0.
python_lib = $(if $(PYTHON_SHARED),$(BUILD)/libweft.so,$(BUILD)/libweft.a)
python: $(BUILD)/python/weft.abi3.so
$(python_obj): private CPPFLAGS += -Iinclude -isystem $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')
$(BUILD)/python/weft.abi3.so: $(python_obj) $(python_lib)
	@mkdir -p $(@D)
	$(CC) -shared -Wl,--gc-sections $(RELR) $(all_ldflags) -o $@ $^ $(LDLIBS) -Wl,--as-needed $(PACKAGE_LIBS) -ldl -lpthread -lm
	cp bindings/python/weft.pyi $(@D)/

$(BUILD)/weft.pc: lib/api/weft.pc.in Makefile $(BUILD)/flags
	@sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@INCLUDEDIR@,$(INCLUDEDIR),' -e 's,@LIBDIR@,$(SODIR),' -e 's,@VERSION@,$(VERSION),' $(if $(URL),-e 's|@URL@|$(URL)|',-e '/@URL@/d') $< > $@

$(BUILD)/weft: $(cmd_obj) $(BUILD)/rooms.a
	$(CC) $(if $(STATIC),,$(RELR)) $(all_ldflags) -o $@ $^ $(all_ldlibs)

# A commit compiles one file anew.
$(BUILD)/cmd/weft.o: $(BUILD)/commit
$(BUILD)/commit: force
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@

# The unit tests replace these functions by their own: tests/unit/starve.h, stage.h, fake_tracefs.h.
unit_wrapped := malloc calloc realloc reallocarray strdup strndup asprintf mkdir rmdir tracing_find tracing_read_path undo_new \
	shared_cmdlines_raise shared_cmdlines_recover undo_knows_instance undo_recover undo_sweep control_write

$(BUILD)/tests/unit/run: $(unit_obj) $(BUILD)/rooms.a | $(plugins) $(test_plugins)
	$(CC) $(all_ldflags) $(unit_wrapped:%=-Wl,--wrap=%) -o $@ $^ $(all_ldlibs)

# The tests in which threads run, for ThreadSanitizer.
unit_threads := batches divided extraction graph_slices io memo order pool recorder render search_ahead session session_more slices
unit_helpers := $(patsubst %.h,%.c,$(wildcard tests/unit/*.h))
$(BUILD)/tests/unit/threads: $(patsubst %.c,$(BUILD)/%.o,$(sort tests/unit/main.c $(filter $(unit_helpers),$(unit_src)) $(unit_threads:%=tests/unit/%.c))) \
		$(BUILD)/rooms.a | $(plugins) $(test_plugins)
	$(CC) $(all_ldflags) $(unit_wrapped:%=-Wl,--wrap=%) -o $@ $^ $(all_ldlibs)

# Imports the texts of the captures and reports them again.
$(BUILD)/tests/captures/import: $(BUILD)/tests/captures/import.o $(BUILD)/tests/unit/printed.o $(BUILD)/tests/unit/values.o $(BUILD)/rooms.a
	$(CC) $(all_ldflags) -o $@ $^ $(all_ldlibs)

# Prints a file in slices of time that are cut anywhere.
$(BUILD)/tests/threads/cutter: $(BUILD)/tests/threads/cutter.o $(BUILD)/tests/unit/printed.o $(BUILD)/tests/unit/sliced.o $(BUILD)/tests/unit/sliced_export.o $(BUILD)/tests/unit/sliced_sums.o $(BUILD)/rooms.a
	$(CC) $(all_ldflags) -o $@ $^ $(all_ldlibs)

# Prints a capture with the options of each of its texts.
$(BUILD)/tests/captures/variants: $(BUILD)/tests/captures/variants.o $(filter-out %/weft.o,$(cmd_obj)) $(BUILD)/rooms.a
	$(CC) $(all_ldflags) -o $@ $^ $(all_ldlibs)

# A weft with commands of its own.
$(BUILD)/tests/examples/weft: $(example_obj) $(filter-out %/commands.o,$(cmd_obj)) $(BUILD)/rooms.a
	$(CC) $(all_ldflags) -o $@ $^ $(all_ldlibs)

$(BUILD)/%.so: %.c $(BUILD)/flags
	$(CC) $(all_cppflags) $(all_cflags) -fPIC -shared $(dep_flags) $(all_ldflags) -o $@ $<

$(BUILD)/%.o: %.c $(BUILD)/flags | packages-found
	$(CC) $(all_cppflags) $(all_cflags) $(dep_flags) -c -o $@ $<

# What stands from the line of the licence to the first empty line is about the file, and is left out. A manual page has
# no empty lines.
$(text_obj:.o=.c): $(BUILD)/%.c: % Makefile $(BUILD)/flags
	@{ echo 'extern const char $(call text_name,$<)[];'; echo 'const char $(call text_name,$<)[] ='; \
		LC_ALL=C sed -e '/SPDX-License-Identifier/$(if $(filter %.7,$<),,$(comma)/^$$/)d' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $<; echo ';'; } > $@

$(text_obj): %.o: %.c
	$(CC) $(all_cppflags) $(all_cflags) -c -o $@ $<

# This file changes only when the flags do. Another PREFIX, CC or OPT therefore rebuilds everything.
# The directories of all objects are made here, because one mkdir for each of them would take half a second.
$(BUILD)/flags: force
	@mkdir -p $(sort $(dir $@ $(lib_obj) $(python_obj) $(cmd_obj) $(unit_obj) $(example_obj) $(plugins) $(test_plugins) $(fuzz_src:%=$(BUILD)/%) \
		$(BUILD)/tests/captures/import.o $(BUILD)/tests/captures/variants.o $(BUILD)/tests/threads/cutter.o \
		$(fuzz_mutator:%=$(BUILD)/%) $(BUILD)/tests/fuzz/memory/foreign.o))
	@echo '$(subst ','\'',$(CC) $(all_cppflags) $(texts) $(all_cflags) $(PIC) $(COLD) $(dep_flags) $(all_ldflags))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(CC) $(all_cppflags) $(texts) $(all_cflags) $(PIC) $(COLD) $(dep_flags) $(all_ldflags))' > $@

# make unit T=page runs the tests whose name contains "page"
unit: $(BUILD)/tests/unit/run
	$(BUILD)/tests/unit/run $(T)

lint: all
	@BUILD=$(BUILD) CC="$(CC)" tests/lint/run $(T)

# The lints must still reject their bad samples.
format:
	@git ls-files '*.c' '*.h' ':!tests/lint/bad' | xargs -n 64 clang-format-14 -i

examples: $(BUILD)/tests/examples/weft

cases: all examples
	@BUILD=$(BUILD) tests/run --verbose cases $(T)

# For each command, allocations and system calls fail one at a time. ALL=1 tries every one of them.
faults: all
	@BUILD=$(BUILD) CC="$(CC)" tests/faults/run $(if $(ALL),--all) $(T)

# A fixed part of each suite, which takes a quarter of an hour, and everything, which takes hours.
check check-all:
	@BUILD=$(BUILD) tests/deps check
	@$(MAKE) --no-print-directory deps-done-check WEFT_ALL=$(if $(filter check-all,$@),1)

quick: all $(BUILD)/tests/unit/run
	@BUILD=$(BUILD) CC="$(CC)" tests/quick

mutants:
	tests/mutants/run --each $(or $(EACH),60) $(R)

coverage:
	@BUILD=$(BUILD) CC="$(CC)" tests/coverage $(if $(FILES),--files)

# compile_commands.json holds the compile command of each object, as the rules above run it.
compile_commands.json:
	@{ echo '['; separator=; for file in $(lib_src) $(cmd_src) $(unit_src) $(plugin_src); do \
		printf '%b{"directory":"%s","file":"%s","arguments":[' "$$separator" "$(CURDIR)" "$$file"; \
		for word in $(CC) $(all_cppflags) $(texts) $(commit_text) $(all_cflags); do \
			printf '"%s",' "$$(printf '%s' "$$word" | sed 's/[\\"]/\\&/g')"; \
		done; \
		printf '"-c","%s"]}' "$$file"; separator=',\n'; \
	done; echo; echo ']'; } > $@

.PHONY: deps-done-check
deps-done-check:
	@BUILD=$(BUILD) WEFT_ALL=$(WEFT_ALL) tests/run $(SUITES)

# Other architectures: cross compilers and qemu-user come from Debian; the libraries are unpacked into a cache.
check-arch: all
	@BUILD=$(BUILD) tests/arch/calls
	@BUILD=$(BUILD) tests/arch/run $(A)

# Builds as packagers do: with their flags, other compilers and other C libraries.
check-builds: all
	@BUILD=$(BUILD) tests/arch/builds $(B)

# Runs all scenarios on kernels of other Debian suites, and some scenarios on other machines. This takes hours. S names
# scenarios. K names kernels of tests/guest/kernels, or the path of a bzImage.
K = 6.1 6.1-rt 6.12 6.12-branch $(shell tests/guest/kernels -l)
check-kernels: all
	@BUILD=$(BUILD) tests/guest/run -k "$(K)" $(S)

# LIBC=musl: with musl instead of glibc, and with the libraries that tests/arch/musl-root compiles from Debian's sources.
static:
ifeq ($(LIBC),musl)
	@[ -e $(BUILD)-musl/root/complete ] || tests/arch/musl-root $(abspath $(BUILD)-musl/root)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-musl STATIC=1 CC=musl-gcc OPT=-Os PKG_CONFIG=$(abspath $(BUILD)-musl/root/pkg-config) $(BUILD)-musl/weft
	strip -o $(BUILD)-musl/weft-static $(BUILD)-musl/weft
else
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-static STATIC=1 $(BUILD)-static/weft
endif

check-captures: all
	@BUILD=$(BUILD) tests/run captures

demo:
	@tests/deps build
	@$(MAKE) --no-print-directory -s -j$(shell nproc) $(BUILD)/weft $(plugins)
	@BUILD=$(BUILD) tests/demo

bench: all
	@BUILD=$(BUILD) tests/bench/run
bench-scaling: all
	@BUILD=$(BUILD) tests/bench/scaling

# Fuzzing needs clang. It builds the library a second time, with clang's instrumentation.
fuzzers: $(fuzzers)
ifneq ($(FUZZ_BUILD),)
# The input of these targets is a trace.dat. Their mutator knows the file format and changes the file's parts.
$(BUILD)/fuzz/api $(BUILD)/fuzz/container $(BUILD)/fuzz/report $(BUILD)/fuzz/commands: $(fuzz_mutator:%.c=$(BUILD)/%.o)
# This target calls the commands; libFuzzer has a main() of its own.
$(BUILD)/fuzz/commands: $(filter-out %/weft.o,$(cmd_obj))
$(BUILD)/fuzz/import: $(BUILD)/tests/unit/printed.o $(BUILD)/tests/unit/values.o
# MemorySanitizer is told what these functions of others write: tests/fuzz/memory/foreign.c.
fuzz_wrapped := $(if $(FUZZ_MEMORY),inflate deflate uncompress ZSTD_compress2 ZSTD_decompressDCtx ZSTD_decompressStream elf_getdata elf_getphdrnum \
	elf_getshdrstrndx elf_strptr gelf_getehdr gelf_getphdr gelf_getshdr gelf_getsym gelf_getnote regerror fstat64 stat64 lstat64 fstatat64 LLVMFuzzerMutate)
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/rooms.a $(if $(FUZZ_MEMORY),$(BUILD)/tests/fuzz/memory/foreign.o)
	@mkdir -p $(@D)
	$(CC) $(all_ldflags) -fsanitize=fuzzer $(fuzz_wrapped:%=-Wl,--wrap=%) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(all_ldlibs)
endif

fuzz:
	@FUZZ_SECONDS=$(or $(TIME),$(FUZZ_SECONDS)) BUILD=$(BUILD)-fuzz tests/fuzz/run fuzz $(T)

docs: $(docs)/made

$(BUILD)/docs/made: $(BUILD)/weft $(wildcard man/*.in completions/*.in) man/generate man/generate-api completions/generate include/weft/weft.h
	@rm -rf $(@D)
	@mkdir -p $(@D)/man $(@D)/completions
	@if $(BUILD)/weft --version > /dev/null 2>&1; then BUILD=$(BUILD) man/generate $(@D) && BUILD=$(BUILD) completions/generate $(@D); \
		else echo '$(BUILD)/weft does not run here: this build has no manual pages of commands and no completions' >&2; fi
	@touch $@

# The interface of libweft.so.0, which the lint `abi` compares with the header.
abi:
	@lib/api/dump-abi lib/api/weft.abi

install: all
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/plugins $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	install -m 755 $(BUILD)/weft $(DESTDIR)$(BINDIR)/weft
	install -d $(DESTDIR)$(INCLUDEDIR)/weft $(DESTDIR)$(PCDIR)
	install -m 644 include/weft/weft.h include/weft/plugin.h include/weft/mark.h $(DESTDIR)$(INCLUDEDIR)/weft/
	install -m 644 $(BUILD)/$(SONAME) $(BUILD)/libweft.a $(DESTDIR)$(SODIR)/
	ln -sf $(SONAME) $(DESTDIR)$(SODIR)/libweft.so
	install -m 644 $(BUILD)/weft.pc $(DESTDIR)$(PCDIR)/
	$(if $(plugins),install -m 644 $(plugins) $(DESTDIR)$(LIBDIR)/plugins/)
	install -m 755 examples/weft-kdump $(DESTDIR)$(LIBDIR)/
	sed 's|/usr/local/lib/weft|$(LIBDIR)|' examples/weft-kdump.conf > $(DESTDIR)$(LIBDIR)/weft-kdump.conf
	[ ! -e $(docs)/completions/weft.bash ] || { install -m 644 $(docs)/completions/weft.bash $(DESTDIR)$(BASHDIR)/weft && \
		install -m 644 $(docs)/completions/_weft $(DESTDIR)$(ZSHDIR)/_weft && \
		install -m 644 $(docs)/completions/weft.fish $(DESTDIR)$(FISHDIR)/weft.fish; }
	for page in $(written_pages) $(docs)/man/*.[1-8]; do \
		[ ! -e $$page ] || install -D -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; \
	done
	sed -i -e 's|/usr/local/lib/weft|$(subst -,\\-,$(LIBDIR))|' -e 's|PREFIX/lib/weft|$(subst -,\\-,$(LIBDIR))|' \
		$(addprefix $(DESTDIR)$(MANDIR)/man7/,weft-crash.7 weft-plugin.7)
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(CONFDIR)/flight.d
	for unit in $(units); do \
		sed -e 's|@BINDIR@|$(BINDIR)|' -e 's|@CONFDIR@|$(CONFDIR)|' packaging/systemd/$$unit.in > $(DESTDIR)$(UNITDIR)/$$unit && \
		chmod 644 $(DESTDIR)$(UNITDIR)/$$unit || exit 1; \
	done
	install -D -m 644 packaging/systemd/weft-flight.sysusers $(DESTDIR)$(SYSUSERSDIR)/weft-flight.conf
	[ -e $(flight_conf) ] || install -m 644 packaging/systemd/50-default.conf $(flight_conf)
	$(if $(TRACE_CMD),$(call alias,$(BINDIR)/trace-cmd,weft))
	$(if $(TRACE_CMD),$(call alias,$(MANDIR)/man1/trace-cmd.1,weft-trace-cmd.1))

units := weft-flight.service weft-dump@.service
# What an administrator has changed stays, also when weft is removed.
flight_conf = $(DESTDIR)$(CONFDIR)/flight.d/50-default.conf

# A link in trace-cmd's place: $(call alias,LINK,TO). What stands there stays, but for our own link.
alias = if [ "$$(readlink $(DESTDIR)$(1))" = $(2) ]; then :; \
	elif [ -e $(DESTDIR)$(1) ] || [ -L $(DESTDIR)$(1) ]; then echo "$(DESTDIR)$(1) exists: not made a link to $(2)" >&2; exit 1; \
	else ln -s $(2) $(DESTDIR)$(1); fi

install-python: python
	install -d $(DESTDIR)$(PYTHONDIR)
	install -m 644 $(BUILD)/python/weft.abi3.so $(BUILD)/python/weft.pyi $(DESTDIR)$(PYTHONDIR)/

uninstall: $(docs)/made
	rm -f $(DESTDIR)$(BINDIR)/weft $(DESTDIR)$(BASHDIR)/weft $(DESTDIR)$(ZSHDIR)/_weft $(DESTDIR)$(FISHDIR)/weft.fish
	for page in $(written_pages) $(docs)/man/*.[1-8]; do rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; done
	rm -f $(DESTDIR)$(INCLUDEDIR)/weft/weft.h $(DESTDIR)$(INCLUDEDIR)/weft/plugin.h $(DESTDIR)$(INCLUDEDIR)/weft/mark.h $(addprefix $(DESTDIR)$(SODIR)/,$(SONAME) libweft.so libweft.a) $(DESTDIR)$(PCDIR)/weft.pc
	-rmdir $(DESTDIR)$(INCLUDEDIR)/weft
	rm -f $(DESTDIR)$(PYTHONDIR)/weft.abi3.so $(DESTDIR)$(PYTHONDIR)/weft.pyi
	rm -rf $(DESTDIR)$(LIBDIR)
	rm -f $(units:%=$(DESTDIR)$(UNITDIR)/%) $(DESTDIR)$(SYSUSERSDIR)/weft-flight.conf
	! cmp -s packaging/systemd/50-default.conf $(flight_conf) || rm -f $(flight_conf)
	-rmdir $(DESTDIR)$(CONFDIR)/flight.d $(DESTDIR)$(CONFDIR)
	[ "$$(readlink $(DESTDIR)$(BINDIR)/trace-cmd)" != weft ] || rm -f $(DESTDIR)$(BINDIR)/trace-cmd
	[ "$$(readlink $(DESTDIR)$(MANDIR)/man1/trace-cmd.1)" != weft-trace-cmd.1 ] || rm -f $(DESTDIR)$(MANDIR)/man1/trace-cmd.1

dist:
	@packaging/dist $(BUILD)

# What people install. It takes minutes, and downloads Debian's base system for each suite.
check-release:
	@tests/deps release
	@BUILD=$(BUILD) tests/release/run $(R)

clean:
	rm -rf $(BUILD) compile_commands.json $(addprefix $(BUILD)-,static musl clang asan tsan coverage fuzz memory s390x ppc64el arm64 armhf i386 mips64el mipsel riscv64)

-include $(patsubst %.o,%.d,$(lib_obj) $(python_obj) $(cmd_obj) $(unit_obj)) $(BUILD)/tests/captures/import.d $(BUILD)/tests/captures/variants.d $(BUILD)/tests/threads/cutter.d $(example_obj:.o=.d) $(fuzz_mutator:%.c=$(BUILD)/%.d) $(plugins:.so=.d) $(test_plugins:.so=.d)
