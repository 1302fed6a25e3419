// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/pack/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/files/pack/folder_internal.h"
#include "lib/files/pack/pack_internal.h"
#include "lib/files/pack/tree_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/latency_facts.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/reader/reader.h"
#include "lib/memory/image/types.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/whole_file.h"

#define BTF_OF_KERNEL "vmlinux"

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

/* The names of functions that one buffer needs. */
struct taking {
	struct reader reader;
	struct names *functions;
	int err;
	struct fail *fail;
};

/*
 * Adds the functions whose entries have arguments: entries of function and funcgraph_entry that are longer than their
 * format.
 */
static void take_function(void *arg, const struct event *event)
{
	struct taking *taking = arg;
	const struct context *context = taking->reader.buffers[0].context;
	const struct format *format = event->kind == EVENT_RECORD && event->type ? event->type->format : NULL;
	const struct field *func, *args;
	struct symbol symbol;

	if (!format || strcmp(format->system, "ftrace"))
		return;
	func = format_field(format, "func");
	if (!func)
		func = format_field(format, "ip");
	args = format_field(format, "args");
	if (!func || !args || event->len <= args->offset)
		return;
	if (!symbols_find(context->symbols, field_int(func, &context->abi, event->data, event->len), &symbol))
		return;
	taking->err = names_add(taking->functions, symbol.name, symbol.name_len, taking->fail);
	if (taking->err)
		reader_stop(&taking->reader);
}

static int take_functions(struct trace *trace, size_t buffer, struct names *functions, struct fail *fail)
{
	struct taking taking = { .functions = functions, .fail = fail };

	reader_init(&taking.reader);
	taking.err = reader_add(&taking.reader, trace, buffer, fail);
	/* A damaged file contributes what was read before the damage. */
	if (!taking.err && !reader_start(&taking.reader, &(struct reader_options){ .pool = NULL }, NULL))
		(void)!reader_run(&taking.reader, &(struct reader_consumer){ .see = take_function, .arg = &taking }, 1,
				  NULL);
	reader_release(&taking.reader);
	return taking.err;
}

static int take_names(struct trace *trace, struct names *functions, struct names *enumerators, struct fail *fail)
{
	size_t nr, nr_formats;
	const struct trace_format *formats = trace_formats(trace, &nr_formats);
	int r = 0;

	nr = trace_buffers(trace);
	for (size_t i = 0; !r && i < nr; i++)
		r = take_functions(trace, i, functions, fail);
	for (size_t i = 0; !r && i < nr_formats; i++)
		r = names_add_format(enumerators, formats[i].text.text, formats[i].text.len, fail);
	return r;
}

/* Reads a file that a user has named, and opens the trace.dat of the descriptor. */
static int open_beside(int fd, const char *path, char **ret, size_t *ret_len, struct trace **ret_trace,
		       struct fail *fail)
{
	int r = tree_read_file(path, ret, ret_len, fail);

	if (r)
		return r == -ENOENT ? fail_set(fail, r, "there is no file '%s'", path) : r;
	return trace_open_fd(fd, "the new file", ret_trace, fail);
}

/* A folder of copies that has, beside the kernel's, what modules say. */
struct btf_copies {
	struct folder folder;
	char **names;
	size_t nr, at;
};

static bool next_copy(void *arg, struct buf *buf)
{
	struct btf_copies *copies = arg;

	while (copies->at < copies->nr) {
		const char *name = copies->names[copies->at++];
		cleanup_free char *data = NULL;
		size_t len;

		buf_clear(buf);
		if (strcmp(name, BTF_OF_KERNEL) && folder_text(&copies->folder, name, &data, &len, NULL) == 1)
			return buf_add(buf, data, len);
	}
	return false;
}

/* `path` is a copy of what the kernel says of types, or a folder of copies. */
static int open_types(int fd, const char *path, struct btf_copies *copies, char **ret, size_t *ret_len,
		      struct trace **ret_trace, struct fail *fail)
{
	cleanup_free char *kernel = NULL;
	int r;

	if (folder_open(path, &copies->folder, NULL))
		return open_beside(fd, path, ret, ret_len, ret_trace, fail);
	if (asprintf(&kernel, "%s/" BTF_OF_KERNEL, path) < 0) {
		kernel = NULL;
		return fail_memory(fail);
	}
	r = folder_list(&copies->folder, "", &copies->names, &copies->nr, fail);
	return r ? r : open_beside(fd, kernel, ret, ret_len, ret_trace, fail);
}

/*
 * What packing keeps of a kernel's type information: for the trace.dat of this descriptor, the parameters of
 * the functions whose arguments were recorded, and the enumerators that the formats name. Adds lines of "weft/types" to
 * the buf.
 */
static int pack_types_read(int fd, const char *path, struct buf *ret, struct fail *fail)
{
	struct names *functions = NULL, *enumerators = NULL;
	cleanup_free char *btf = NULL;
	struct trace *trace = NULL;
	struct btf_copies copies = { .folder = FOLDER_INIT };
	size_t len;
	int r = open_types(fd, path, &copies, &btf, &len, &trace, fail);

	if (!r)
		r = names_new(&functions, fail);
	if (!r)
		r = names_new(&enumerators, fail);
	if (!r)
		r = take_names(trace, functions, enumerators, fail);
	if (!r) {
		r = types_lines(btf, len, &(struct types_modules){ next_copy, &copies }, functions, enumerators, ret,
				fail);
		if (r)
			r = fail_in(fail, r, "'%s'", path);
	}
	folder_list_free(copies.names, copies.nr);
	folder_release(&copies.folder);
	trace_free(trace);
	names_free(functions);
	names_free(enumerators);
	return r;
}

enum { PACK_HEAD_MAX = 4096 };

/* What packing learns from a text with the option latency-format: see lib/meaning/event/latency_facts.h. */
struct pack_sample {
	struct latency_facts facts;
	char time_start[24], buffer_cpu[12]; /* as text */
	char head[PACK_HEAD_MAX];            /* the head of the text; "": it is too long */
};

static int read_beside(struct trace *trace, const char *text, size_t len, struct pack_sample *sample, struct fail *fail)
{
	struct context *context = NULL;
	int r = context_new(trace, 0, &context, fail);

	if (!r)
		r = latency_facts_read(context, text, len, &sample->facts, fail);
	context_free(context);
	return r;
}

static void copy_head(struct pack_sample *sample, const char *text, size_t len)
{
	const char *at = text;
	struct text_word line;
	size_t head = 0;

	while (text_next_line(&at, &len, &line) && line.len && *line.at == '#')
		head = (size_t)(at - text);
	if (head >= sizeof(sample->head))
		head = 0;
	memcpy(sample->head, text, head);
	sample->head[head] = '\0';
}

/* Reads the text together with the trace.dat of this descriptor. */
static int pack_sample_read(int fd, const char *path, struct pack_sample *ret, struct fail *fail)
{
	cleanup_free char *text = NULL;
	struct trace *trace = NULL;
	size_t len;
	int r = open_beside(fd, path, &text, &len, &trace, fail);

	if (!r)
		r = read_beside(trace, text, len, ret, fail);
	trace_free(trace);
	if (r)
		return r;
	if (strncmp(text, "# tracer: ", 10) || (ret->facts.lines && !ret->facts.time_start_known))
		return fail_set(fail, -EINVAL, "'%s' is not a text of these events with the option latency-format",
				path);
	copy_head(ret, text, len);
	snprintf(ret->time_start, sizeof(ret->time_start), "%" PRIu64, ret->facts.time_start);
	snprintf(ret->buffer_cpu, sizeof(ret->buffer_cpu), "%u", ret->facts.head.cpu);
	return 0;
}

static void add(struct pack_options *options, const char *name, const char *text)
{
	if (options->nr_facts < PACK_FACTS_MAX)
		options->facts[options->nr_facts++] = (struct pack_fact){ .name = name, .text = text };
}

/* Adds the facts to the options, which borrow the sample. */
static void pack_sample_facts(const struct pack_sample *sample, struct pack_options *options)
{
	const struct latency_facts *facts = &sample->facts;

	if (facts->head.preempt_model[0])
		add(options, "weft/preempt_model", facts->head.preempt_model);
	if (facts->head.cpu_known)
		add(options, "weft/buffer_cpu", sample->buffer_cpu);
	if (sample->head[0])
		add(options, "weft/latency_head", sample->head);
	if (facts->time_start_known)
		add(options, "weft/time_start", sample->time_start);
}

enum { PAGES_MAX = 16 << 20 }; /* of a file with more, all symbols are kept */

static void add_fact(struct pack_options *options, const char *name, const char *text)
{
	if (options->nr_facts < PACK_FACTS_MAX)
		options->facts[options->nr_facts++] = (struct pack_fact){ .name = name, .text = text };
}

/* Returns whether the file packed into `fd` can be read back. */
static bool is_readable(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND)) == O_RDWR;
}

/*
 * Chooses the symbols to which a packed file can refer, among those that it has. The result is empty if all symbols
 * should stay: they are small compared to the pages, or the file cannot be read back.
 */
static int choose_symbols(int fd, struct buf *ret, struct fail *fail)
{
	struct trace *trace = NULL;
	int r = trace_open_fd(fd, "the new file", &trace, fail);

	if (!r)
		r = symbol_subset_of_trace(trace, PAGES_MAX, ret, fail);
	trace_free(trace);
	return r == -ENOMEM ? r : 0;
}

/*
 * The packed pages determine which symbols are needed. So the file is packed once with all symbols, read back, and
 * packed again with the needed ones.
 */
static int pack_chosen(struct pack_options *options, int fd, struct pack_summary *summary, struct fail *fail)
{
	cleanup_buf struct buf symbols = BUF_INIT;
	cleanup_fd int trial = -1;
	bool readable = is_readable(fd);
	int r = readable ? 0 : input_temporary(&trial, fail);

	if (!r)
		r = pack(options, readable ? fd : trial, summary, fail);
	if (!r)
		r = choose_symbols(readable ? fd : trial, &symbols, fail);
	if (r || (readable && !symbols.len))
		return r;
	if (symbols.len) {
		options->kallsyms_text = symbols.data;
		options->kallsyms_len = symbols.len;
		add_fact(options, "weft/symbols", "chosen");
	}
	if (readable && (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0))
		return fail_set(fail, -errno, "cannot write the new file again: %s", strerror(errno));
	return pack(options, fd, summary, fail);
}

/* Learns from a first packing in memory. The options borrow what was learned. */
static int learn(const struct pack_learning *from, struct pack_options *options, struct pack_sample *sample,
		 struct buf *types, struct pack_summary *summary, struct fail *fail)
{
	cleanup_fd int trial = memfd_create("weft-pack", MFD_CLOEXEC);
	int r;

	if (trial < 0)
		return fail_set(fail, -errno, "cannot create a file in memory: %s", strerror(errno));
	r = pack(options, trial, summary, fail);
	if (!r && from->sample)
		r = pack_sample_read(trial, from->sample, sample, fail);
	if (!r && from->sample)
		pack_sample_facts(sample, options);
	if (!r && from->btf)
		r = pack_types_read(trial, from->btf, types, fail);
	if (!r && types->len)
		add_fact(options, "weft/types", buf_str(types));
	return r;
}

int pack_file(const struct pack_options *options, const struct pack_learning *learning, int fd,
	      struct pack_summary *ret, struct fail *fail)
{
	struct pack_options all = *options;
	cleanup_buf struct buf types = BUF_INIT;
	struct pack_sample sample = { .head = "" };
	int r = 0;

	if (learning->sample || learning->btf)
		r = learn(learning, &all, &sample, &types, ret, fail);
	if (r)
		return r;
	return learning->all_symbols ? pack(&all, fd, ret, fail) : pack_chosen(&all, fd, ret, fail);
}
