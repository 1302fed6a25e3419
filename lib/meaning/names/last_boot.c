// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/names/last_boot_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/names/kallsyms_internal.h"
#include "lib/pages/trace/trace.h"

/*
 * Each module is searched for in the other text, so these limits bound the time for a hostile file; no machine reaches
 * them.
 */
enum { MODULES_MAX = 1024, MODULES_TEXT = 1 << 20 };

static int by_address(const void *a, const void *b)
{
	const struct last_boot_module *x = a, *y = b;

	return (x->then > y->then) - (x->then < y->then);
}

/* Parses "NAME SIZE USES USERS STATE 0xADDRESS" of /proc/modules: the module's address; 0: not loaded, or hidden. */
static uint64_t module_now(struct trace_text modules, struct text_word name)
{
	struct text_word line;

	while (modules.text && text_next_line(&modules.text, &modules.len, &line)) {
		const char *end = line.at + line.len, *at = line.at;
		uint64_t address;

		if (line.len <= name.len || memcmp(at, name.at, name.len) || at[name.len] != ' ')
			continue;
		for (int field = 0; at && field < 5; field++) {
			at = memchr(at, ' ', (size_t)(end - at));
			at = at ? at + 1 : NULL;
		}
		if (at && end - at > 2 && at[0] == '0' && at[1] == 'x' && kallsyms_take_hex(at + 2, end, &address))
			return address;
		return 0;
	}
	return 0;
}

static bool add_module(struct last_boot *boot, uint64_t then, uint64_t now)
{
	struct last_boot_module *module;

	if (boot->nr == MODULES_MAX)
		return true;
	module = vec_push(boot->modules, boot->nr);
	if (!module)
		return false;
	*module = (struct last_boot_module){ .then = then, .delta = now ? now - then : 0 };
	return true;
}

/* Parses "text delta:<tab>-4194304" (6.12), or "ffffffff81000000<tab>[kernel]" and such a line for each module. */
static bool read_line(struct last_boot *boot, struct text_word line, struct trace_text modules)
{
	static const char delta[] = "text delta:\t";
	const char *end = line.at + line.len, *tab;
	struct text_word name;
	uint64_t address;
	int64_t moved;

	if (line.len >= sizeof(delta) && !memcmp(line.at, delta, sizeof(delta) - 1)) {
		const char *at = line.at + sizeof(delta) - 1;

		if (number_s64(&at, &moved))
			boot->delta = (uint64_t)moved;
		return true;
	}
	tab = memchr(line.at, '\t', line.len);
	if (!tab || kallsyms_take_hex(line.at, end, &address) != tab)
		return true;
	name = (struct text_word){ tab + 1, (size_t)(end - tab - 1) };
	if (!text_word_is(name, "[kernel]"))
		return add_module(boot, address, module_now(modules, name));
	boot->text_then = address;
	return true;
}

bool last_boot_read(struct last_boot *boot, struct trace_text info, struct trace_text modules)
{
	struct text_word line;

	if (modules.len > MODULES_TEXT)
		modules.text = NULL;
	while (info.text && text_next_line(&info.text, &info.len, &line))
		if (!read_line(boot, line, modules))
			return false;
	if (boot->nr)
		qsort(boot->modules, boot->nr, sizeof(*boot->modules), by_address);
	return true;
}

void last_boot_release(struct last_boot *boot)
{
	free(boot->modules);
	*boot = (struct last_boot){ .nr = 0 };
}

void last_boot_text_now(struct last_boot *boot, uint64_t text_now)
{
	if (boot->text_then && text_now)
		boot->delta = text_now - boot->text_then;
}

uint64_t last_boot_module_delta(const struct last_boot *boot, uint64_t then)
{
	size_t low = vec_count(boot->nr, i, boot->modules[i].then <= then);

	return low ? boot->modules[low - 1].delta : 0;
}
