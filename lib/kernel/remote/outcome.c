// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/outcome.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/remote/wire_internal.h"

enum {
	RAN = 1,
	HAS_STATUS = 2,
	AT_MOST = 4,
	SYMBOLS_HIDDEN = 8,
	MADE_TASKS = 16,
	MISSED_PROBES = 32,
	SPENT_EVENTS = 64,
	SPENT_CPU = 128,
	SKIP_HOUR = 256,
	SKIP_PRESSURE = 512,
};

static const uint32_t spent_flags[] = { [RECORD_SPENT_EVENTS] = SPENT_EVENTS, [RECORD_SPENT_CPU] = SPENT_CPU };
static const uint32_t skip_flags[] = { [RECORD_SKIP_HOUR] = SKIP_HOUR, [RECORD_SKIP_PRESSURE] = SKIP_PRESSURE };

bool outcome_add(struct buf *to, const struct record_result *result)
{
	const uint64_t sums[] = { result->time_ns, result->events,          result->lost,
				  result->raw,     result->packed,          result->missed,
				  result->cleared, result->marks_elsewhere, result->user_data };
	uint32_t flags = (result->ran ? RAN : 0) | (result->has_status ? HAS_STATUS : 0) |
			 (result->at_most ? AT_MOST : 0) | (result->symbols_hidden ? SYMBOLS_HIDDEN : 0) |
			 (result->times.made_tasks ? MADE_TASKS : 0) | (result->missed_probes ? MISSED_PROBES : 0) |
			 spent_flags[result->spent] | skip_flags[result->skipped];
	bool ok = wire_add_u32(to, flags) && wire_add_u32(to, (uint32_t)result->status);

	for (size_t i = 0; ok && i < array_size(sums); i++)
		ok = wire_add_u64(to, sums[i]);
	ok = ok && wire_add_u32(to, (uint32_t)result->nr_cpus);
	for (size_t i = 0; ok && i < result->nr_cpus; i++) {
		const struct record_cpu *cpu = &result->cpus[i];

		ok = wire_add_u32(to, cpu->buffer) && wire_add_u32(to, cpu->cpu) && wire_add_u32(to, cpu->cleared) &&
		     wire_add_u64(to, cpu->events) && wire_add_u64(to, cpu->lost) &&
		     wire_add_u64(to, cpu->dropped_bytes) && wire_add_u64(to, cpu->dropped_events);
	}
	return ok && buf_add(to, result->missed_probes ? result->missed_probes : "",
			     result->missed_probes ? strlen(result->missed_probes) + 1 : 1);
}

static bool take_cpu(struct bytes *body, struct record_cpu *ret)
{
	return bytes_u32(body, &ret->buffer) && bytes_u32(body, &ret->cpu) && bytes_u32(body, &ret->cleared) &&
	       bytes_u64(body, &ret->events) && bytes_u64(body, &ret->lost) && bytes_u64(body, &ret->dropped_bytes) &&
	       bytes_u64(body, &ret->dropped_events);
}

static int take_cpus(struct bytes *body, struct record_result *ret, struct fail *fail)
{
	uint32_t nr;

	if (!bytes_u32(body, &nr))
		return -EBADMSG;
	/* Each takes bytes of the body, so that the number is bounded by them. */
	while (nr--) {
		struct record_cpu cpu = { .cpu = 0 }, *added;

		if (!take_cpu(body, &cpu))
			return -EBADMSG;
		added = vec_push(ret->cpus, ret->nr_cpus);
		if (!added)
			return fail_memory(fail);
		*added = cpu;
	}
	return 0;
}

int outcome_take(struct bytes body, struct record_result *ret, struct fail *fail)
{
	uint64_t cleared = 0, *const sums[] = { &ret->time_ns, &ret->events,          &ret->lost,
						&ret->raw,     &ret->packed,          &ret->missed,
						&cleared,      &ret->marks_elsewhere, &ret->user_data };
	uint32_t flags, status;
	const char *text;
	size_t len;
	int err;
	bool ok = bytes_u32(&body, &flags) && bytes_u32(&body, &status);

	for (size_t i = 0; ok && i < array_size(sums); i++)
		ok = bytes_u64(&body, sums[i]);
	err = ok ? take_cpus(&body, ret, fail) : -EBADMSG;
	if (err == -ENOMEM)
		return err;
	if (err || !bytes_cstr(&body, &text, &len))
		return fail_set(fail, -EBADMSG, "what became of the recording is damaged");
	ret->cleared = (unsigned)cleared;
	ret->ran = flags & RAN;
	ret->has_status = flags & HAS_STATUS;
	ret->status = (int)(status & 0xff);
	ret->at_most = flags & AT_MOST;
	ret->symbols_hidden = flags & SYMBOLS_HIDDEN;
	ret->times.made_tasks = flags & MADE_TASKS;
	ret->spent = flags & SPENT_EVENTS ? RECORD_SPENT_EVENTS :
		     flags & SPENT_CPU    ? RECORD_SPENT_CPU :
					    RECORD_SPENT_NOTHING;
	ret->skipped = flags & SKIP_HOUR     ? RECORD_SKIP_HOUR :
		       flags & SKIP_PRESSURE ? RECORD_SKIP_PRESSURE :
					       RECORD_SKIP_NOT;
	if (flags & MISSED_PROBES) {
		ret->missed_probes = strdup(text);
		if (!ret->missed_probes)
			return fail_memory(fail);
	}
	return 0;
}
