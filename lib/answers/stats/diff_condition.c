// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/stats/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"

static const char *const metric_names[DIFF_METRICS] = {
	[DIFF_P50] = "p50",
	[DIFF_P99] = "p99",
	[DIFF_RATE] = "rate",
	[DIFF_TOTAL] = "total",
};

const char *diff_metric_name(enum diff_metric metric)
{
	return metric_names[metric];
}

static size_t find_name(const char *const *names, size_t nr, const char *name, size_t len)
{
	size_t i = 0;

	while (i < nr && (strlen(names[i]) != len || memcmp(names[i], name, len) != 0))
		i++;
	return i;
}

enum diff_metric diff_metric_named(const char *name, size_t len)
{
	return (enum diff_metric)find_name(metric_names, DIFF_METRICS, name, len);
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* Reads "5%", "+5 %" or "-10%". */
static bool take_percent(const char *at, double *ret)
{
	static const char digits[] = "0123456789";
	bool minus = *at == '-';
	char *end;

	at += minus || *at == '+';
	if (!*at || !strchr(digits, *at))
		return false;
	*ret = strtod(at, &end) / 100;
	if (at[strspn(at, "0123456789.")] != *end || !isfinite(*ret))
		return false;
	*ret = minus ? -*ret : *ret;
	end += strspn(end, " \t");
	return *end == '%' && !*skip_blanks(end + 1);
}

static int refuse_name(const char *text, const char *name, size_t len, const char *const *names, size_t nr,
		       struct fail *fail)
{
	cleanup_buf struct buf there = BUF_INIT;

	for (size_t i = 0; i < nr; i++)
		if (!buf_addf(&there, "%s%s", !i ? "" : i + 1 < nr ? ", " : " and ", names[i]))
			return fail_memory(fail);
	return fail_set(fail, -EINVAL, "'%s': there is no figure '%.*s'; there are %s", text, (int)len, name,
			buf_str(&there));
}

int diff_condition_parse(const char *text, struct diff_condition *ret, struct fail *fail)
{
	return diff_condition_read(text, metric_names, DIFF_METRICS, ret, fail);
}

int diff_condition_read(const char *text, const char *const *names, size_t nr_names, struct diff_condition *ret,
			struct fail *fail)
{
	struct diff_condition condition = { .text = text, .row = "*" };
	const char *at = text, *colon = strrchr(text, ':'), *name;
	size_t len;

	if (colon) {
		at = skip_blanks(at);
		len = (size_t)(colon - at);
		if (at > colon || !len || len >= sizeof(condition.row))
			return fail_set(fail, -EINVAL, "'%s': the name of a row stands before ':'", text);
		memcpy(condition.row, at, len);
		condition.row[len] = '\0';
		at = colon + 1;
	}
	name = skip_blanks(at);
	len = strcspn(name, " \t<>");
	condition.figure = (unsigned)find_name(names, nr_names, name, len);
	if (condition.figure == nr_names)
		return refuse_name(text, name, len, names, nr_names, fail);
	at = skip_blanks(name + len);
	condition.below = *at == '<';
	if (*at != '<' && *at != '>')
		return fail_set(fail, -EINVAL,
				"'%s': write FIGURE > N%% or FIGURE < -N%%, with ROW: in front for one row", text);
	if (!take_percent(skip_blanks(at + 1), &condition.change))
		return fail_set(fail, -EINVAL, "'%s': '%s' is no change; write it as 5%% or -5%%", text,
				skip_blanks(at + 1));
	*ret = condition;
	return 0;
}
