// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/assembly_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/symbol_choice_internal.h"
#include "lib/kernel/record/symbol_copy_internal.h"
#include "lib/kernel/record/sync_internal.h"
#include "lib/meaning/clock/pings.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/names/functions.h"
#include "lib/meaning/names/unwind.h"
#include "lib/pages/trace/output.h"
#include "lib/pages/trace/writer.h"

/* The metadata in the form that the writer of trace.dat needs. Most strings are borrowed from the ledger. */
struct description {
	struct writer_metadata out;
	struct symbol_body kallsyms;
	struct buf functions, unwind; /* chosen ones; empty: all are kept */
	struct writer_format *formats;
	struct writer_setting *settings;
	const char **stats;
	char **systems;      /* the system names of the formats; owned copies */
	struct buf *samples; /* those of each buffer that has some, as one text */
	size_t nr_samples;
};

static void description_release(struct description *description)
{
	for (size_t i = 0; i < description->out.nr_formats; i++)
		free(description->systems[i]);
	free(description->systems);
	free(description->formats);
	free(description->settings);
	free(description->stats);
	for (size_t i = 0; i < description->nr_samples; i++)
		buf_release(&description->samples[i]);
	free(description->samples);
	buf_release(&description->kallsyms.text);
	buf_release(&description->functions);
	buf_release(&description->unwind);
}

/* Makes one setting of all items of this kind and buffer: samples, or pings. */
static int describe_samples(struct description *description, const struct ledger *ledger, enum ledger_kind kind,
			    uint32_t buffer)
{
	struct writer_metadata *out = &description->out;
	struct buf *text = vec_push(description->samples, description->nr_samples);
	const struct ledger_item *item;

	if (!text)
		return -ENOMEM;
	*text = (struct buf)BUF_INIT;
	for (size_t i = 0; (item = ledger_at(ledger, i)); i++)
		if (item->kind == kind && item->buffer == buffer && !buf_add(text, item->data, item->len))
			return -ENOMEM;
	description->settings[out->nr_settings++] =
		(struct writer_setting){ .buffer = buffer,
					 .name = kind == LEDGER_SAMPLE ? SETTING_CLOCKS : SETTING_PINGS,
					 .text = text->data,
					 .len = text->len };
	return 0;
}

static int describe_item(struct description *description, const struct ledger *ledger, const struct ledger_item *item)
{
	struct writer_metadata *out = &description->out;
	const char *slash = strchr(item->key, '/');

	if (item->kind == LEDGER_SAMPLE || item->kind == LEDGER_PING)
		return ledger_find(ledger, item->kind, item->buffer, NULL) == item ?
			       describe_samples(description, ledger, item->kind, item->buffer) :
			       0;
	/* The last of several items with the same key counts. A format is added only once. */
	if (item->kind != LEDGER_FORMAT && ledger_find(ledger, item->kind, item->buffer, item->key) != item)
		return 0;
	if (item->kind == LEDGER_FORMAT && slash) {
		char *system = strndup(item->key, (size_t)(slash - item->key));

		if (!system)
			return -ENOMEM;
		description->systems[out->nr_formats] = system;
		description->formats[out->nr_formats++] =
			(struct writer_format){ .system = system, .text = item->data, .len = item->len };
	} else if (item->kind == LEDGER_SETTING) {
		description->settings[out->nr_settings++] = (struct writer_setting){
			.buffer = item->buffer, .name = item->key, .text = item->data, .len = item->len
		};
	} else if (item->kind == LEDGER_STATS) {
		description->stats[out->nr_cpustats++] = item->data;
	}
	return 0;
}

static int describe_lists(struct description *description, const struct ledger *ledger, struct fail *fail)
{
	const struct ledger_item *item;
	size_t nr = 0;

	while (ledger_at(ledger, nr))
		nr++;
	description->formats = calloc(nr + 1, sizeof(*description->formats));
	description->systems = calloc(nr + 1, sizeof(*description->systems));
	description->settings = calloc(nr + 1, sizeof(*description->settings));
	description->stats = calloc(nr + 1, sizeof(*description->stats));
	if (!description->formats || !description->systems || !description->settings || !description->stats)
		return fail_memory(fail);
	for (size_t i = 0; (item = ledger_at(ledger, i)); i++)
		if (describe_item(description, ledger, item))
			return fail_memory(fail);
	description->out.formats = description->formats;
	description->out.settings = description->settings;
	description->out.cpustats = description->stats;
	return 0;
}

static void describe_text(const struct ledger *ledger, enum ledger_kind kind, const char **text, size_t *len)
{
	const struct ledger_item *item = ledger_find(ledger, kind, 0, NULL);

	*text = item ? item->data : NULL;
	*len = item ? item->len : 0;
}

/* Replaces the text of a setting by what of it the pages may need. */
static int choose_functions(const struct parts *parts, const char *setting, const struct assembly_piece *pieces,
			    size_t nr, struct buf *chosen, struct description *description, struct fail *fail)
{
	int err = symbol_choice_functions(parts, setting, pieces, nr, chosen, fail);

	for (size_t i = 0; !err && chosen->len && i < description->out.nr_settings; i++)
		if (!strcmp(description->settings[i].name, setting)) {
			description->settings[i].text = chosen->data;
			description->settings[i].len = chosen->len;
		}
	return err;
}

static int describe(struct description *description, const struct parts *parts, const struct assembly_piece *pieces,
		    size_t nr, struct fail *fail)
{
	const struct ledger *ledger = parts->ledger;
	struct writer_metadata *out = &description->out;
	bool chosen = false;
	int err = describe_lists(description, ledger, fail);

	if (err)
		return err;
	out->header_page = ledger_text(ledger, LEDGER_HEADER_PAGE);
	out->header_event = ledger_text(ledger, LEDGER_HEADER_EVENT);
	if (!out->header_page || !out->header_event)
		return fail_set(fail, -ENODATA, "the recording ended before it had begun");
	describe_text(ledger, LEDGER_PRINTK, &out->printk, &out->printk_len);
	describe_text(ledger, LEDGER_CMDLINES, &out->cmdlines, &out->cmdlines_len);
	describe_text(ledger, LEDGER_LATENCY, &out->latency, &out->latency_len);
	out->uname = ledger_text(ledger, LEDGER_UNAME);
	out->version = ledger_text(ledger, LEDGER_VERSION);
	out->clock = ledger_text(ledger, LEDGER_CLOCK);
	out->cpu_count = parts->file.cpu_count;
	out->trace_id = parts->file.trace_id;
	err = symbol_choice_load(parts, pieces, nr, &description->kallsyms, &chosen, fail);
	if (chosen)
		description->settings[out->nr_settings++] = (struct writer_setting){
			.name = SYMBOL_CHOICE_SETTING, .text = SYMBOL_CHOICE_SOME, .len = strlen(SYMBOL_CHOICE_SOME)
		};
	if (!err)
		err = choose_functions(parts, SETTING_FUNCTIONS, pieces, nr, &description->functions, description,
				       fail);
	if (!err)
		err = choose_functions(parts, SETTING_UNWIND, pieces, nr, &description->unwind, description, fail);
	out->kallsyms = description->kallsyms.text.data;
	out->kallsyms_len = description->kallsyms.text.len;
	out->kallsyms_frame = description->kallsyms.frame;
	out->kallsyms_frame_len = description->kallsyms.frame_len;
	out->kallsyms_size = description->kallsyms.size;
	return err;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct assembly_piece *x = a, *y = b;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

/* Used when spools are given up while the new file is unfinished: its name in the parts and its descriptor. */
struct keeping {
	const char *name;
	int fd;
	bool synced;
};

/* Gives up the spool of the piece that the writer finished last: its pages are in the new file now. */
static int give_up_part(struct parts *parts, const struct assembly_piece *piece, const struct keeping *keeping,
			uint64_t end, struct fail *fail)
{
	cleanup_free char *text = NULL;
	char key[16];
	int len, err;

	if (keeping->synced && fdatasync(keeping->fd))
		return fail_set(fail, -errno, "cannot write to the disk: %s", strerror(errno));
	snprintf(key, sizeof(key), "%u", piece->cpu);
	len = asprintf(&text, "%" PRIu64 " %" PRIu64 " %" PRIu32 " %s", end - piece->size, piece->size, piece->chunks,
		       keeping->name);
	if (len < 0) {
		text = NULL;
		return fail_memory(fail);
	}
	err = ledger_add(
		parts->ledger,
		&(struct ledger_item){
			.kind = LEDGER_MOVED, .buffer = piece->buffer, .key = key, .data = text, .len = (size_t)len },
		fail);
	/* The pages have one place on the disk at any moment: the ledger names the new one before the old one goes. */
	if (!err && keeping->synced)
		err = ledger_sync(parts->ledger, fail);
	if (!err && keeping->synced)
		err = sync_folder(parts->dir, parts->path, fail);
	if (err)
		return err;
	/* Another descriptor of the spool is open, so removing it would not free its space. Truncating it does. */
	if (ftruncate(piece->fd, 0))
		return fail_set(fail, -errno, "cannot empty a spool: %s", strerror(errno));
	return parts_remove_part(parts, piece->buffer, piece->cpu, fail);
}

/* How many of the pieces are of the first one's CPU. */
static size_t count_runs(const struct assembly_piece *pieces, size_t nr)
{
	size_t runs = 1;

	while (runs < nr && runs < ASSEMBLY_RUNS && pieces[runs].buffer == pieces->buffer &&
	       pieces[runs].cpu == pieces->cpu)
		runs++;
	return runs;
}

static int write_cpu(struct writer *writer, const struct assembly_piece *pieces, size_t nr, struct fail *fail)
{
	struct writer_run runs[ASSEMBLY_RUNS];

	for (size_t i = 0; i < nr; i++)
		runs[i] = (struct writer_run){ pieces[i].fd, pieces[i].offset, pieces[i].size, pieces[i].chunks };
	return writer_cpu(writer, pieces->cpu, runs, nr, fail);
}

static int write_buffer(struct writer *writer, struct parts *parts, uint32_t index, const struct assembly_piece *pieces,
			size_t nr, const struct keeping *keeping, struct fail *fail)
{
	const struct ledger_item *item = ledger_find(parts->ledger, LEDGER_BUFFER, index, NULL);
	uint32_t page_size = parts->file.options.page_size;
	const char *clock = "local";
	int err = item ? parts_buffer(item, &page_size, &clock, fail) : 0;

	if (!err)
		err = writer_buffer(writer, item ? item->key : "", clock, page_size, fail);
	for (size_t i = 0, runs; !err && i < nr; i += runs) {
		const struct assembly_piece *piece = &pieces[i];

		runs = count_runs(piece, nr - i);
		if (piece->buffer != index || (runs == 1 && !piece->size))
			continue;
		err = write_cpu(writer, piece, runs, fail);
		if (!err && keeping && piece->is_part)
			err = give_up_part(parts, piece, keeping, writer_size(writer), fail);
	}
	return err;
}

/* Fails if the file would lack pages: they would be lost when the parts are removed. */
static int check_known(const struct assembly_piece *pieces, size_t nr, uint32_t last, struct fail *fail)
{
	for (size_t i = 0; i < nr; i++)
		if (pieces[i].size && pieces[i].buffer > last)
			return fail_set(fail, -EBADMSG, "nothing is known of buffer %" PRIu32 ", whose pages are there",
					pieces[i].buffer);
	return 0;
}

/* Writes the whole file. With `keeping`, each spool is given up after its pages were written. */
static int write_file(int fd, struct parts *parts, struct assembly_piece *pieces, size_t nr,
		      const struct keeping *keeping, uint64_t *ret_size, struct fail *fail)
{
	struct description description = { .kallsyms = { .text = BUF_INIT } };
	struct writer *writer = NULL;
	uint32_t last = 0;
	int err = describe(&description, parts, pieces, nr, fail);

	while (ledger_find(parts->ledger, LEDGER_BUFFER, last + 1, NULL))
		last++;
	if (nr)
		qsort(pieces, nr, sizeof(*pieces), compare_pieces);
	if (!err)
		err = check_known(pieces, nr, last, fail);
	if (!err)
		err = writer_new(fd, &parts->file.options, &writer, fail);
	if (!err)
		err = writer_metadata(writer, &description.out, fail);
	for (uint32_t i = 0; !err && i <= last; i++)
		err = write_buffer(writer, parts, i, pieces, nr, keeping, fail);
	if (!err)
		err = writer_finish(writer, fail);
	if (!err)
		*ret_size = writer_size(writer);
	writer_free(writer);
	description_release(&description);
	return err;
}

static bool holds_moved(const struct parts *parts, const char *name)
{
	const struct ledger_item *item;

	for (size_t i = 0; (item = ledger_at(parts->ledger, i)); i++) {
		const char *space = item->kind == LEDGER_MOVED ? strrchr(item->data, ' ') : NULL;

		if (space && !strcmp(space + 1, name))
			return true;
	}
	return false;
}

/* The file to make: the parts, their pieces, and the destination. */
struct assembly {
	struct parts *parts;
	struct assembly_piece *pieces;
	size_t nr;
	const struct assembly_options *options;
	struct destination to;
	uint64_t size;
	int from; /* for copy_whole() */
};

static int sync_file(const struct assembly *assembly, int fd, struct fail *fail)
{
	const struct assembly_options *options = assembly->options;

	if ((options->synced && fsync(fd)) || (options->stat && fstat(fd, options->stat)))
		return fail_set(fail, -errno, "cannot write '%s' to the disk: %s", assembly->to.path, strerror(errno));
	return 0;
}

/* Writes the whole file into a destination of any kind. */
static int write_whole(void *arg, int fd, struct fail *fail)
{
	struct assembly *assembly = arg;
	int err = write_file(fd, assembly->parts, assembly->pieces, assembly->nr, NULL, &assembly->size, fail);

	return err || assembly->to.kind != DESTINATION_FILE ? err : sync_file(assembly, fd, fail);
}

/* Copies the complete file `from` of another filesystem. */
static int copy_whole(void *arg, int fd, struct fail *fail)
{
	struct assembly *assembly = arg;
	struct output output;
	int err = output_init(&output, fd, fail);

	if (!err)
		err = output_copy(&output, assembly->from, 0, assembly->size, fail);
	output_release(&output);
	return err ? err : sync_file(assembly, fd, fail);
}

static int write_there(struct assembly *assembly, int (*write)(void *arg, int fd, struct fail *fail), struct fail *fail)
{
	const struct assembly_options *options = assembly->options;

	int err = destination_write(&assembly->to, options->mode, options->keep, write, assembly, fail);

	if (err || !options->synced || assembly->to.kind != DESTINATION_FILE)
		return err;
	return sync_folder(assembly->to.dir, assembly->to.path, fail);
}

static int write_here(struct assembly *assembly, struct fail *fail)
{
	const struct assembly_options *options = assembly->options;
	struct parts *parts = assembly->parts;
	struct draft draft = { .dir = parts->dir, .fd = -1 };
	char name[PARTS_NAME];
	struct keeping keeping = { .name = name, .synced = options->synced };
	int err = parts_unfinished_new(parts, name, &draft.fd, fail);

	if (err)
		return err;
	snprintf(draft.name, sizeof(draft.name), "%s", name);
	keeping.fd = assembly->from = draft.fd;
	err = write_file(draft.fd, parts, assembly->pieces, assembly->nr, &keeping, &assembly->size, fail);
	err = fail_writing(fail, err, assembly->to.path);
	if (!err)
		err = sync_file(assembly, draft.fd, fail);
	if (!err)
		err = destination_place(&assembly->to, &draft, options->mode, options->keep, fail);
	if (!err && options->synced)
		err = sync_folder(assembly->to.dir, assembly->to.path, fail);
	if (err == -EXDEV) {
		err = write_there(assembly, copy_whole, fail);
		draft_close(&draft);
		return err;
	}
	/* The unfinished file is removed if the parts still have all of its content. */
	if (err && !ledger_load(parts->ledger, NULL) && !holds_moved(parts, name))
		draft_discard(&draft);
	draft_close(&draft);
	return err ? fail_in(fail, err, "'%s/%s'", parts->path, name) : 0;
}

static bool is_on_one_filesystem(const struct assembly *assembly)
{
	struct stat here, there;

	return !fstat(assembly->parts->dir, &here) && !fstat(assembly->to.dir, &there) && here.st_dev == there.st_dev;
}

int assembly_write(struct parts *parts, struct assembly_piece *pieces, size_t nr,
		   const struct assembly_options *options, uint64_t *ret_size, struct fail *fail)
{
	struct assembly assembly = { .parts = parts, .pieces = pieces, .nr = nr, .options = options };
	int err = ledger_load(parts->ledger, fail);

	if (!err)
		err = destination_open(options->output, &assembly.to, fail);
	if (err)
		return err;
	if (assembly.to.kind == DESTINATION_FILE && is_on_one_filesystem(&assembly))
		err = write_here(&assembly, fail);
	else
		err = write_there(&assembly, write_whole, fail);
	destination_release(&assembly.to);
	if (!err)
		*ret_size = assembly.size;
	return err;
}

int assembly_write_to(struct parts *parts, struct assembly_piece *pieces, size_t nr, int fd, uint64_t *ret_size,
		      struct fail *fail)
{
	return write_file(fd, parts, pieces, nr, NULL, ret_size, fail);
}

int assembly_describe(struct parts *parts, int fd, struct fail *fail)
{
	uint64_t size;
	int err = ledger_load(parts->ledger, fail);

	return err ? err : write_file(fd, parts, NULL, 0, NULL, &size, fail);
}
