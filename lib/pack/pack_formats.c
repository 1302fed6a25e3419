// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/pack/pack_internal.h"

#include <errno.h>
#include <string.h>

/* "SYSTEM" and the line "name: EVENT" identify the event of a format. */
static struct trace_text event_name(const char *text)
{
	const char *start = strncmp(text, "name: ", 6) ? strstr(text, "\nname: ") : text;

	if (!start)
		return (struct trace_text){ .text = "", .len = 0 };
	start += *start == '\n' ? 7 : 6;
	return (struct trace_text){ .text = start, .len = strcspn(start, "\n") };
}

static bool is_known(const struct pack *pack, const char *system, const char *text)
{
	struct trace_text name = event_name(text);

	for (size_t i = 0; i < pack->metadata.nr_formats; i++) {
		struct trace_text other;

		if (strcmp(pack->formats[i].system, system))
			continue;
		other = event_name(pack->formats[i].text);
		if (other.len == name.len && !memcmp(other.text, name.text, name.len))
			return true;
	}
	return false;
}

/* The first format of an event counts. */
static int add_format(struct pack *pack, const char *system, const char *text, size_t len, struct fail *fail)
{
	struct writer_metadata *metadata = &pack->metadata;
	struct writer_format *added;

	if (!len || is_known(pack, system, text))
		return 0;
	if (metadata->nr_formats == PACK_FORMATS_MAX)
		return fail_set(fail, -EFBIG, "'%s' has more than %d formats", pack->folder.path, PACK_FORMATS_MAX);
	added = vec_push(pack->formats, metadata->nr_formats);
	if (!added)
		return fail_memory(fail);
	*added = (struct writer_format){ .system = system, .text = text, .len = len };
	metadata->formats = pack->formats;
	return 0;
}

/* Adds SYSTEM/EVENT/format below `prefix`; the tree keeps the system's name in place of the path. */
static int add_tree(struct pack *pack, struct tree *tree, const char *prefix, struct fail *fail)
{
	size_t skip = strlen(prefix);
	int r = 0;

	for (size_t i = 0; !r && i < tree->count; i++) {
		struct tree_file *file = &tree->files[i];
		char *system, *event, *end;

		if (strncmp(file->name, prefix, skip))
			continue;
		system = file->name + skip;
		event = strchr(system, '/');
		end = event ? strchr(event + 1, '/') : NULL;
		if (!end || strcmp(end, "/format"))
			continue;
		*event = 0;
		r = add_format(pack, system, file->text, file->len, fail);
	}
	return r;
}

static int add_directory(struct pack *pack, const char *path, struct fail *fail)
{
	struct tree *tree = vec_push(pack->event_trees, pack->nr_event_trees);
	struct folder folder = FOLDER_INIT;
	int r;

	if (!tree)
		return fail_memory(fail);
	r = folder_open(path, &folder, fail);
	if (!r)
		r = tree_read(&folder, "", tree, fail);
	folder_release(&folder);
	if (r) {
		pack->nr_event_trees--;
		return r;
	}
	r = add_tree(pack, tree, "events/", fail);
	return r ? r : add_tree(pack, tree, "", fail);
}

int pack_gather_formats(struct pack *pack, struct fail *fail)
{
	const struct trace_format *formats;
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; !r && i < pack->nr_rings; i++)
		r = add_tree(pack, &pack->rings[i].tree, "events/", fail);
	formats = pack->base ? trace_formats(pack->base, &count) : NULL;
	for (size_t i = 0; !r && i < count; i++)
		r = add_format(pack, formats[i].system.text, formats[i].text.text, formats[i].text.len, fail);
	for (size_t i = 0; !r && i < pack->options->nr_events; i++)
		r = add_directory(pack, pack->options->events[i], fail);
	return r;
}
