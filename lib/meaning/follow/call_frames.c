// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/calls_internal.h"

#include <stdlib.h>

void call_frames_free(struct frames *frames)
{
	if (!frames)
		return;
	free(frames->at);
	free(frames->funcs);
	hits_release(&frames->hits);
	repeats_release(&frames->repeats);
	free(frames);
}

bool call_frames_grow(struct frames *frames)
{
	size_t size = frames->size ? frames->size * 2 : 16;
	struct frame *at = reallocarray(frames->at, size, sizeof(*at));
	uint64_t *funcs;

	if (!at)
		return false;
	frames->at = at;
	funcs = reallocarray(frames->funcs, size, sizeof(*funcs));
	if (!funcs)
		return false;
	frames->funcs = funcs;
	frames->size = size;
	return true;
}
