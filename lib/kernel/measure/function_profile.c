// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/measure/function_profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"

#define ENABLED "function_profile_enabled"

void function_profile_release(struct function_profile *profile)
{
	free(profile->functions);
	labels_release(&profile->names);
	*profile = (struct function_profile)FUNCTION_PROFILE_INIT;
}

int function_profile_start(struct instance *top, struct fail *fail)
{
	char on[8];
	int err;

	if (!instance_has(top, ENABLED))
		return kconfig_no_file(ENABLED, fail);
	err = tracer_functions_on(top, fail);
	if (!err)
		err = instance_read_word(top, ENABLED, on, sizeof(on), fail);
	if (err)
		return err;
	if (on[0] != '0')
		return fail_set(fail, -EBUSY, "another process is already profiling functions ('" ENABLED "' is 1)");
	return instance_set(top, ENABLED, "1", fail);
}

int function_profile_stop(struct instance *top, struct fail *fail)
{
	return instance_set(top, ENABLED, "0", fail);
}

static struct profiled_function *find_or_add(struct function_profile *profile, const char *name, bool cut)
{
	struct profiled_function *function;
	uint32_t number;
	bool is_new;

	if (!profile->nr)
		labels_init(&profile->names);
	number = labels_add(&profile->names, name, strlen(name), &is_new);
	if (number == LABEL_NONE)
		return NULL;
	if (number < profile->nr)
		return &profile->functions[number];
	function = vec_push(profile->functions, profile->nr);
	if (!function)
		return NULL;
	*function = (struct profiled_function){ .cut = cut };
	memcpy(function->name, name, strlen(name) + 1);
	return function;
}

/* Joins two samples: the sum of squared deviations is the sum of both, plus a term for the distance of their means. */
static void merge(struct profiled_function *into, uint64_t hits, uint64_t time_ns, double variance)
{
	double n = (double)into->hits, m = (double)hits;

	if (hits > 1)
		into->squares += variance * (m - 1);
	if (into->hits && hits) {
		double distance = (double)time_ns / 1000 / m - (double)into->time_ns / 1000 / n;

		into->squares += distance * distance * n * m / (n + m);
	}
	into->hits += hits;
	into->time_ns += time_ns;
}

/* Reads "3302.654" as microseconds. */
static bool parse_us(struct text_word word, double *ret)
{
	char digits[40], *end;

	if (!word.len || word.len >= sizeof(digits) || strspn(word.at, "0123456789.") < word.len)
		return false;
	memcpy(digits, word.at, word.len);
	digits[word.len] = '\0';
	*ret = strtod(digits, &end);
	return !*end;
}

/* Reads NAME HITS, or NAME HITS TIME us AVERAGE us VARIANCE us. */
static int parse_line(struct function_profile *profile, struct text_word line, struct fail *fail)
{
	char text[256], name[PROFILE_NAME_SIZE], digits[24];
	struct text_word words[8];
	const char *at = text;
	struct profiled_function *function;
	double time_us = 0, variance = 0;
	uint64_t hits;
	size_t nr = 0;

	snprintf(text, sizeof(text), "%.*s", (int)line.len, line.at);
	while (nr < array_size(words) && text_next_word(&at, " ", &words[nr]))
		nr++;
	if (nr < 2 || words[0].len >= sizeof(name) || words[1].len >= sizeof(digits))
		return fail_set(fail, -EBADMSG, "trace_stat has a line that does not describe a function: '%s'", text);
	snprintf(name, sizeof(name), "%.*s", (int)words[0].len, words[0].at);
	snprintf(digits, sizeof(digits), "%.*s", (int)words[1].len, words[1].at);
	if (text_parse_u64(digits, &hits, NULL) ||
	    (nr == 8 && (!parse_us(words[2], &time_us) || !parse_us(words[6], &variance))))
		return fail_set(fail, -EBADMSG, "trace_stat has a line that does not describe a function: '%s'", text);
	profile->timed |= nr == 8;
	function = find_or_add(profile, name, words[0].len == PROFILE_NAME_SIZE - 1);
	if (!function)
		return fail_memory(fail);
	merge(function, hits, (uint64_t)llround(time_us * 1000), variance);
	return 0;
}

int function_profile_parse(struct function_profile *profile, const char *text, size_t len, struct fail *fail)
{
	struct text_word line;
	unsigned head = 2; /* the line of titles, and the rule below it */
	int err = 0;

	while (!err && text_next_line(&text, &len, &line)) {
		if (head) {
			head--;
			continue;
		}
		if (line.len)
			err = parse_line(profile, line, fail);
	}
	return err;
}

int function_profile_read(const struct instance *top, struct function_profile *ret, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct cpus online;
	int err = tracing_online_cpus(&online, fail);

	for (int cpu = cpus_next(&online, 0); !err && cpu >= 0; cpu = cpus_next(&online, cpu + 1)) {
		char file[40];

		snprintf(file, sizeof(file), "trace_stat/function%d", cpu);
		buf_clear(&text);
		err = instance_read(top, file, &text, fail);
		if (!err)
			err = function_profile_parse(ret, buf_str(&text), text.len, fail);
	}
	return err;
}

double profiled_function_deviation(const struct profiled_function *function)
{
	return function->hits < 2 ? 0 : sqrt(function->squares / (double)(function->hits - 1));
}
