// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/diff.h"

#include "lib/base/fail.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

enum diff_metric diff_metric_named(const char *name, size_t len)
{
	for (size_t i = 0; i < DIFF_METRICS; i++)
		if (strlen(metric_names[i]) == len && !memcmp(metric_names[i], name, len))
			return (enum diff_metric)i;
	return DIFF_METRICS;
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

int diff_condition_parse(const char *text, struct diff_condition *ret, struct fail *fail)
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
	condition.metric = diff_metric_named(name, len);
	if (condition.metric == DIFF_METRICS)
		return fail_set(fail, -EINVAL, "'%s': there is no figure '%.*s'; there are p50, p99, rate and total",
				text, (int)len, name);
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
