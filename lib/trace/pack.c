// SPDX-License-Identifier: GPL-2.0-only
#include "lib/trace/pack.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/trace/pack_internal.h"
#include "lib/trace/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* The directory with the texts: dir/meta where there is one. */
static int find_root(const char *dir, char **ret, struct fail *fail)
{
	char *path;

	if (access(dir, R_OK))
		return fail_set(fail, -errno, "cannot read '%s': %s", dir, strerror(errno));
	if (asprintf(&path, "%s/meta", dir) < 0)
		return fail_memory(fail);
	if (!access(path, F_OK)) {
		*ret = path;
		return 0;
	}
	free(path);
	*ret = strdup(dir);
	return *ret ? 0 : fail_memory(fail);
}

static int open_base(struct pack *pack, struct fail *fail)
{
	const char *pages = pack->options->pages;
	cleanup_free char *path = NULL;

	if (!pages) {
		if (asprintf(&path, "%s/trace.dat", pack->options->dir) < 0)
			return fail_memory(fail);
		if (access(path, F_OK))
			return 0;
		pages = path;
	}
	return trace_open(pages, &pack->base, fail);
}

/* The buffer of that name, made when it is new. */
static struct pack_ring *get_ring(struct pack *pack, const char *name)
{
	struct pack_ring *rings;

	for (size_t i = 0; i < pack->nr_rings; i++)
		if (!strcmp(pack->rings[i].name, name))
			return &pack->rings[i];
	rings = reallocarray(pack->rings, pack->nr_rings + 1, sizeof(*rings));
	if (!rings)
		return NULL;
	pack->rings = rings;
	rings[pack->nr_rings] = (struct pack_ring){ .name = strdup(name), .base = SIZE_MAX };
	return rings[pack->nr_rings].name ? &rings[pack->nr_rings++] : NULL;
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
	return tree_read(root, &ring->tree, fail);
}

/* instances/NAME and instances/NAME.meta */
static int find_instances(struct pack *pack, struct fail *fail)
{
	cleanup_free char *path = NULL;
	size_t count;
	char **names;
	int r;

	if (asprintf(&path, "%s/instances", pack->options->dir) < 0)
		return fail_memory(fail);
	r = tree_list(path, &names, &count, fail);
	if (r)
		return r;
	for (size_t i = 0; !r && i < count; i++) {
		size_t len = strlen(names[i]);
		char *root;

		if (asprintf(&root, "%s/%s", path, names[i]) < 0) {
			r = fail_memory(fail);
			break;
		}
		if (access(root, X_OK) || (len > 4 && !strcmp(names[i] + len - 4, ".txt"))) {
			free(root);
			continue;
		}
		if (len > 5 && !strcmp(names[i] + len - 5, ".meta"))
			names[i][len - 5] = 0;
		r = describe_ring(pack, names[i], root, fail);
	}
	tree_list_free(names, count);
	return r;
}

static int find_rings(struct pack *pack, struct fail *fail)
{
	const char *instance = pack->options->instance;
	char *root;
	int r;

	/* The top buffer is always the first. */
	if (!get_ring(pack, ""))
		return fail_memory(fail);
	for (size_t i = 0; pack->base && i < trace_buffers(pack->base); i++) {
		struct pack_ring *ring = get_ring(pack, trace_buffer(pack->base, i)->name.text);

		if (!ring)
			return fail_memory(fail);
		ring->base = i;
	}
	r = find_root(pack->options->dir, &root, fail);
	if (!r)
		r = describe_ring(pack, instance ? instance : "", root, fail);
	return r ? r : find_instances(pack, fail);
}

static int copy_base_pages(struct pack *pack, const struct pack_ring *ring, struct part *part, struct fail *fail)
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
			r = part_write(part, pack->writer, buffer->cpus[i].cpu, fail);
		pack->summary.cpus++;
	}
	return r ? fail_in(fail, r, "'%s'", trace_path(pack->base)) : 0;
}

static int copy_raw_pages(struct pack *pack, const struct pack_raw *raw, uint32_t page_size, struct part *part,
			  struct fail *fail)
{
	cleanup_fd int fd = open(raw->path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", raw->path, strerror(errno));
	r = part_add_file(part, fd, page_size, fail);
	if (r)
		return fail_in(fail, r, "'%s'", raw->path);
	pack->summary.pages += part_pages_size(part);
	pack->summary.cpus++;
	return part_write(part, pack->writer, raw->cpu, fail);
}

static int write_ring(struct pack *pack, struct pack_ring *ring, struct part *part, struct fail *fail)
{
	const struct trace_buffer *buffer = pack->base && ring->base != SIZE_MAX ? trace_buffer(pack->base, ring->base) : NULL;
	cleanup_free char *clock = pack_selected(tree_find(&ring->tree, "trace_clock"));
	const char *known = buffer && buffer->clock.text ? buffer->clock.text : "local";
	uint32_t page_size = !ring->nr_raw && buffer ? buffer->page_size : pack->page_size;
	int r = writer_buffer(pack->writer, ring->name, clock ? clock : known, page_size, fail);

	for (size_t i = 0; !r && i < ring->nr_raw; i++)
		r = copy_raw_pages(pack, &ring->raw[i], page_size, part, fail);
	if (!r && !ring->nr_raw && buffer)
		r = copy_base_pages(pack, ring, part, fail);
	return r;
}

static int write_all(struct pack *pack, int fd, struct fail *fail)
{
	const struct pack_options *options = pack->options;
	const struct writer_options writer_options = {
		.version = options->version, .compress = options->compress, .level = options->level,
		.big_endian = pack->big_endian, .long_size = pack->long_size, .page_size = pack->page_size,
	};
	struct part *part = NULL;
	int r = writer_new(fd, &writer_options, &pack->writer, fail);

	if (!r)
		r = writer_metadata(pack->writer, &pack->metadata, fail);
	if (!r)
		r = part_new(&writer_options, &part, fail);
	for (size_t i = 0; !r && i < pack->nr_rings; i++)
		r = write_ring(pack, &pack->rings[i], part, fail);
	if (!r)
		r = writer_finish(pack->writer, fail);
	part_free(part);
	return r;
}

static void pack_release(struct pack *pack)
{
	for (size_t i = 0; i < pack->nr_rings; i++) {
		struct pack_ring *ring = &pack->rings[i];

		for (size_t j = 0; j < ring->nr_raw; j++)
			free(ring->raw[j].path);
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
	writer_free(pack->writer);
	trace_free(pack->base);
}

int pack(const struct pack_options *options, int fd, struct pack_summary *ret, struct fail *fail)
{
	struct pack pack = { .options = options };
	int r = open_base(&pack, fail);

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
		ret->size = writer_size(pack.writer);
		if (pack.base && trace_damage(pack.base)) {
			ret->damaged = true;
			snprintf(ret->damage, sizeof(ret->damage), "%s", trace_damage(pack.base));
		}
	}
	pack_release(&pack);
	return r;
}
