// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/pack_script.h"
#include "cmd/terminal/progress.h"
#include "lib/files/pack/pack.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/text.h"
#include "lib/pages/trace/whole_file.h"

/* weft pack: makes a trace.dat from plain copies of tracefs files and raw pages. */
enum { OPT_EVENTS = 256, OPT_FILE_VERSION, OPT_MAPS };

enum { EVENT_DIRS_MAX = 64, MAPS_MAX = 32, LEVEL_DEFAULT = 3 };

struct arguments {
	struct pack_options options;
	const char *output;
	mode_t mode;
	struct pack_learning learning;
	const char *events[EVENT_DIRS_MAX];
	struct {
		char name[32], *text;
	} maps[MAPS_MAX]; /* the values of --maps */
	size_t nr_maps;
	const char *compression;
	bool quiet, script;
};

static const struct option_row options[] = {
	{ "output", 'o', "FILE", 0, "Write to FILE (default: trace.dat); - is standard output", 1,
	  OPTION_TEXT(struct arguments, output) },
	{ "pages", 0, "FILE", 0,
	  "Take pages, and whatever DIR lacks, from the trace.dat FILE (default: DIR/trace.dat if there is one)", 1,
	  OPTION_TEXT(struct arguments, options.pages) },
	{ "kallsyms", 0, "FILE", 0, "Take the symbols from FILE, a copy of /proc/kallsyms", 1,
	  OPTION_TEXT(struct arguments, options.kallsyms) },
	{ "all-symbols", 0, NULL, 0,
	  "Save all kernel symbols even in a small file, not only those near addresses in its pages", 1,
	  OPTION_FLAG(struct arguments, learning.all_symbols) },
	{ "events", OPT_EVENTS, "DIR", 0,
	  "Take formats of events that are missing from DIR/SYSTEM/EVENT/format; repeatable", 1, OPTION_BY_KEY },
	{ "latency", 0, "FILE", 0, "Keep FILE, the text of a latency tracer's trace file, word for word", 1,
	  OPTION_TEXT(struct arguments, options.latency) },
	{ "latency-sample", 0, "FILE", 0,
	  "FILE is what trace printed with the option latency-format: learn from it what no other file tells", 1,
	  OPTION_TEXT(struct arguments, learning.sample) },
	{ "btf", 0, "FILE", 0,
	  "FILE is a copy of /sys/kernel/btf/vmlinux, or of the folder /sys/kernel/btf with the modules: keep what it "
	  "says of the functions and enumerators that are in DIR",
	  1, OPTION_TEXT(struct arguments, learning.btf) },
	{ "maps", OPT_MAPS, "PID:FILE", 0, "FILE is a copy of /proc/PID/maps, for the option sym-userobj; repeatable",
	  1, OPTION_BY_KEY },
	{ "instance", 'B', "INSTANCE", 0, "DIR describes this instance instead of the top buffer", 1,
	  OPTION_TEXT(struct arguments, options.instance) },
	{ "compression", 0, "CODEC", 0, "zstd[:LEVEL] (the default) or none", 2,
	  OPTION_TEXT(struct arguments, compression) },
	{ "file-version", OPT_FILE_VERSION, "N", 0,
	  "Version 7 of trace.dat (the default), or 6, which is never compressed", 2, OPTION_BY_KEY },
	{ "mode", 0, "MODE", 0, OUTPUT_MODE_HELP, 2, OPTION_CALL(struct arguments, mode, output_take_mode) },
	{ "script", 0, NULL, 0, "Print a shell script that makes DIR, for machines that have nothing but a shell", 2,
	  OPTION_FLAG(struct arguments, script) },
	{ "quiet", 'q', NULL, 0, "No summary", 2, OPTION_FLAG(struct arguments, quiet) },
	{ 0 },
};

static void parse_maps(struct arguments *arguments, char *arg, struct argp_state *state)
{
	char *file = strchr(arg, ':'), **text = &arguments->maps[arguments->nr_maps].text;
	struct fail fail = FAIL_INIT;
	uint64_t pid = 0;
	size_t len;

	if (!file)
		argp_error(state, "--maps: '%s' is not PID:FILE", arg);
	*file++ = '\0';
	if (text_parse_range(arg, 1, INT32_MAX, &pid, &fail))
		argp_error(state, "--maps: %s", fail.text);
	if (arguments->nr_maps == MAPS_MAX)
		argp_error(state, "more than %d --maps", MAPS_MAX);
	if (tree_read_file(file, text, &len, &fail))
		argp_failure(state, EXIT_FAILED, 0, "%s", *fail.text ? fail.text : "the file of --maps does not exist");
	snprintf(arguments->maps[arguments->nr_maps++].name, sizeof(arguments->maps->name), "proc/%d/maps", (int)pid);
}

static void parse_compression(struct arguments *arguments, struct argp_state *state)
{
	const char *text = arguments->compression;
	struct fail fail = FAIL_INIT;
	uint64_t level;

	if (!strcmp(text, "none")) {
		arguments->options.compress = false;
		return;
	}
	if (strncmp(text, "zstd", 4) || (text[4] && text[4] != ':'))
		argp_error(state, "unknown codec '%s'; use zstd[:LEVEL] or none", text);
	if (!text[4])
		return;
	if (text_parse_range(text + 5, 1, 19, &level, &fail))
		argp_error(state, "--compression: %s", fail.text);
	arguments->options.level = (int)level;
}

static void finish_arguments(struct arguments *arguments, struct argp_state *state)
{
	struct pack_options *pack = &arguments->options;

	if (arguments->script && pack->dir)
		argp_error(state, "--script and a directory cannot be combined");
	if (arguments->script)
		return;
	if (!pack->dir)
		argp_error(state, "no directory given: weft pack DIR -o FILE");
	if (arguments->compression)
		parse_compression(arguments, state);
	if (pack->version == 6 && arguments->compression && pack->compress)
		argp_error(state, "version 6 of trace.dat cannot be compressed");
	if (pack->version == 6)
		pack->compress = false;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct pack_options *pack = &arguments->options;

	switch (key) {
	case OPT_EVENTS:
		if (pack->nr_events == EVENT_DIRS_MAX)
			argp_error(state, "more than %d --events", EVENT_DIRS_MAX);
		arguments->events[pack->nr_events++] = arg;
		return 0;
	case OPT_MAPS:
		parse_maps(arguments, arg, state);
		return 0;
	case OPT_FILE_VERSION:
		if (strcmp(arg, "6") && strcmp(arg, "7"))
			argp_error(state, "unknown version '%s' of trace.dat; use 6 or 7", arg);
		pack->version = (unsigned)(*arg - '0');
		return 0;
	case ARGP_KEY_ARG:
		option_once("directory", &pack->dir, arg, state);
		return 0;
	case ARGP_KEY_END:
		finish_arguments(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "DIR\n--script",
	.doc = "Builds a trace.dat from plain copies of tracefs files."
	       "\vDIR, or DIR/meta, holds copies under the names they have in tracefs: events/header_page, "
	       "events/SYSTEM/EVENT/format, printk_formats, saved_cmdlines, trace_options and so on; instances are in "
	       "DIR/instances/NAME. Pages are copies of per_cpu/cpuN/trace_pipe_raw. Every small text is kept as it "
	       "is, for 'weft report' to print what the kernel would have.",
};

static void print_summary(const struct arguments *arguments, const struct pack_summary *summary)
{
	char pages[TEXT_HUMAN], size[TEXT_HUMAN];

	fprintf(stderr, "weft: '%s': %s of pages of %zu CPU%s, %zu formats, %zu settings in %s\n", arguments->output,
		text_size(pages, summary->pages), summary->cpus, summary->cpus == 1 ? "" : "s", summary->formats,
		summary->settings, text_size(size, summary->size));
}

/* What pack_into() needs, for destination_write(). */
struct packing {
	const struct arguments *arguments;
	struct pack_summary *summary;
};

static int pack_into(void *arg, int fd, struct fail *fail)
{
	const struct packing *packing = arg;
	const struct arguments *arguments = packing->arguments;

	return pack_file(&arguments->options, &arguments->learning, fd, packing->summary, fail);
}

static int pack_to(const struct arguments *arguments, struct pack_summary *summary, struct fail *fail)
{
	struct packing packing = { arguments, summary };
	struct destination to;
	int r = destination_open(arguments->output, &to, fail);

	if (r)
		return r;
	r = destination_write(&to, arguments->mode, false, pack_into, &packing, fail);
	destination_release(&to);
	return r;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .options = { .version = 7,
						    .compress = true,
						    .level = LEVEL_DEFAULT,
						    .weft_version = "weft " WEFT_VERSION },
				       .output = "trace.dat",
				       .mode = OUTPUT_MODE };
	struct pack_summary summary;
	struct fail fail = FAIL_INIT;
	int failed;

	command_parse(&pack_command, argc, argv, 0, &arguments);
	if (arguments.script) {
		int err = command_write(cmd_pack_script_sh, strlen(cmd_pack_script_sh), &fail);

		return err || command_flush(&fail) ? command_failed(&fail) : EXIT_OK;
	}
	arguments.options.events = arguments.events;
	for (size_t i = 0; i < arguments.nr_maps; i++)
		arguments.options.facts[arguments.options.nr_facts++] =
			(struct pack_fact){ .name = arguments.maps[i].name, .text = arguments.maps[i].text };
	if (!arguments.quiet)
		progress_prepare("pack", false);
	progress_start(arguments.options.dir ? progress_tree(arguments.options.dir) : 0);
	failed = pack_to(&arguments, &summary, &fail);
	progress_end();
	if (failed)
		return command_failed(&fail);
	if (summary.damaged)
		command_warn("%s", summary.damage);
	if (!arguments.quiet)
		print_summary(&arguments, &summary);
	return summary.damaged ? EXIT_FAILED : EXIT_OK;
}

const struct command pack_command = {
	.name = "pack",
	.summary = "build a trace.dat from plain copies of tracefs files",
	.brief = "tracefs copies",
	.examples = "  weft pack -o board.dat tracefs-copy\n"
		    "  weft pack --script > copy-tracefs.sh",
	.group = "read",
	.options = &command_options,
	.run = run,
};
