// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft's side of the plugins of libtraceevent: it asks, and checks the answers. */
#include "lib/meaning/plugin/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/plugin/foreign_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/pages/trace/trace.h"

/* The texts of one batch of events together; a part of a long text. */
enum { TEXTS_MAX = 4 << 20, PART = 1 << 20 };

struct foreign {
	struct foreign_memory *memory;
	struct trace *trace;
	int alive, gone; /* pipes: the warden lives as long as `gone` is open elsewhere; `alive` says that weft lives */
	uint32_t life;   /* the runner that has been told the texts; FOREIGN_LIVES: none will be */
	bool ready;      /* told, and its answer has come */
	bool refused;    /* a FOREIGN_READY was not answered */
	uint8_t wanted[FOREIGN_BITS];
	uint8_t out[FOREIGN_BITS]; /* the types at which a runner ended, or that had no answer */
	struct fail fail;
};

void foreign_texts_clear(struct foreign_texts *texts)
{
	for (size_t i = 0; i < texts->nr; i++)
		free(texts->blocks[i]);
	texts->nr = texts->size = 0;
}

void foreign_texts_release(struct foreign_texts *texts)
{
	foreign_texts_clear(texts);
	free(texts->blocks);
	texts->blocks = NULL;
}

static bool bit(const uint8_t *bits, uint16_t id)
{
	return bits[id / 8] >> id % 8 & 1;
}

int foreign_new(const struct foreign_options *options, struct foreign **ret, struct fail *fail)
{
	struct foreign *foreign = calloc(1, sizeof(*foreign));
	int alive[2] = { -1, -1 }, gone[2] = { -1, -1 };
	pid_t pid;

	if (!foreign)
		return fail_memory(fail);
	foreign->memory =
		mmap(NULL, sizeof(*foreign->memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (foreign->memory == MAP_FAILED) {
		free(foreign);
		return fail_memory(fail);
	}
	if (pipe2(alive, O_CLOEXEC) < 0 || pipe2(gone, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		int err = fail_set(fail, -errno, "cannot start a process for plugins: %s", strerror(errno));

		for (size_t i = 0; i < 2; i++) {
			if (alive[i] >= 0)
				close(alive[i]);
			if (gone[i] >= 0)
				close(gone[i]);
		}
		munmap(foreign->memory, sizeof(*foreign->memory));
		free(foreign);
		return err;
	}
	if (!pid)
		foreign_warden(options, foreign->memory, alive[0], gone[1]);
	close(alive[0]);
	close(gone[1]);
	foreign->alive = alive[1];
	foreign->gone = gone[0];
	*ret = foreign;
	return 0;
}

void foreign_free(struct foreign *foreign)
{
	if (!foreign)
		return;
	/* The processes end by themselves: in the sandbox weft can neither kill them nor wait for them. */
	foreign_give(foreign->memory, FOREIGN_END);
	close(foreign->alive);
	close(foreign->gone);
	munmap(foreign->memory, sizeof(*foreign->memory));
	free(foreign);
}

/* Adds an item of two parts to the request; false: there is no room. */
static bool put(struct foreign *foreign, enum foreign_kind kind, const void *head, size_t head_len, const void *data,
		size_t len)
{
	struct foreign_memory *memory = foreign->memory;
	struct foreign_item item = { .kind = kind, .len = (uint32_t)(head_len + len) };
	uint32_t at = atomic_load(&memory->request_len);

	if (at > FOREIGN_AREA || len > FOREIGN_AREA ||
	    sizeof(item) + foreign_padded(head_len + len) > FOREIGN_AREA - at)
		return false;
	memcpy(memory->request + at, &item, sizeof(item));
	at += sizeof(item);
	if (head_len)
		memcpy(memory->request + at, head, head_len);
	if (len)
		memcpy(memory->request + at + head_len, data, len);
	atomic_store(&memory->request_len, at + (uint32_t)foreign_padded(head_len + len));
	return true;
}

/* Notes the first problem: what the runner told, or how it ended. `event` NULL: not at an event. */
static void note_end(struct foreign *foreign, const struct event *event)
{
	static const char *const ends[] = { "ended", "crashed", "took too long" };
	uint32_t end = atomic_load(&foreign->memory->end);
	const char *how = ends[end < array_size(ends) ? end : FOREIGN_CRASHED];
	char told[FOREIGN_TOLD_MAX];

	if (*foreign->fail.text)
		return;
	memcpy(told, foreign->memory->told, sizeof(told));
	told[sizeof(told) - 1] = 0;
	if (*told)
		fail_set(&foreign->fail, -EINVAL, "%s", told);
	else if (event && event->type->format)
		fail_set(&foreign->fail, -EINVAL,
			 "a plugin of libtraceevent %s at an event '%s': from there on these events have no text of it",
			 how, event->type->format->name);
	else
		fail_set(&foreign->fail, -EINVAL, "libtraceevent or a plugin of it %s: its texts are missing", how);
}

/* Sends the request; true if the runner gave the turn back, false if it has ended. */
static bool exchange(struct foreign *foreign)
{
	struct foreign_memory *memory = foreign->memory;
	uint32_t ended = atomic_load(&memory->ended);

	if (ended != foreign->life)
		return false;
	atomic_store(&memory->reply_len, 0);
	atomic_store(&memory->done, 0);
	atomic_store(&memory->life, foreign->life);
	atomic_fetch_add(&memory->serial, 1);
	foreign_give(memory, FOREIGN_RUNNER);
	while (atomic_load(&memory->turn) == FOREIGN_RUNNER) {
		foreign_wait(memory, FOREIGN_RUNNER);
		if (foreign_is_gone(foreign->gone)) {
			atomic_store(&memory->ended, FOREIGN_LIVES);
			break;
		}
	}
	atomic_store(&memory->request_len, 0);
	return atomic_load(&memory->ended) == foreign->life;
}

static bool put_or_send(struct foreign *foreign, enum foreign_kind kind, const void *head, size_t head_len,
			const void *data, size_t len)
{
	return put(foreign, kind, head, head_len, data, len) ||
	       (exchange(foreign) && put(foreign, kind, head, head_len, data, len));
}

static bool tell_text(struct foreign *foreign, enum trace_meta which, enum foreign_kind kind)
{
	struct trace_text text;

	if (trace_meta(foreign->trace, which, &text, NULL) < 0 || !text.text)
		return true;
	for (size_t at = 0; at < text.len; at += PART)
		if (!put_or_send(foreign, kind, NULL, 0, text.text + at, text.len - at < PART ? text.len - at : PART))
			return false;
	return true;
}

static bool tell_formats(struct foreign *foreign)
{
	size_t nr;
	const struct trace_format *formats = trace_formats(foreign->trace, &nr);

	for (size_t i = 0; i < nr; i++)
		if (formats[i].system.text && formats[i].text.text && formats[i].text.len < PART &&
		    !put_or_send(foreign, FOREIGN_FORMAT, formats[i].system.text, formats[i].system.len + 1,
				 formats[i].text.text, formats[i].text.len))
			return false;
	return true;
}

/* Copies what the runner has answered, because it can still change the memory. *ret_nr: how many items it says. */
static bool take_reply(struct foreign *foreign, uint8_t **ret, struct bytes *ret_reply, uint32_t *ret_nr)
{
	uint32_t len = atomic_load(&foreign->memory->reply_len);
	uint8_t *copy;

	if (len > FOREIGN_AREA)
		len = 0;
	copy = malloc(len + 1);
	if (!copy)
		return false;
	memcpy(copy, foreign->memory->reply, len);
	*ret = copy;
	*ret_reply = bytes_of(copy, len, false);
	*ret_nr = atomic_load(&foreign->memory->done);
	return true;
}

static bool take_ready(struct foreign *foreign)
{
	cleanup_free uint8_t *copy = NULL;
	const struct foreign_text *bits;
	struct bytes reply;
	uint32_t nr;

	if (!take_reply(foreign, &copy, &reply, &nr))
		return false;
	bits = foreign_reply_next(&reply);
	if (!bits || bits->len != FOREIGN_BITS)
		return false;
	for (size_t i = 0; i < FOREIGN_BITS; i++)
		foreign->wanted[i] = (uint8_t)bits->text[i] & (uint8_t)~foreign->out[i];
	return true;
}

static bool tell(struct foreign *foreign)
{
	const struct trace_info *info = trace_info(foreign->trace);
	const struct foreign_abi abi = {
		.big_endian = info->big_endian,
		.long_size = info->long_size,
		.page_size = info->page_size,
	};

	foreign->memory->request_len = 0;
	return put(foreign, FOREIGN_ABI, &abi, sizeof(abi), NULL, 0) && tell_formats(foreign) &&
	       tell_text(foreign, TRACE_KALLSYMS, FOREIGN_SYMBOLS) &&
	       tell_text(foreign, TRACE_PRINTK, FOREIGN_STRINGS) && tell_text(foreign, TRACE_CMDLINES, FOREIGN_TASKS) &&
	       exchange(foreign) && put(foreign, FOREIGN_READY, NULL, 0, NULL, 0) && exchange(foreign) &&
	       take_ready(foreign);
}

/* Makes a runner ready, the next one if the last has ended. False: there is none. */
static bool prepare(struct foreign *foreign)
{
	while (!foreign->refused) {
		uint32_t ended = atomic_load(&foreign->memory->ended);

		if (ended == foreign->life && foreign->ready)
			return true;
		if (ended != foreign->life)
			note_end(foreign, NULL);
		if (ended >= FOREIGN_LIVES)
			break;
		foreign->life = ended;
		foreign->ready = tell(foreign);
		foreign->refused = !foreign->ready && atomic_load(&foreign->memory->ended) == foreign->life;
	}
	memset(foreign->wanted, 0, sizeof(foreign->wanted));
	return false;
}

void foreign_tell(struct foreign *foreign, struct trace *trace)
{
	foreign->trace = trace;
	(void)prepare(foreign);
}

static bool put_event(struct foreign *foreign, const struct event *event)
{
	const struct foreign_event head = { .ts = event->ts, .cpu = event->cpu };

	return put(foreign, FOREIGN_EVENT, &head, sizeof(head), event->data, event->len);
}

/* Gives the texts of a reply to the events in order. Returns for how many there was one. */
static size_t take_texts(struct foreign *foreign, struct event **events, size_t nr, struct foreign_texts *texts)
{
	struct bytes reply;
	uint8_t *copy = NULL;
	void **block;
	uint32_t done;
	size_t i = 0;

	if (!take_reply(foreign, &copy, &reply, &done))
		return 0;
	texts->size += reply.left;
	block = vec_push(texts->blocks, texts->nr);
	if (!block) {
		free(copy);
		return 0;
	}
	*block = copy;
	for (; i < nr && i < done; i++) {
		const struct foreign_text *text = foreign_reply_next(&reply);

		if (!text)
			break;
		events[i]->added = text;
	}
	return i;
}

/* Keeps the events whose type has a text, in their order. */
static size_t choose(const struct foreign *foreign, struct event **events, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (bit(foreign->wanted, events[i]->id))
			events[kept++] = events[i];
	return kept;
}

void foreign_ask(struct foreign *foreign, struct event **events, size_t nr, struct foreign_texts *texts)
{
	while (texts->size < TEXTS_MAX && (nr = choose(foreign, events, nr))) {
		size_t put = 0, got;
		bool lives;

		if (!prepare(foreign))
			return;
		while (put < nr && put_event(foreign, events[put]))
			put++;
		lives = exchange(foreign);
		got = take_texts(foreign, events, put, texts);
		if (got < put && (!lives || !got)) {
			/* At this event the runner ended, or its text had no room. */
			const struct event *culprit = events[got];

			foreign->out[culprit->id / 8] |= (uint8_t)(1 << culprit->id % 8);
			foreign->wanted[culprit->id / 8] &= (uint8_t)~foreign->out[culprit->id / 8];
			if (!lives)
				note_end(foreign, culprit);
		}
		events += got;
		nr -= got;
	}
}

const char *foreign_failure(struct foreign *foreign)
{
	if (*foreign->memory->told)
		note_end(foreign, NULL);
	return *foreign->fail.text ? foreign->fail.text : NULL;
}
