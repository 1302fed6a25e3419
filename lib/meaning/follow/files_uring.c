// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests of io_uring (files.h), from their submission to their completion. */
#include "lib/meaning/follow/files_load_internal.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"

enum {
	FIXED = 1, /* IOSQE_FIXED_FILE of include/uapi/linux/io_uring.h, which is also that of the kernel's own flags */
	MORE = 2,  /* IORING_CQE_F_MORE: the request will end once more */
};

static struct files_uring *uring_of(struct files_load *load, uint64_t request)
{
	const uint32_t *at = u64_map_find(&load->rings, request);

	return at ? &load->files->urings[*at - 1] : NULL;
}

static void submit(struct files_load *load, const struct files_places *places, const struct event *event,
		   uint64_t request)
{
	struct files *files = load->files;
	uint32_t *at = u64_map_add(&load->rings, request);
	struct files_uring *uring =
		at && files->nr_urings < FILES_ITEMS_MAX ? vec_push(files->urings, files->nr_urings) : NULL;
	char number[16];
	const char *text;
	size_t len = files_field_text(&places->operation, event, &text);

	if (!uring) {
		files->starved = true;
		return;
	}
	*at = (uint32_t)files->nr_urings;
	if (!len) {
		snprintf(number, sizeof(number), "%u", (unsigned)place_u64(&places->number, event));
		text = number;
		len = strlen(number);
	}
	*uring = (struct files_uring){ .since = event->ts,
				       .pid = event->pid,
				       .fd = -1,
				       .file = FILES_UNKNOWN,
				       .operation = files_of_text(load, text, len),
				       .fixed = place_u64(&places->flags, event) & FIXED };
}

static void complete(struct files_load *load, const struct files_places *places, const struct event *event,
		     uint64_t request)
{
	struct files_uring *uring = uring_of(load, request);
	int64_t result = (int64_t)place_u64(&places->result, event);

	if (!uring)
		return;
	uring->until = event->ts;
	uring->done = true;
	uring->result = uring->result > 0 && result > 0 ? uring->result + result : result;
	if (!(place_u64(&places->more, event) & MORE))
		u64_map_remove(&load->rings, request);
}

/* On a kernel that forgets arguments, the request is known from the call, and the file from the return. */
static void find_fixed(struct files_load *load, const struct files_places *places, const struct event *event,
		       uint64_t request, uint32_t file)
{
	bool returns = places->level[0].field != NULL;
	uint64_t *asked = places->request.field && returns ? &request : u64_map_add(&load->fixed, (uint32_t)event->pid);
	struct files_uring *uring;

	if (!asked) {
		load->files->starved = true;
		return;
	}
	if (!returns) {
		*asked = request;
		return;
	}
	uring = uring_of(load, *asked);
	if (!uring)
		return;
	uring->fixed = true;
	uring->file = file;
}

void files_see_uring(struct files_load *load, const struct files_places *places, const struct event *event,
		     enum files_uring_role role, uint32_t file)
{
	uint64_t request = place_u64(&places->request, event);
	struct files_uring *uring;

	switch (role) {
	case FILES_URING_SUBMIT:
		/* Before Linux 5.12 the event does not tell which request it is. */
		if (places->request.field)
			submit(load, places, event, request);
		return;
	case FILES_URING_FILE:
		uring = uring_of(load, request);
		if (!uring)
			return;
		uring->fd = (int32_t)place_u64(&places->fd, event);
		uring->asked = event->ts;
		return;
	case FILES_URING_FIXED:
		find_fixed(load, places, event, request, file);
		return;
	case FILES_URING_COMPLETE:
		complete(load, places, event, request);
		return;
	}
}
