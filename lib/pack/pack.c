// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pack/pack.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/pack/pack_internal.h"
#include "lib/trace/made_file.h"
#include "lib/trace/part.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* The directory with the texts: `meta` if it exists. */
static int find_root(const struct pack *pack, char **ret, struct fail *fail)
{
	mode_t type;
	int r = folder_type(&pack->folder, "meta", &type, fail);

	if (r)
		return r;
	*ret = strdup(S_ISDIR(type) ? "meta" : "");
	return *ret ? 0 : fail_memory(fail);
}

static int open_base(struct pack *pack, struct fail *fail)
{
	const char *pages = pack->options->pages;
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;
	int r;

	if (pages)
		return trace_open(pages, &pack->base, fail);
	r = folder_file(&pack->folder, "trace.dat", &fd, fail);
	if (r <= 0)
		return r;
	if (asprintf(&path, "%s/trace.dat", pack->folder.path) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	return trace_open_fd(fd, path, &pack->base, fail);
}

/* Returns the buffer of that name, which is made when it is new. */
static struct pack_ring *get_ring(struct pack *pack, const char *name)
{
	struct pack_ring *ring;

	for (size_t i = 0; i < pack->nr_rings; i++)
		if (!strcmp(pack->rings[i].name, name))
			return &pack->rings[i];
	ring = vec_push(pack->rings, pack->nr_rings);
	if (!ring)
		return NULL;
	*ring = (struct pack_ring){ .name = strdup(name), .base = SIZE_MAX };
	if (ring->name)
		return ring;
	pack->nr_rings--;
	return NULL;
}

static int describe_ring(struct pack *pack, const char *name, char *root, struct fail *fail)
{
	struct pack_ring *ring = get_ring(pack, name);

	if (!ring) {
		free(root);
		return fail_memory(fail);
	}
	if (ring->root) {
		free(root);
		return 0;
	}
	ring->root = root;
	return tree_read(&pack->folder, root, &ring->tree, fail);
}

/* instances/NAME and instances/NAME.meta */
static int find_instances(struct pack *pack, struct fail *fail)
{
	size_t count;
	char **names;
	int r = folder_list(&pack->folder, "instances", &names, &count, fail);

	for (size_t i = 0; r >= 0 && i < count; i++) {
		size_t len = strlen(names[i]);
		mode_t type = 0;
		char *root;

		if (asprintf(&root, "instances/%s", names[i]) < 0) {
			r = fail_memory(fail);
			break;
		}
		r = folder_type(&pack->folder, root, &type, fail);
		if (r || S_ISREG(type)) {
			free(root);
			continue;
		}
		if (len > 5 && !strcmp(names[i] + len - 5, ".meta"))
			names[i][len - 5] = 0;
		r = describe_ring(pack, names[i], root, fail);
	}
	folder_list_free(names, count);
	return r < 0 ? r : 0;
}

static int find_rings(struct pack *pack, struct fail *fail)
{
	const char *instance = pack->options->instance;
	char *root = NULL;
	int r;

	/* The top buffer always comes first. */
	if (!get_ring(pack, ""))
		return fail_memory(fail);
	for (size_t i = 0; pack->base && i < trace_buffers(pack->base); i++) {
		struct pack_ring *ring = get_ring(pack, trace_buffer(pack->base, i)->name.text);

		if (!ring)
			return fail_memory(fail);
		ring->base = i;
	}
	r = find_root(pack, &root, fail);
	if (!r)
		r = describe_ring(pack, instance ? instance : "", root, fail);
	return r ? r : find_instances(pack, fail);
}

static int copy_base_pages(struct pack *pack, const struct pack_ring *ring, struct part *part, struct writer *writer,
			   struct fail *fail)
{
	const struct trace_buffer *buffer = trace_buffer(pack->base, ring->base);
	int r = 0;

	for (size_t i = 0; !r && i < buffer->nr_cpus; i++) {
		struct trace_pages pages;

		r = trace_pages_init(&pages, pack->base, ring->base, i, fail);
		if (!r)
			r = part_add_pages(part, &pages, fail);
		if (!r)
			pack->summary.pages += part_pages_size(part);
		if (!r)
			r = part_write(part, writer, buffer->cpus[i].cpu, fail);
		pack->summary.cpus++;
	}
	return r ? fail_in(fail, r, "'%s'", trace_path(pack->base)) : 0;
}

static int copy_raw_pages(struct pack *pack, const struct pack_raw *raw, uint32_t page_size, struct part *part,
			  struct writer *writer, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int r = folder_file(&pack->folder, raw->name, &fd, fail);

	if (r <= 0)
		return r ? r : fail_set(fail, -ENOENT, "'%s/%s' is gone", pack->folder.path, raw->name);
	r = folder_take_pages(&pack->folder, fd, raw->name, fail);
	if (!r)
		r = part_add_file(part, fd, page_size, fail);
	if (r)
		return fail_in(fail, r, "'%s/%s'", pack->folder.path, raw->name);
	pack->summary.pages += part_pages_size(part);
	pack->summary.cpus++;
	return part_write(part, writer, raw->cpu, fail);
}

static int write_ring(struct pack *pack, struct pack_ring *ring, struct part *part, struct writer *writer,
		      struct fail *fail)
{
	const struct trace_buffer *buffer =
		pack->base && ring->base != SIZE_MAX ? trace_buffer(pack->base, ring->base) : NULL;
	cleanup_free char *clock = pack_selected(tree_find(&ring->tree, "trace_clock"));
	const char *known = buffer && buffer->clock.text ? buffer->clock.text : "local";
	uint32_t page_size = !ring->nr_raw && buffer ? buffer->page_size : pack->page_size;
	int r = writer_buffer(writer, ring->name, clock ? clock : known, page_size, fail);

	for (size_t i = 0; !r && i < ring->nr_raw; i++)
		r = copy_raw_pages(pack, &ring->raw[i], page_size, part, writer, fail);
	if (!r && !ring->nr_raw && buffer)
		r = copy_base_pages(pack, ring, part, writer, fail);
	return r;
}

static int write_rings(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct pack *pack = arg;
	int r = 0;

	for (size_t i = 0; !r && i < pack->nr_rings; i++)
		r = write_ring(pack, &pack->rings[i], part, writer, fail);
	return r;
}

static int write_all(struct pack *pack, int fd, struct fail *fail)
{
	const struct pack_options *options = pack->options;
	const struct writer_options form = {
		.version = options->version,
		.compress = options->compress,
		.level = options->level,
		.big_endian = pack->big_endian,
		.long_size = pack->long_size,
		.page_size = pack->page_size,
	};

	return made_file_write(fd, &form, &pack->metadata, write_rings, pack, &pack->summary.size, fail);
}

static void pack_release(struct pack *pack)
{
	for (size_t i = 0; i < pack->nr_rings; i++) {
		struct pack_ring *ring = &pack->rings[i];

		for (size_t j = 0; j < ring->nr_raw; j++)
			free(ring->raw[j].name);
		free(ring->raw);
		tree_release(&ring->tree);
		free(ring->root);
		free(ring->name);
	}
	for (size_t i = 0; i < pack->nr_event_trees; i++)
		tree_release(&pack->event_trees[i]);
	for (size_t i = 0; i < pack->nr_owned; i++)
		free(pack->owned[i]);
	free(pack->event_trees);
	free(pack->owned);
	free(pack->rings);
	free(pack->formats);
	free(pack->settings);
	free(pack->cpustats);
	trace_free(pack->base);
	folder_release(&pack->folder);
}

int pack(const struct pack_options *options, int fd, struct pack_summary *ret, struct fail *fail)
{
	struct pack pack = { .options = options, .folder = FOLDER_INIT };
	int r = folder_open(options->dir, &pack.folder, fail);

	if (!r)
		r = open_base(&pack, fail);
	if (!r)
		r = find_rings(&pack, fail);
	if (!r)
		r = pack_find_pages(&pack, fail);
	if (!r)
		r = pack_gather(&pack, fail);
	if (!r)
		r = write_all(&pack, fd, fail);
	if (!r) {
		*ret = pack.summary;
		ret->buffers = pack.nr_rings;
		ret->formats = pack.metadata.nr_formats;
		ret->settings = pack.metadata.nr_settings;
		if (pack.base && trace_damage(pack.base)) {
			ret->damaged = true;
			snprintf(ret->damage, sizeof(ret->damage), "%s", trace_damage(pack.base));
		}
	}
	pack_release(&pack);
	return r;
}
