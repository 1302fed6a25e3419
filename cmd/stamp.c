// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/stamp.h"

#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/event/context.h"

#include <errno.h>

int stamp_parse(const struct context *context, const char *option, const char *text, uint64_t *ret, struct fail *fail)
{
	uint64_t seconds = 0, ns = 0;
	const char *at = text;
	uint64_t digit_ns = 100000000;

	if (context->unit == CLOCK_UNIT_COUNT)
		return text_parse_u64(text, ret, fail);
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(seconds, 10u, &seconds) ||
		    __builtin_add_overflow(seconds, (uint64_t)(*at - '0'), &seconds))
			break;
	if (*at == '.' && at > text)
		for (at++; *at >= '0' && *at <= '9' && digit_ns; at++, digit_ns /= 10)
			ns += (uint64_t)(*at - '0') * digit_ns;
	if (at == text || *at || __builtin_mul_overflow(seconds, 1000000000u, &seconds) ||
	    __builtin_add_overflow(seconds, ns, &seconds))
		return fail_set(fail, -EINVAL, "--%s: '%s' is not a time such as 12.345678", option, text);
	*ret = seconds;
	return 0;
}
