// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "formats/sink.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/vec.h"

void sink_patch_add(struct sink_patches *patches, const struct out *out, const char *missing, size_t len)
{
	struct sink_patch *patch = vec_push(patches->at, patches->nr);

	if (!patch) {
		patches->failed = true;
		return;
	}
	*patch = (struct sink_patch){ .text = patches->text, .at = out_len(out), .len = len };
	if (!len)
		return;
	patch->missing = malloc(len);
	if (patch->missing)
		memcpy(patch->missing, missing, len);
	else
		patches->failed = true;
}

void sink_patches_release(struct sink_patches *patches)
{
	for (size_t i = 0; i < patches->nr; i++)
		free(patches->at[i].missing);
	free(patches->at);
	*patches = (struct sink_patches){ .at = NULL };
}
