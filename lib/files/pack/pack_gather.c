// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/files/pack/pack_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/header_page.h"
#include "lib/pages/trace/whole_file.h"

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

static int pack_gather_formats(struct pack *pack, struct fail *fail)
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

enum { CPU_GAP_MAX = 512 };   /* stop looking after this many missing CPUs in a row */
enum { ORDER_MAX = 1 << 30 }; /* look at this many bytes of pages at most to find the byte order */

char *pack_selected(const struct tree_file *file)
{
	struct text_word word;

	return file && text_chosen(file->text, &word) ? strndup(word.at, word.len) : NULL;
}

/* Keeps a text until the end; takes ownership even on failure. */
static int own(struct pack *pack, char *text, struct fail *fail)
{
	char **owned = text ? vec_push(pack->owned, pack->nr_owned) : NULL;

	if (!owned) {
		free(text);
		return fail_memory(fail);
	}
	*owned = text;
	return 0;
}

static int add_raw(struct pack_ring *ring, uint32_t cpu, const char *name, struct fail *fail)
{
	char *copy = strdup(name);
	struct pack_raw *raw = copy ? vec_push(ring->raw, ring->nr_raw) : NULL;

	if (!raw) {
		free(copy);
		return fail_memory(fail);
	}
	*raw = (struct pack_raw){ .cpu = cpu, .name = copy };
	return 0;
}

/* Where the pages of a CPU may be: a directory, and a name in it. */
static const struct {
	const char *dir, *behind; /* "cpuN" stands between */
} places[] = {
	{ "per_cpu", "/trace_pipe_raw" },
	{ "raw_main", ".raw" },
	{ "raw_main", "" },
};

/* The directories with pages: the ring's, and for the top buffer also the one above "meta". */
static size_t roots_of(const struct pack *pack, const struct pack_ring *ring, const char **ret)
{
	ret[0] = ring->root;
	ret[1] = "";
	return !*ring->name || pack->options->instance ? 2 : 1;
}

/* Finds a copy of one CPU's trace_pipe_raw. */
static int find_raw(struct pack *pack, struct pack_ring *ring, uint32_t cpu, struct fail *fail)
{
	const char *roots[2];
	size_t nr_roots = roots_of(pack, ring, roots);

	for (size_t i = 0; i < array_size(places) * nr_roots; i++) {
		const char *root = roots[i % nr_roots];
		cleanup_free char *name = NULL;
		cleanup_fd int fd = -1;
		mode_t type;
		int r;

		if (asprintf(&name, "%s%s%s/cpu%" PRIu32 "%s", root, *root ? "/" : "", places[i / nr_roots].dir, cpu,
			     places[i / nr_roots].behind) < 0) {
			name = NULL;
			return fail_memory(fail);
		}
		r = folder_type(&pack->folder, name, &type, fail);
		if (r)
			return r;
		if (S_ISLNK(type))
			return folder_file(&pack->folder, name, &fd, fail);
		if (type)
			return add_raw(ring, cpu, name, fail);
	}
	return 0;
}

/* Raises *ret to one more than the highest CPU that a name in this directory begins with. */
static int bound_in(struct pack *pack, const char *dir, uint32_t *ret, struct fail *fail)
{
	char **names;
	size_t count;
	int r = folder_list(&pack->folder, dir, &names, &count, fail);

	if (r)
		return r;
	for (size_t i = 0; i < count; i++) {
		unsigned cpu;

		if (sscanf(names[i], "cpu%5u", &cpu) == 1 && cpu >= *ret && cpu < TRACE_CPUS_MAX)
			*ret = cpu + 1;
	}
	folder_list_free(names, count);
	return 0;
}

static int cpu_bound(struct pack *pack, const struct pack_ring *ring, uint32_t *ret, struct fail *fail)
{
	const char *roots[2];
	size_t nr_roots = roots_of(pack, ring, roots);
	int r = 0;

	*ret = 0;
	for (size_t i = 0; !r && i < array_size(places) * nr_roots; i++) {
		const char *root = roots[i % nr_roots];
		cleanup_free char *dir = NULL;

		if (asprintf(&dir, "%s%s%s", root, *root ? "/" : "", places[i / nr_roots].dir) < 0) {
			dir = NULL;
			return fail_memory(fail);
		}
		r = bound_in(pack, dir, ret, fail);
	}
	return r;
}

int pack_find_pages(struct pack *pack, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < pack->nr_rings; i++) {
		struct pack_ring *ring = &pack->rings[i];
		uint32_t bound = 0;

		if (ring->root)
			r = cpu_bound(pack, ring, &bound, fail);
		for (uint32_t cpu = 0, missing = 0; !r && missing < CPU_GAP_MAX && cpu < bound; cpu++) {
			size_t before = ring->nr_raw;

			r = find_raw(pack, ring, cpu, fail);
			missing = ring->nr_raw > before ? 0 : missing + 1;
		}
	}
	return r;
}

/* Chooses the directory's file, or else the other trace.dat's section. */
static int choose(struct pack *pack, const char *name, enum trace_meta which, const char **ret, size_t *ret_len,
		  struct fail *fail)
{
	const struct tree_file *file = NULL;
	struct trace_text text = { .text = NULL };
	int r = 0;

	for (size_t i = 0; !file && i < pack->nr_rings; i++)
		file = tree_find(&pack->rings[i].tree, name);
	if (file)
		text = (struct trace_text){ .text = file->text, .len = file->len };
	else if (pack->base)
		r = trace_meta(pack->base, which, &text, fail);
	if (r)
		return r;
	*ret = text.text;
	if (ret_len)
		*ret_len = text.len;
	return 0;
}

static int choose_kallsyms(struct pack *pack, struct fail *fail)
{
	struct writer_metadata *metadata = &pack->metadata;
	const char *root = pack->rings[0].root ? pack->rings[0].root : "";
	cleanup_free char *name = NULL;
	char *text;
	int r;

	if (pack->options->kallsyms_text) {
		metadata->kallsyms = pack->options->kallsyms_text;
		metadata->kallsyms_len = pack->options->kallsyms_len;
		return 0;
	}
	if (pack->options->kallsyms) {
		r = tree_read_file(pack->options->kallsyms, &text, &metadata->kallsyms_len, fail);
	} else {
		if (asprintf(&name, "%s%skallsyms", root, *root ? "/" : "") < 0) {
			name = NULL;
			return fail_memory(fail);
		}
		r = folder_text(&pack->folder, name, &text, &metadata->kallsyms_len, fail);
		if (!r)
			return choose(pack, "kallsyms", TRACE_KALLSYMS, &metadata->kallsyms, &metadata->kallsyms_len,
				      fail);
	}
	if (r < 0)
		return r;
	metadata->kallsyms = text;
	return own(pack, text, fail);
}

/*
 * The byte order of the first page that shows it. False when none does; files that cannot be read are reported when
 * they are copied.
 */
static int find_order(struct pack *pack, const char *name, bool *ret_swap, struct fail *fail)
{
	const struct page_shape shape = { .size = pack->page_size, .long_size = pack->long_size, .swap = false };
	cleanup_fd int fd = -1;
	uint8_t head[16];
	ssize_t got = 0;
	int r = folder_file(&pack->folder, name, &fd, fail);

	for (off_t at = 0; r > 0 && at < ORDER_MAX && (got = pread(fd, head, sizeof(head), at)) > 0;
	     at += (off_t)pack->page_size)
		if (page_order(&shape, head, (size_t)got, ret_swap))
			return 1;
	if (r > 0 && got < 0)
		return fail_set(fail, -errno, "cannot read '%s/%s': %s", pack->folder.path, name, strerror(errno));
	return r < 0 ? r : 0;
}

/* The byte order follows from the kernel's pages or from another trace.dat; no text of the kernel has it. */
static int choose_order(struct pack *pack, struct fail *fail)
{
	bool here = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, swap = false;
	int r = 0;

	pack->big_endian = pack->base ? trace_info(pack->base)->big_endian : here;
	for (size_t i = 0; !pack->base && !r && i < pack->nr_rings; i++)
		for (size_t j = 0; !r && j < pack->rings[i].nr_raw; j++)
			r = find_order(pack, pack->rings[i].raw[j].name, &swap, fail);
	if (r > 0)
		pack->big_endian = here != swap;
	return r < 0 ? r : 0;
}

static int choose_headers(struct pack *pack, struct fail *fail)
{
	struct writer_metadata *metadata = &pack->metadata;
	uint32_t long_size, offset, size;
	int r = choose(pack, "header_page", TRACE_HEADER_PAGE, &metadata->header_page, NULL, fail);

	if (!r && !metadata->header_page)
		r = choose(pack, "events/header_page", TRACE_HEADER_PAGE, &metadata->header_page, NULL, fail);
	if (!r)
		r = choose(pack, "header_event", TRACE_HEADER_EVENT, &metadata->header_event, NULL, fail);
	if (!r && !metadata->header_event)
		r = choose(pack, "events/header_event", TRACE_HEADER_EVENT, &metadata->header_event, NULL, fail);
	if (r)
		return r;
	if (!metadata->header_page)
		return fail_set(fail, -ENOENT,
				"'%s' has no copy of events/header_page; without it the pages cannot be read",
				pack->options->dir);
	if (!metadata->header_event)
		metadata->header_event = "";
	pack->long_size = pack->base ? trace_info(pack->base)->long_size : sizeof(long);
	pack->page_size = pack->base ? trace_info(pack->base)->page_size : 4096;
	if (header_number(metadata->header_page, " commit;", "size:", &long_size) && (long_size == 4 || long_size == 8))
		pack->long_size = (uint8_t)long_size;
	if (header_number(metadata->header_page, " data;", "offset:", &offset) &&
	    header_number(metadata->header_page, " data;", "size:", &size) && offset <= TRACE_PAGE_MAX &&
	    page_size_ok(offset + size))
		pack->page_size = offset + size;
	return choose_order(pack, fail);
}

/* The text without its last newline. */
static int choose_uname(struct pack *pack, struct fail *fail)
{
	const char *text;
	size_t len;
	int r = choose(pack, "uname", TRACE_UNAME, &text, &len, fail);

	if (r || !text)
		return r;
	while (len && text[len - 1] == '\n')
		len--;
	pack->metadata.uname = strndup(text, len);
	return own(pack, (char *)(uintptr_t)pack->metadata.uname, fail);
}

static int gather_cpustats(struct pack *pack, struct fail *fail)
{
	struct writer_metadata *metadata = &pack->metadata;
	const struct tree *tree = &pack->rings[0].tree;
	struct trace_text text = { .text = NULL };
	uint32_t cpus = pack->base ? trace_info(pack->base)->cpu_count : 0;
	int r = 0;

	pack->cpustats = calloc(tree->count + 1, sizeof(*pack->cpustats));
	if (!pack->cpustats)
		return fail_memory(fail);
	for (uint32_t cpu = 0, missing = 0; !r && missing < CPU_GAP_MAX && cpu < TRACE_CPUS_MAX; cpu++) {
		const struct tree_file *file;
		char name[64], *stat;

		snprintf(name, sizeof(name), "per_cpu/cpu%" PRIu32 "/stats", cpu);
		file = tree_find(tree, name);
		missing = file ? 0 : missing + 1;
		if (!file)
			continue;
		if (asprintf(&stat, "CPU: %" PRIu32 "\n%s", cpu, file->text) < 0)
			return fail_memory(fail);
		pack->cpustats[metadata->nr_cpustats++] = stat;
		r = own(pack, stat, fail);
		if (cpu >= cpus)
			cpus = cpu + 1;
	}
	for (size_t i = 0; i < pack->nr_rings; i++)
		if (pack->rings[i].nr_raw && pack->rings[i].raw[pack->rings[i].nr_raw - 1].cpu >= cpus)
			cpus = pack->rings[i].raw[pack->rings[i].nr_raw - 1].cpu + 1;
	if (!r && !metadata->nr_cpustats && pack->base) {
		r = trace_meta(pack->base, TRACE_CPUSTAT, &text, fail);
		if (!r && text.text)
			pack->cpustats[metadata->nr_cpustats++] = text.text;
	}
	metadata->cpustats = pack->cpustats;
	metadata->cpu_count = cpus;
	return r;
}

/* Adds or replaces a setting. */
static int set_setting(struct pack *pack, uint32_t buffer, const char *name, const char *text, size_t len,
		       struct fail *fail)
{
	struct writer_metadata *metadata = &pack->metadata;
	struct writer_setting *settings = pack->settings, *added;

	for (size_t i = 0; i < metadata->nr_settings; i++)
		if (settings[i].buffer == buffer && !strcmp(settings[i].name, name)) {
			settings[i].text = text;
			settings[i].len = len;
			return 0;
		}
	if (metadata->nr_settings == PACK_SETTINGS_MAX)
		return fail_set(fail, -EFBIG, "'%s' has more than %d settings", pack->folder.path, PACK_SETTINGS_MAX);
	added = vec_push(pack->settings, metadata->nr_settings);
	if (!added)
		return fail_memory(fail);
	*added = (struct writer_setting){ .buffer = buffer, .name = name, .text = text, .len = len };
	metadata->settings = pack->settings;
	return 0;
}

/* The index in the new file of a buffer of the other trace.dat. */
static uint32_t ring_index(const struct pack *pack, size_t base)
{
	for (size_t i = 0; i < pack->nr_rings; i++)
		if (pack->rings[i].base == base)
			return (uint32_t)i;
	return 0;
}

static int gather_settings(struct pack *pack, struct fail *fail)
{
	const char *version = pack->options->weft_version;
	struct trace_text text;
	const char *name;
	size_t buffer;
	int r = 0;

	for (size_t i = 0; !r && pack->base && trace_setting_at(pack->base, i, &buffer, &name, &text); i++)
		if (strcmp(name, SETTING_LATENCY))
			r = set_setting(pack, ring_index(pack, buffer), name, text.text, text.len, fail);
	for (size_t i = 0; i < pack->nr_rings; i++) {
		const struct tree *tree = &pack->rings[i].tree;

		for (size_t j = 0; !r && j < tree->count; j++)
			if (tree->files[j].setting && strcmp(tree->files[j].name, SETTING_LATENCY))
				r = set_setting(pack, (uint32_t)i, tree->files[j].name, tree->files[j].text,
						tree->files[j].len, fail);
	}
	if (!r)
		r = set_setting(pack, 0, "weft/mode", "pack", 4, fail);
	for (size_t i = 0; !r && i < pack->options->nr_facts; i++) {
		const struct pack_fact *fact = &pack->options->facts[i];

		r = set_setting(pack, 0, fact->name, fact->text, strlen(fact->text), fail);
	}
	return r || !version ? r : set_setting(pack, 0, "weft/version", version, strlen(version), fail);
}

static int choose_latency(struct pack *pack, struct fail *fail)
{
	struct writer_metadata *metadata = &pack->metadata;
	struct trace_text text = { .text = NULL };
	char *own_text;
	int r;

	for (size_t i = 0; !pack->options->latency && i < pack->nr_rings; i++) {
		const struct tree_file *file = tree_find(&pack->rings[i].tree, SETTING_LATENCY);

		if (!file)
			continue;
		metadata->latency = file->text;
		metadata->latency_len = file->len;
		return 0;
	}
	if (!pack->options->latency) {
		r = pack->base ? trace_meta(pack->base, TRACE_LATENCY, &text, fail) : 0;
		metadata->latency = text.text;
		metadata->latency_len = text.len;
		return r;
	}
	r = tree_read_file(pack->options->latency, &own_text, &metadata->latency_len, fail);
	if (r)
		return r;
	metadata->latency = own_text;
	return own(pack, own_text, fail);
}

int pack_gather(struct pack *pack, struct fail *fail)
{
	struct writer_metadata *metadata = &pack->metadata;
	const struct tree_file *clock = tree_find(&pack->rings[0].tree, "trace_clock");
	int r = choose_headers(pack, fail);

	if (!r)
		r = pack_gather_formats(pack, fail);
	if (!r)
		r = choose_kallsyms(pack, fail);
	if (!r)
		r = choose(pack, "printk_formats", TRACE_PRINTK, &metadata->printk, &metadata->printk_len, fail);
	if (!r)
		r = choose(pack, "saved_cmdlines", TRACE_CMDLINES, &metadata->cmdlines, &metadata->cmdlines_len, fail);
	if (!r)
		r = choose_uname(pack, fail);
	if (!r)
		r = gather_cpustats(pack, fail);
	if (!r)
		r = gather_settings(pack, fail);
	if (!r)
		r = choose_latency(pack, fail);
	metadata->version = pack->options->weft_version;
	if (clock)
		metadata->clock = clock->text;
	else if (pack->base && trace_buffers(pack->base))
		metadata->clock = trace_buffer(pack->base, 0)->clock.text;
	if (pack->base) {
		const struct trace_info *info = trace_info(pack->base);

		metadata->trace_id = info->trace_id;
		metadata->ts_offset = info->ts_offset;
		metadata->has_ts_offset = metadata->ts_offset;
		metadata->has_date = info->has_date;
		metadata->date_offset_ns = info->date_offset_ns;
		metadata->has_tsc2nsec = info->has_tsc2nsec;
		metadata->tsc_mult = info->tsc_mult;
		metadata->tsc_shift = info->tsc_shift;
		metadata->tsc_offset = info->tsc_offset;
	}
	return r;
}
