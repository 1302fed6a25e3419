// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/setup_values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/options/option_value.h"
#include "cmd/terminal/config.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"

void setup_usage(struct argp_state *state, const char *format, ...)
{
	struct fail fail = FAIL_INIT;
	va_list args;

	va_start(args, format);
	vsnprintf(fail.text, sizeof(fail.text), format, args);
	va_end(args);
	argp_error(state, "%s%s", config_place(state), fail.text);
}

uint64_t setup_number(const char *what, const char *text, uint64_t min, uint64_t max, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;

	if (text_parse_range(text, min, max, &value, &fail))
		setup_usage(state, "%s: %s", what, fail.text);
	return value;
}

uint64_t setup_size(const char *what, const char *text, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;

	if (text_parse_size(text, &value, &fail))
		setup_usage(state, "%s: %s", what, fail.text);
	if (!value)
		setup_usage(state, "%s: a size cannot be 0", what);
	return value;
}

/* A KEY of --hwlat and --osnoise: its short name, its file, and whether its value is a time in microseconds. */
struct file_key {
	const char *key, *file;
	bool is_time;
};

static const struct file_key hwlat_keys[] = {
	{ "mode", "hwlat_detector/mode", false },
	{ "width", "hwlat_detector/width", true },
	{ "window", "hwlat_detector/window", true },
	{ NULL, NULL, false },
};

static const struct file_key osnoise_keys[] = {
	{ "cpus", "osnoise/cpus", false },
	{ "options", "osnoise/options", false },
	{ "period", "osnoise/period_us", true },
	{ "runtime", "osnoise/runtime_us", true },
	{ "stop", "osnoise/stop_tracing_us", true },
	{ "stop-total", "osnoise/stop_tracing_total_us", true },
	{ "timerlat-period", "osnoise/timerlat_period_us", true },
	{ "timerlat-align", "osnoise/timerlat_align_us", true },
	{ "print-stack", "osnoise/print_stack", true },
	{ NULL, NULL, false },
};

/* A key can also be given by the name of its file. */
static const struct file_key *find_key(const struct file_key *keys, const char *name, struct near *near)
{
	*near = near_to(name);
	for (; keys->key; keys++) {
		if (!strcmp(keys->key, name) || !strcmp(strchr(keys->file, '/') + 1, name))
			return keys;
		near_offer(near, keys->key);
	}
	return NULL;
}

/* A number without a unit is in microseconds, as in the file. */
uint64_t setup_microseconds(const char *what, const char *text, struct argp_state *state)
{
	uint64_t ns;

	if (!text[strspn(text, "0123456789")])
		return setup_number(what, text, 0, UINT64_MAX, state);
	ns = option_time(what + strlen("--"), text, state);
	if (ns % 1000)
		setup_usage(state, "%s: '%s' is not in whole microseconds", what, text);
	return ns / 1000;
}

struct setup_file setup_file_of(const char *what, enum setup_keys keys, const char *arg, struct argp_state *state)
{
	static const struct file_key *const tables[] = { [SETUP_HWLAT] = hwlat_keys, [SETUP_OSNOISE] = osnoise_keys };
	const char *equals = strchr(arg, '=');
	struct setup_file file = { .file = NULL };
	const struct file_key *key;
	struct fail fail = FAIL_INIT;
	struct near near;
	char name[64];

	if (!equals || !equals[1])
		setup_usage(state, "%s: '%s' is not KEY=VALUE", what, arg);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - arg), arg);
	key = find_key(tables[keys], name, &near);
	if (!key) {
		near_fail(&near, &fail, -ENOENT, "%s: unknown key '%s'", what, name);
		setup_usage(state, "%s", fail.text);
	}
	file.file = key->file;
	if (key->is_time)
		file.number = setup_microseconds(what, equals + 1, state);
	else
		file.value = equals + 1;
	return file;
}
