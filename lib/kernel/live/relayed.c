// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/live/relayed_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/kernel/record/tap.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/stream/relay.h"
#include "lib/pages/trace/trace.h"

void relayed_release(struct relayed *relayed)
{
	buf_release(&relayed->names);
	buf_release(&relayed->tgids);
}

int relayed_facts(struct out *out, const struct trace *trace, struct fail *fail)
{
	size_t size = (size_t)trace_info(trace)->size;
	cleanup_free uint8_t *bytes = malloc(size + 1);

	if (!bytes)
		return fail_memory(fail);
	if (trace_bytes(trace, 0, bytes, size) != size)
		return fail_set(fail, -EIO, "cannot read the description of what is traced");
	relay_put(out, RELAY_HELLO, 0, RELAY_VERSION, NULL, 0);
	relay_put(out, RELAY_FACTS, 0, 0, bytes, size);
	return 0;
}

void relayed_buffer(struct out *out, size_t buffer, const struct page_shape *shape, const uint32_t *cpus,
		    size_t nr_cpus)
{
	const struct relay_buffer told = { shape->size, shape->long_size, (uint32_t)nr_cpus };
	cleanup_buf struct buf bytes = BUF_INIT;

	if (!buf_add(&bytes, &told, sizeof(told)) || !buf_add(&bytes, cpus, nr_cpus * sizeof(*cpus)))
		out->failed = true;
	else
		relay_put(out, RELAY_BUFFER, buffer, 0, bytes.data, bytes.len);
}

int relayed_symbols(struct out *out, const struct tap *tap, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r = tap_symbols(tap, &text, fail);

	if (r == -ENOMEM)
		return r;
	/* Without symbols, addresses are printed as numbers. */
	if (!r)
		relay_put(out, RELAY_SYMBOLS, 0, 0, text.data, text.len);
	relay_put(out, RELAY_READY, 0, 0, NULL, 0);
	return 0;
}

static void tell(struct buf *told, struct out *out, enum relay_kind kind, const struct buf *text)
{
	if (told->len == text->len && (!text->len || !memcmp(told->data, text->data, text->len)))
		return;
	relay_put(out, kind, 0, 0, text->data, text->len);
	told->len = 0;
	if (!buf_add(told, text->data, text->len))
		out->failed = true;
}

void relayed_tasks(struct relayed *relayed, struct out *out, const struct buf *names, const struct buf *tgids)
{
	tell(&relayed->tgids, out, RELAY_TGIDS, tgids);
	tell(&relayed->names, out, RELAY_TASKS, names);
}

void relayed_format(struct out *out, size_t buffer, const struct buf *system, const struct buf *format)
{
	cleanup_buf struct buf bytes = BUF_INIT;

	if (!buf_add(&bytes, system->data, system->len) || !buf_add(&bytes, "", 1) ||
	    !buf_add(&bytes, format->data, format->len))
		out->failed = true;
	else
		relay_put(out, RELAY_FORMAT, buffer, 0, bytes.data, bytes.len);
}
