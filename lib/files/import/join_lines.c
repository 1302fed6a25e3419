// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/import_internal.h"

#include <endian.h>
#include <string.h>

#include "lib/files/rewrite/binder.h"
#include "lib/ground/base/bytes.h"
#include "lib/pages/ring/page.h"

enum { PID_AT = 4 };

struct waiter {
	uint64_t ts;
	int64_t lost;
	uint32_t cpu, len;
	bool guess;
};

bool join_lines_add(struct join_lines *waiting, uint32_t cpu, const struct record *record, int64_t lost, bool guess)
{
	struct waiter waiter;

	memset(&waiter, 0, sizeof(waiter));
	waiter.ts = record->ts;
	waiter.lost = lost;
	waiter.cpu = cpu;
	waiter.len = record->len;
	waiter.guess = guess;
	waiting->guesses += guess;
	return buf_add(&waiting->bytes, &waiter, sizeof(waiter)) && buf_add(&waiting->bytes, record->data, record->len);
}

static int bind(const struct waiter *waiter, uint8_t *data, int32_t pid, struct binder *binder, struct fail *fail)
{
	const struct record record = { .data = data, .len = waiter->len, .ts = waiter->ts };
	uint32_t stored = htole32((uint32_t)pid);

	if (waiter->guess)
		memcpy(data + PID_AT, &stored, sizeof(stored));
	return binder_add(binder, waiter->cpu, &record, waiter->lost, fail);
}

int join_lines_end(struct join_lines *waiting, int64_t cpu, int32_t pid, struct binder *binder, struct fail *fail)
{
	size_t at = 0, kept = 0, size = waiting->bytes.len;
	int r = 0;

	while (!r && at < size) {
		char *start = waiting->bytes.data + at;
		struct waiter waiter;

		memcpy(&waiter, start, sizeof(waiter));
		at += sizeof(waiter) + waiter.len;
		if (cpu == JOIN_LINES_ALL || cpu == waiter.cpu) {
			waiting->guesses -= waiter.guess;
			r = bind(&waiter, (uint8_t *)start + sizeof(waiter),
				 pid + (cpu == JOIN_LINES_ALL ? (int32_t)waiter.cpu : 0), binder, fail);
			continue;
		}
		memmove(waiting->bytes.data + kept, start, sizeof(waiter) + waiter.len);
		kept += sizeof(waiter) + waiter.len;
	}
	waiting->bytes.len = kept;
	return r;
}
