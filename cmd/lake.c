// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/choice.h"
#include "cmd/options/output_options.h"
#include "cmd/options/reading.h"
#include "cmd/sandbox_child.h"
#include "cmd/sandboxed_folder.h"
#include "formats/export/folder.h"
#include "formats/export/iceberg.h"
#include "formats/export/interval_compact.h"
#include "formats/export/interval_tables.h"
#include "lib/files/lake/lake.h"
#include "lib/ground/base/draft.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

/* weft lake: a directory in which the tables of many recordings grow. */

enum { TABLES_MAX = 32, POOL_MAX = 3, NOTHING_NEW = 4, FILES_SPARE = 64 };

/* The files of a table that are merged. */
struct inputs {
	struct lake_input *at;
	size_t nr;
};

/* How many recordings `add` took, and how many were there. */
struct added {
	size_t nr, known;
};

struct arguments {
	const char *verb, *dir;
	char **files;
	int nr_files;
	struct reading reading;
	mode_t mode;
	bool quiet;
	/* Set by run(): */
	struct lake lake;
	const char *tables[TABLES_MAX];
	struct inputs inputs[TABLES_MAX];
	struct added *added; /* shared with the reader process */
};

static const struct option_row options[] = {
	{ "mode", 0, "MODE", 0, OUTPUT_MODE_HELP, 4, OPTION_CALL(struct arguments, mode, output_take_mode) },
	{ "quiet", 'q', NULL, 0, "No summary", 4, OPTION_FLAG(struct arguments, quiet) },
	{ 0 },
};

static void take_words(struct arguments *arguments, struct argp_state *state)
{
	int nr = state->argc - state->next;
	char **words = state->argv + state->next;

	bool adds = !strcmp(words[0], "add");

	state->next = state->argc;
	if (!adds && strcmp(words[0], "compact"))
		argp_error(state, "'%s': the word is add or compact", words[0]);
	if (nr < 2 || !*words[1])
		argp_error(state, "no directory given: weft lake %s DIR", words[0]);
	arguments->verb = words[0];
	arguments->dir = words[1];
	arguments->files = words + 2;
	arguments->nr_files = nr - 2;
	if (adds && !arguments->nr_files)
		argp_error(state, "no file given: weft lake add DIR FILE...");
	if (!adds && arguments->nr_files)
		argp_error(state, "compact takes one directory");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_ARGS:
		take_words(state->input, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no word given: weft lake add DIR FILE... or weft lake compact DIR");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &reading_options, offsetof(struct arguments, reading), 4, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "add|compact DIR [FILE...]",
	.doc = "Keeps the tables of many recordings in a directory, for programs that read Parquet."
	       "\vadd: the tables of 'weft export --to intervals' of each FILE, as one file for each table. A "
	       "recording that was added before changes nothing. The tables are in DIR/current/TABLE/*.parquet.\n"
	       "compact: makes few files of many, sorted by day, host and time.",
	.children = children,
};

/* The reader process. */
struct adding {
	const struct arguments *arguments;
	struct lake lake; /* a copy: the loads of this batch are added to it */
	struct interval_tables *tables;
	struct pool *pool;
	struct buf loads; /* the lines of the new ones */
	struct buf files; /* of the new files */
	char leaf[2 * LAKE_NAME];
	int fd;
	size_t added, known, failed;
};

static int write_pieces(void *arg, struct out *folder, struct fail *fail)
{
	const struct adding *adding = arg;
	int r = io_write(adding->fd, folder->start, out_len(folder));

	return r ? fail_set(fail, r, FAIL_WRITE "%s", strerror(-r)) : 0;
}

static int note_load(struct adding *adding, const struct lake_load *load, struct fail *fail)
{
	struct lake_load *added = vec_push(adding->lake.loaded, adding->lake.nr_loaded);

	if (!added || !lake_load_put(load, &adding->loads))
		return fail_memory(fail);
	*added = *load;
	return 0;
}

/* What a lake keeps of it, to know it again. */
static struct lake_load load_of(const struct interval_load *load)
{
	return (struct lake_load){ load->recording, load->instance, load->first, load->last, load->events, load->gaps };
}

/* 1: all of it is new, and noted; 0: all was added before. */
static int judge(struct adding *adding, const struct interval_load *loads, size_t nr, struct fail *fail)
{
	size_t same = 0;
	int r = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct lake_load load = load_of(&loads[i]);
		enum lake_known known = lake_knows(&adding->lake, &load);

		same += known == LAKE_SAME;
		if (known == LAKE_OVERLAPS)
			return fail_set(
				fail, -EEXIST,
				"events of this time of the recording were added before, and would count twice");
	}
	if (same == nr)
		return nr ? 0 : fail_set(fail, -ENODATA, "it has no events");
	if (same)
		return fail_set(fail, -EEXIST, "a part of it was added before, and would count twice");
	for (size_t i = 0; !r && i < nr; i++) {
		const struct lake_load load = load_of(&loads[i]);

		r = note_load(adding, &load, fail);
	}
	return r ? r : 1;
}

/* Whether all was read, and known of it what the file tells. */
static int check(struct trace *trace, const struct reader *reader, struct fail *fail)
{
	const char *path, *damage = reader_damage(reader, &path);

	damage = damage ? damage : trace_damage(trace);
	if (trace_starved(trace))
		return fail_memory(fail);
	return damage ? fail_set(fail, -EBADMSG, "it is damaged: %s", damage) : 0;
}

static int start_reader(const struct adding *adding, struct reader *reader, struct fail *fail)
{
	return reader_start(reader, &(struct reader_options){ .pool = adding->pool, .tells_ends = true }, fail);
}

/* Reads all events once, before any row is made of them: a damaged file and one that is there add nothing. */
static int look(struct adding *adding, struct trace *trace, const struct reader *all, struct fail *fail)
{
	struct interval_load *loads = NULL;
	struct reader reader;
	size_t nr = 0;
	int r;

	reader_init(&reader);
	r = reader_share(&reader, all, 0, UINT64_MAX, fail);
	if (!r)
		r = start_reader(adding, &reader, fail);
	if (!r)
		r = interval_loads(&reader, &loads, &nr, fail);
	if (!r)
		r = check(trace, &reader, fail);
	if (!r)
		r = judge(adding, loads, nr, fail);
	free(loads);
	reader_release(&reader);
	return r;
}

/* 1: it was added; 0: it was there. */
static int add_trace(struct adding *adding, struct trace *trace, const char *file, struct fail *fail)
{
	const struct query query = QUERY_INIT;
	struct reader reader;
	int r;

	reader_init(&reader);
	r = choice_buffers(&query, NULL, QUERY_GIVES_CHOSEN, trace, &reader, fail);
	if (!r)
		r = look(adding, trace, &reader, fail);
	if (r > 0) {
		r = start_reader(adding, &reader, fail);
		if (!r)
			r = interval_tables_add(adding->tables, &reader, file, fail);
		if (!r)
			r = check(trace, &reader, fail);
		/* Rows of it may have been written. */
		r = r ? fail_in(fail, -ECANCELED, "nothing is added") : 1;
	}
	reader_release(&reader);
	return r;
}

static int add_file(struct adding *adding, struct trace *trace, const char *file, struct fail *fail)
{
	struct reading reading = adding->arguments->reading;
	int r;

	/* The rights were given up before the first. */
	reading.no_sandbox = true;
	r = reading_load_all(&trace, 1, &reading, fail);
	if (!r)
		r = add_trace(adding, trace, file, fail);
	adding->added += r > 0;
	adding->known += !r;
	return r;
}

static void tell(const struct arguments *arguments)
{
	const struct added *added = arguments->added;

	if (arguments->quiet)
		return;
	command_warn("%s: %s recording%s added, %s %s there before", arguments->dir,
		     text_count((char[TEXT_HUMAN]){ 0 }, added->nr), text_plural(added->nr),
		     text_count((char[TEXT_HUMAN]){ 0 }, added->known), added->known == 1 ? "was" : "were");
}

static int finish(struct adding *adding, struct fail *fail)
{
	struct out last;
	int r = interval_tables_end(adding->tables, fail);

	if (r || !out_init(&last, 1 << 12))
		return r ? r : fail_memory(fail);
	folder_piece(&last, LAKE_LOADS, adding->loads.len);
	out_mem(&last, adding->loads.data, adding->loads.len);
	folder_piece(&last, LAKE_FILES, adding->files.len);
	out_mem(&last, adding->files.data, adding->files.len);
	r = last.failed ? fail_memory(fail) : write_pieces(adding, &last, fail);
	out_release(&last);
	return r;
}

/* Says of which file it is, unless the message does. */
static void tell_failed(const char *file, const struct fail *why)
{
	size_t len = strlen(file);

	if (*why->text == '\'' && !strncmp(why->text + 1, file, len) && why->text[len + 1] == '\'')
		command_warn("%s", why->text);
	else
		command_warn("'%s': %s", file, why->text);
}

static int add_all(struct adding *adding, struct trace **traces, struct fail *fail)
{
	const struct arguments *arguments = adding->arguments;

	for (int i = 0; i < arguments->nr_files; i++) {
		struct fail why = FAIL_INIT;
		int r = add_file(adding, traces[i], arguments->files[i], &why);

		trace_free(traces[i]);
		traces[i] = NULL;
		if (r == -ECANCELED)
			return fail_set(fail, r, "'%s': %s", arguments->files[i], why.text);
		adding->failed += r < 0;
		if (r < 0)
			tell_failed(arguments->files[i], &why);
	}
	return adding->added ? finish(adding, fail) : 0;
}

static int start(struct adding *adding, struct fail *fail)
{
	struct interval_tables_options wanted = { .leaf = adding->leaf, .write = write_pieces, .arg = adding };
	unsigned threads = reading_threads();
	int r = 0;

	snprintf(adding->leaf, sizeof(adding->leaf), "%" PRIu64 ".parquet", adding->lake.number + 1);
	if (threads > 1)
		r = pool_new(threads > POOL_MAX ? POOL_MAX : threads - 1, &adding->pool, fail);
	wanted.pool = adding->pool;
	wanted.files = &adding->files;
	return r ? r : interval_tables_new(&wanted, &adding->tables, fail);
}

static void allow_files(struct rlimit *limit)
{
	if (getrlimit(RLIMIT_NOFILE, limit)) {
		*limit = (struct rlimit){ .rlim_cur = FILES_SPARE };
		return;
	}
	limit->rlim_cur = limit->rlim_max;
	(void)!setrlimit(RLIMIT_NOFILE, limit);
}

/* Nothing can be opened later, so all files are open before the first is read. */
static int open_all(const struct arguments *arguments, struct trace **traces, struct fail *fail)
{
	struct rlimit limit;
	int r = 0;

	allow_files(&limit);
	for (int i = 0; !r && i < arguments->nr_files; i++)
		r = trace_new(arguments->files[i], &traces[i], fail);
	if (r == -EMFILE)
		fail_hint(fail, r, "add fewer files at once");
	return r || arguments->reading.no_sandbox ? r : trace_sandbox(traces[0], fail);
}

static int add(const void *arg, int fd)
{
	const struct arguments *arguments = arg;
	struct adding adding = {
		.arguments = arguments, .lake = arguments->lake, .loads = BUF_INIT, .files = BUF_INIT, .fd = fd
	};
	cleanup_free struct trace **traces = calloc((size_t)arguments->nr_files, sizeof(*traces));
	struct fail fail = FAIL_INIT;
	int r;

	/* The lock is the other process's, also if that is killed. */
	close(arguments->lake.dir);
	r = traces ? open_all(arguments, traces, &fail) : fail_memory(&fail);
	if (!r)
		r = start(&adding, &fail);
	if (!r)
		r = add_all(&adding, traces, &fail);
	*arguments->added = (struct added){ adding.added, adding.known };
	/* What is added is told when the lake has it. */
	if (!r && !adding.added)
		tell(arguments);
	interval_tables_free(adding.tables);
	pool_free(adding.pool);
	for (int i = 0; traces && i < arguments->nr_files; i++)
		trace_free(traces[i]);
	buf_release(&adding.loads);
	buf_release(&adding.files);
	if (r)
		return command_failed(&fail);
	if (!adding.added)
		return adding.failed ? EXIT_FAILED : NOTHING_NEW;
	return adding.failed ? EXIT_DAMAGED : EXIT_OK;
}

/* The next state, which other programs open as tables of Iceberg, too. */
struct describing {
	const struct arguments *arguments;
	const char *lake, *state;
	int64_t now_ms;
	int metadata;
};

/* A file that was merged has no place in the next state. */
static bool is_kept(void *arg, const char *table, const char *leaf)
{
	const struct arguments *arguments = ((const struct describing *)arg)->arguments;

	for (size_t i = 0; arguments->tables[i]; i++)
		for (size_t k = 0; !strcmp(arguments->tables[i], table) && k < arguments->inputs[i].nr; k++)
			if (!strcmp(arguments->inputs[i].at[k].name, leaf))
				return false;
	return true;
}

static int put_metadata(void *arg, const char *name, const void *bytes, size_t len, struct fail *fail)
{
	const struct describing *describing = arg;
	cleanup_fd int fd =
		openat(describing->metadata, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : fchmod(fd, describing->arguments->mode) ? -errno : io_write(fd, bytes, len);

	return r ? fail_set(fail, r, "cannot write '%s': %s", describing->arguments->dir, strerror(-r)) : 0;
}

static int describe(void *arg, const char *table, const struct lake_file *files, size_t nr, int metadata,
		    struct fail *fail)
{
	struct describing *describing = arg;
	cleanup_free struct iceberg_file *has = calloc(nr + 1, sizeof(*has));
	cleanup_free char *location = NULL;
	struct iceberg iceberg = {
		.table = table,
		.version = describing->arguments->lake.number + 1,
		.now_ms = describing->now_ms,
		.files = has,
		.nr = nr,
		.put = put_metadata,
		.arg = describing,
	};

	if (!has || asprintf(&location, "file://%s/%s/%s", describing->lake, describing->state, table) < 0)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		has[i] = (struct iceberg_file){ files[i].leaf, files[i].rows, files[i].size };
	describing->metadata = metadata;
	iceberg.location = location;
	return iceberg_describe(&iceberg, fail);
}

static int complete(const void *arg, int folder, struct fail *fail)
{
	const struct arguments *arguments = arg;

	struct fail ignored = FAIL_INIT;
	cleanup_free char *path = realpath(arguments->dir, NULL), *state = NULL;
	struct describing describing = { .arguments = arguments };
	char name[LAKE_NAME];
	struct timespec now;

	if (!path || lake_next(&arguments->lake, name, &state, &ignored))
		return fail_set(fail, -errno, "cannot read '%s': %s", arguments->dir, strerror(errno));
	clock_gettime(CLOCK_REALTIME, &now);
	describing.lake = path;
	describing.state = name;
	describing.now_ms = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
	return lake_complete(&arguments->lake, folder, arguments->tables,
			     &(struct lake_completion){ is_kept, describe, &describing }, fail);
}

/* Makes the next state of the lake, and then the one that readers see. */
static int change(struct arguments *arguments, int (*work)(const void *arg, int fd), struct fail *fail)
{
	struct sandboxed_folder wanted = {
		.input = arguments->dir, .mode = arguments->mode, .work = work, .arg = arguments, .complete = complete
	};
	cleanup_free char *path = NULL;
	char state[LAKE_NAME];
	int status;

	if (lake_next(&arguments->lake, state, &path, fail))
		return command_failed(fail);
	wanted.path = path;
	status = sandboxed_folder(&wanted);
	if (status == NOTHING_NEW)
		return EXIT_OK;
	if (status != EXIT_OK && status != EXIT_DAMAGED)
		return status;
	if (lake_switch(&arguments->lake, fail))
		return command_failed(fail);
	if (arguments->added->nr)
		tell(arguments);
	return status == EXIT_OK ? EXIT_OK : EXIT_FAILED;
}

/* The reader process that merges. */
struct compacting {
	struct pool *pool;
	int fd, temporaries[2];
	char stem[LAKE_NAME];
	struct buf files; /* the lines of the new ones */
};

static int write_merged(void *arg, struct out *folder, struct fail *fail)
{
	const struct compacting *compacting = arg;
	int r = io_write(compacting->fd, folder->start, out_len(folder));

	return r ? fail_set(fail, r, FAIL_WRITE "%s", strerror(-r)) : 0;
}

static int compact_table(struct compacting *compacting, const char *table, const struct inputs *inputs,
			 struct fail *fail)
{
	struct interval_compaction wanted = {
		.table = table,
		.nr_inputs = inputs->nr,
		.stem = compacting->stem,
		.temporaries = { compacting->temporaries[0], compacting->temporaries[1] },
		.files = &compacting->files,
		.pool = compacting->pool,
		.write = write_merged,
		.arg = compacting,
	};
	cleanup_free int *fds = calloc(inputs->nr, sizeof(*fds));
	cleanup_free const char **names = calloc(inputs->nr, sizeof(*names));

	if (!fds || !names)
		return fail_memory(fail);
	for (size_t i = 0; i < inputs->nr; i++) {
		fds[i] = inputs->at[i].fd;
		names[i] = inputs->at[i].name;
	}
	wanted.inputs = fds;
	wanted.names = names;
	return interval_compact(&wanted, fail);
}

static int seal(const struct arguments *arguments, struct compacting *compacting, struct fail *fail)
{
	cleanup_free char *path = NULL;
	char state[LAKE_NAME];
	struct stat st;
	int r = lake_next(&arguments->lake, state, &path, fail);

	memcpy(compacting->stem, state, sizeof(state));
	for (size_t i = 0; !r && i < array_size(compacting->temporaries); i++) {
		r = draft_nameless(arguments->dir, &compacting->temporaries[i]);
		if (r)
			fail_set(fail, r, "cannot make a temporary file in '%s': %s", arguments->dir, strerror(-r));
	}
	if (!r && fstat(arguments->lake.dir, &st))
		r = fail_set(fail, -errno, "cannot read '%s': %s", arguments->dir, strerror(errno));
	close(arguments->lake.dir);
	return r || arguments->reading.no_sandbox ? r : sandbox_enter(st.st_uid, st.st_gid, fail);
}

static int compact(const void *arg, int fd)
{
	const struct arguments *arguments = arg;
	struct compacting compacting = { .fd = fd, .temporaries = { -1, -1 }, .files = BUF_INIT };
	struct out last;
	unsigned threads = reading_threads();
	struct fail fail = FAIL_INIT;
	int r = seal(arguments, &compacting, &fail);

	if (!r && threads > 1)
		r = pool_new(1, &compacting.pool, &fail);
	for (size_t i = 0; !r && arguments->tables[i]; i++)
		if (arguments->inputs[i].nr)
			r = compact_table(&compacting, arguments->tables[i], &arguments->inputs[i], &fail);
	if (!r && !out_init(&last, 1 << 12)) {
		r = fail_memory(&fail);
	} else if (!r) {
		folder_piece(&last, LAKE_FILES, compacting.files.len);
		out_mem(&last, compacting.files.data, compacting.files.len);
		r = last.failed ? fail_memory(&fail) : write_merged(&compacting, &last, &fail);
		out_release(&last);
	}
	buf_release(&compacting.files);
	pool_free(compacting.pool);
	return r ? command_failed(&fail) : EXIT_OK;
}

/* *ret: how many files are merged; 0: there is nothing to do. *ret_more: more than can be open at once. */
static int choose(struct arguments *arguments, size_t *ret, bool *ret_more, struct fail *fail)
{
	struct rlimit limit;
	size_t tables = 0, max;
	int r = 0;

	*ret = 0;
	allow_files(&limit);
	while (arguments->tables[tables])
		tables++;
	max = limit.rlim_cur > FILES_SPARE + 2 * tables ? (size_t)(limit.rlim_cur - FILES_SPARE) / tables : 2;
	for (size_t i = 0; !r && i < tables; i++) {
		struct inputs *inputs = &arguments->inputs[i];

		r = lake_inputs(&arguments->lake, arguments->tables[i],
				&(struct lake_choice){ INTERVAL_FILE_MIN, INTERVAL_FILE_FULL, max, interval_file_day },
				&inputs->at, &inputs->nr, fail);
		*ret += inputs->nr;
		*ret_more |= inputs->nr >= max;
	}
	return r;
}

static void forget_inputs(struct arguments *arguments)
{
	for (size_t i = 0; i < TABLES_MAX; i++) {
		lake_inputs_free(arguments->inputs[i].at, arguments->inputs[i].nr);
		arguments->inputs[i] = (struct inputs){ .nr = 0 };
	}
}

static int compact_once(struct arguments *arguments, bool *ret_more, struct fail *fail)
{
	size_t nr = 0;
	int status;

	if (!arguments->lake.number)
		return EXIT_OK;
	status = choose(arguments, &nr, ret_more, fail) ? command_failed(fail) :
		 nr                                     ? change(arguments, compact, fail) :
							  EXIT_OK;
	if (status == EXIT_OK && nr && !arguments->quiet)
		command_warn("%s: %zu files merged", arguments->dir, nr);
	forget_inputs(arguments);
	return status;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .mode = OUTPUT_MODE, .lake = LAKE_INIT };
	struct fail fail = FAIL_INIT;
	bool adds, more;
	int status;

	command_parse(&lake_command, argc, argv, 0, &arguments);
	for (size_t i = 0; interval_tables_name(i) && i < TABLES_MAX - 1; i++)
		arguments.tables[i] = interval_tables_name(i);
	adds = !strcmp(arguments.verb, "add");
	arguments.added = sandbox_child_share(sizeof(*arguments.added));
	if (!arguments.added)
		return EXIT_FAILED;
	do {
		if (lake_open(arguments.dir, adds, arguments.tables, &arguments.lake, &fail))
			return command_failed(&fail);
		more = false;
		status = adds ? change(&arguments, add, &fail) : compact_once(&arguments, &more, &fail);
		lake_release(&arguments.lake);
	} while (status == EXIT_OK && more);
	return status;
}

const struct command lake_command = {
	.name = "lake",
	.summary = "keep the tables of many recordings in a directory",
	.brief = "many recordings",
	.examples = "  weft lake add fleet web*.dat\n"
		    "  weft lake compact fleet",
	.group = "read",
	.options = &command_options,
	.run = run,
};
