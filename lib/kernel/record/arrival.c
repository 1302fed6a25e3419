// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/arrival.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/spool.h"
#include "lib/kernel/undo/journal.h"
#include "lib/meaning/clock/pings.h"

/* An item has the text of all symbols, or of the functions of many programs, at most. */
enum { ITEM_MAX = 256 << 20, HOST_MAX = 200 };
#define META_MAX (UINT64_C(2) << 30)

struct arrival {
	struct parts *parts;
	bool swap, has_file, has_page, has_event, has_ping;
	char host[HOST_MAX];
	struct buf meta; /* the beginning of an item */
	uint64_t meta_sum;
	struct spool *spools; /* in the order of the streams' numbers, from 1 on */
	struct arrival_place {
		uint32_t buffer, cpu;
	} * places;
	size_t nr, nr_places;
};

static int add_host(struct arrival *arrival, const char *host, struct fail *fail)
{
	struct ledger *ledger = arrival->parts->ledger;
	const char *output;
	int err = ledger_load(ledger, fail);

	if (err)
		return err;
	snprintf(arrival->host, sizeof(arrival->host), "%s", host);
	output = ledger_text(ledger, LEDGER_OUTPUT);
	return ledger_add(ledger,
			  &(struct ledger_item){
				  .kind = LEDGER_OUTPUT, .key = arrival->host, .data = output, .len = strlen(output) },
			  fail);
}

int arrival_new(const struct arrival_options *options, struct arrival **ret, struct fail *fail)
{
	struct arrival *arrival = calloc(1, sizeof(*arrival));
	int err;

	if (!arrival)
		return fail_memory(fail);
	err = parts_new(options->output, options->temp_dir, &arrival->parts, fail);
	if (!err)
		err = add_host(arrival, options->host, fail);
	if (err) {
		if (arrival->parts)
			(void)!parts_remove(arrival->parts, NULL);
		arrival_free(arrival);
		return err;
	}
	*ret = arrival;
	return 0;
}

void arrival_free(struct arrival *arrival)
{
	if (!arrival)
		return;
	for (size_t i = 0; i < arrival->nr; i++)
		spool_release(&arrival->spools[i]);
	free(arrival->spools);
	free(arrival->places);
	buf_release(&arrival->meta);
	parts_free(arrival->parts);
	free(arrival);
}

const char *arrival_path(const struct arrival *arrival)
{
	return arrival->parts->path;
}

void arrival_swaps(struct arrival *arrival, bool swap)
{
	arrival->swap = swap;
}

bool arrival_has_begun(const struct arrival *arrival)
{
	return arrival->has_file && arrival->has_page && arrival->has_event;
}

int arrival_remove(struct arrival *arrival, struct fail *fail)
{
	return parts_remove(arrival->parts, fail);
}

static int take_file(struct arrival *arrival, const struct ledger_item *item, struct fail *fail)
{
	struct parts_file file;

	if (arrival->has_file || parts_parse_file(item->data, &file))
		return fail_set(fail, -EBADMSG, "its recording has parts of another version of weft, or is damaged");
	file.swap = arrival->swap;
	arrival->has_file = true;
	return parts_describe(arrival->parts, &file, fail);
}

int arrival_describe(struct arrival *arrival, const struct parts_file *file, struct fail *fail)
{
	arrival->has_file = true;
	return parts_describe(arrival->parts, file, fail);
}

/* Each kind is listed: what a later weft adds is looked at before it is taken from others. */
int arrival_item(struct arrival *arrival, const struct ledger_item *item, struct fail *fail)
{
	uint32_t size;
	const char *clock;
	int err = 0;

	if (item->buffer > LEDGER_BUFFERS_MAX)
		return fail_set(fail, -EBADMSG, "its recording names buffer %" PRIu32, item->buffer);
	switch (item->kind) {
	case LEDGER_FILE:
		return take_file(arrival, item, fail);
	case LEDGER_BUFFER:
		err = parts_buffer(item, &size, &clock, fail);
		break;
	case LEDGER_HEADER_PAGE:
		arrival->has_page = true;
		break;
	case LEDGER_HEADER_EVENT:
		arrival->has_event = true;
		break;
	case LEDGER_FORMAT:
	case LEDGER_KALLSYMS:
	case LEDGER_PRINTK:
	case LEDGER_CMDLINES:
	case LEDGER_UNAME:
	case LEDGER_VERSION:
	case LEDGER_CLOCK:
	case LEDGER_STATS:
	case LEDGER_SETTING:
		/* This side alone knows what it was told of its own pings. */
		if (!strcmp(item->key, SETTING_PINGS))
			return 0;
		break;
	case LEDGER_LATENCY:
	case LEDGER_SAMPLE:
	case LEDGER_DRAINED:
		break;
	/* Files and instances of that machine, and what arrival_stream() says of the parts here. */
	case LEDGER_OUTPUT:
	case LEDGER_SECRET:
	case LEDGER_MOVED:
	case LEDGER_INSTANCE:
	case LEDGER_SPOOL:
	case LEDGER_PING:
	case LEDGER_KIND_END:
		return 0;
	}
	return err ? err : ledger_add(arrival->parts->ledger, item, fail);
}

int arrival_meta(struct arrival *arrival, const void *data, size_t len, struct fail *fail)
{
	struct ledger_item item;
	struct bytes in;
	int err = 0;

	arrival->meta_sum += len;
	if (arrival->meta_sum > META_MAX)
		return fail_set(fail, -EFBIG, "its recording has too much metadata");
	if (!len)
		return 0;
	if (!buf_add(&arrival->meta, data, len))
		return fail_memory(fail);
	in = bytes_of(arrival->meta.data, arrival->meta.len, arrival->swap);
	while (!err && ledger_take(&in, &item))
		err = arrival_item(arrival, &item, fail);
	if (!err && !ledger_may_take(in, ITEM_MAX))
		err = fail_set(fail, -EBADMSG, "the metadata of its recording is damaged");
	if (err || in.left == arrival->meta.len)
		return err;
	memmove(arrival->meta.data, in.at, in.left);
	arrival->meta.len = in.left;
	return 0;
}

int arrival_ping(struct arrival *arrival, const struct ping *ping, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	char boot[BOOT_ID_SIZE];
	bool ok = true;

	if (!arrival->has_ping) {
		boot_id(boot);
		ok = pings_put_near(boot, arrival->host, &text);
	}
	arrival->has_ping = true;
	if (!ok || !ping_put(ping, &text))
		return fail_memory(fail);
	return ledger_add(arrival->parts->ledger,
			  &(struct ledger_item){ .kind = LEDGER_PING, .key = "", .data = text.data, .len = text.len },
			  fail);
}

static int note_stream(struct arrival *arrival, uint32_t buffer, uint32_t cpu, struct fail *fail)
{
	char key[16];

	snprintf(key, sizeof(key), "%" PRIu32, cpu);
	return ledger_add(arrival->parts->ledger,
			  &(struct ledger_item){ .kind = LEDGER_SPOOL, .buffer = buffer, .key = key, .data = "" },
			  fail);
}

int arrival_stream(struct arrival *arrival, uint32_t stream, uint32_t buffer, uint32_t cpu, struct fail *fail)
{
	const struct spool_options options = { .swap = arrival->swap };
	struct arrival_place *place;
	struct spool spool, *added;
	int err;

	if (!arrival->has_file || stream != arrival->nr + 1 || buffer > LEDGER_BUFFERS_MAX ||
	    cpu >= arrival->parts->file.cpu_count)
		return fail_set(fail, -EBADMSG, "it sends CPU %" PRIu32 " of buffer %" PRIu32 ", which cannot be", cpu,
				buffer);
	for (size_t i = 0; i < arrival->nr_places; i++)
		if (arrival->places[i].buffer == buffer && arrival->places[i].cpu == cpu)
			return fail_set(fail, -EBADMSG, "it sends CPU %" PRIu32 " of buffer %" PRIu32 " twice", cpu,
					buffer);
	err = spool_new(arrival->parts->dir, buffer, cpu, &options, &spool, fail);
	if (err)
		return err;
	added = vec_push(arrival->spools, arrival->nr);
	if (!added) {
		spool_release(&spool);
		return fail_memory(fail);
	}
	*added = spool;
	place = vec_push(arrival->places, arrival->nr_places);
	if (!place)
		return fail_memory(fail);
	*place = (struct arrival_place){ buffer, cpu };
	return note_stream(arrival, buffer, cpu, fail);
}

int arrival_pages(struct arrival *arrival, uint32_t stream, const void *data, size_t len, struct fail *fail)
{
	if (!stream || stream > arrival->nr)
		return fail_set(fail, -EBADMSG, "it sends pages of a stream that it has not named");
	return fail_writing(fail, spool_append(&arrival->spools[stream - 1], data, len, 0, 0, fail),
			    arrival->parts->path);
}
