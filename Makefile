# SPDX-License-Identifier: GPL-2.0-only
# weft: no configure step. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
BUILD ?= build
SAN ?=
LIBDIR = $(PREFIX)/lib/weft

VERSION := 0.1.0
PACKAGES := libtracefs libtraceevent libzstd

WARN := -Wall -Wextra -Wconversion -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
OPT ?= -O2 -g
CPPFLAGS += -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DWEFT_VERSION='"$(VERSION)"' -DWEFT_LIBDIR='"$(LIBDIR)"'
CFLAGS += -std=gnu17 $(OPT) $(WARN) -fno-common -fvisibility=hidden $(SAN) $(shell pkg-config --cflags $(PACKAGES) | sed 's/-I/-isystem /g')
LDLIBS += $(shell pkg-config --libs $(PACKAGES)) -ldl -lpthread
LDFLAGS += $(SAN)

lib_src := $(sort $(wildcard lib/*/*.c formats/*.c))
cmd_src := $(sort $(wildcard cmd/*.c))
unit_src := $(sort $(wildcard tests/unit/*.c))
fuzz_src := $(sort $(wildcard tests/fuzz/*.c))
plugin_src := $(sort $(wildcard plugins/*.c))

lib_obj := $(lib_src:%.c=$(BUILD)/%.o)
cmd_obj := $(cmd_src:%.c=$(BUILD)/%.o)
unit_obj := $(unit_src:%.c=$(BUILD)/%.o)
plugins := $(plugin_src:%.c=$(BUILD)/%.so)

.PHONY: all clean help unit
all: $(BUILD)/weft $(plugins)

help:
	@echo 'make          build $(BUILD)/weft and $(BUILD)/plugins/*.so'
	@echo 'make unit     build and run the unit tests'

$(BUILD)/libweft.a: $(lib_obj)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/weft: $(cmd_obj) $(BUILD)/libweft.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tests/unit/run: $(unit_obj) $(BUILD)/libweft.a
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/plugins/%.so: plugins/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -MMD -MP $(LDFLAGS) -o $@ $<

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# make unit T=page runs those whose name contains "page"
unit: $(BUILD)/tests/unit/run
	$(BUILD)/tests/unit/run $(T)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
