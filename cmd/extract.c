// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/extract_dump.h"
#include "cmd/options/output_options.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/progress.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/extraction.h"

/* weft extract: makes a trace.dat from what the kernel's buffers already contain. */
enum { INSTANCES_MAX = 256, OPT_DUMP = 512 };

struct arguments {
	struct output_arguments output;
	const char *instances[INSTANCES_MAX];
	size_t nr_instances;
	bool snapshot, all;
	const char *dumps[EXTRACT_DUMPS_MAX], *btf, *symbols;
	size_t nr_dumps;
	bool hash_key;
	struct reading reading; /* of the dump */
	struct elsewhere_arguments elsewhere;
};

static void add_instance(const struct option_row *row, void *input, char *name, struct argp_state *state)
{
	struct arguments *arguments = input;

	(void)row;
	for (size_t i = 0; i < arguments->nr_instances; i++)
		if (!strcmp(arguments->instances[i], name))
			argp_error(state, "instance '%s' is named twice", name);
	if (arguments->nr_instances == INSTANCES_MAX)
		argp_error(state, "more than %d instances", INSTANCES_MAX);
	arguments->instances[arguments->nr_instances++] = name;
}

static const struct option_row options[] = {
	{ "instance", 'B', "INSTANCE", 0, "Extract the buffer of INSTANCE, '' being the top one; repeatable", 1,
	  OPTION_TAKE(add_instance) },
	{ "all", 'a', NULL, 0, "Extract the top one and every instance", 1, OPTION_FLAG(struct arguments, all) },
	{ "snapshot", 's', NULL, 0, "Extract the snapshot instead of the buffer", 1,
	  OPTION_FLAG(struct arguments, snapshot) },
	{ "dump", OPT_DUMP, "FILE", 0,
	  "Extract from FILE, a dump of the memory of a machine that crashed: an ELF core or a file of makedumpfile; "
	  "- is standard input; of a split dump, name each part",
	  1, OPTION_BY_KEY },
	{ "btf", 0, "FILE", 0,
	  "With --dump: FILE is a copy of that kernel's /sys/kernel/btf/vmlinux, if its memory has no type information",
	  1, OPTION_TEXT(struct arguments, btf) },
	{ "symbols", 0, "FILE", 0,
	  "With --dump: FILE is the System.map of that kernel, a copy of its /proc/kallsyms, or its vmlinux, if its "
	  "memory lacks symbols",
	  1, OPTION_TEXT(struct arguments, symbols) },
	{ "hash-key", 0, NULL, 0,
	  "With --dump: keep the key by which that kernel hashed pointers, so that reports print them as it did. "
	  "The key also tells what other texts of that boot have hashed",
	  1, OPTION_FLAG(struct arguments, hash_key) },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_DUMP:
		if (arguments->nr_dumps == EXTRACT_DUMPS_MAX)
			argp_error(state, "more than %d files of a dump", EXTRACT_DUMPS_MAX);
		arguments->dumps[arguments->nr_dumps++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->nr_dumps &&
		    (arguments->btf || arguments->symbols || arguments->hash_key || arguments->reading.no_sandbox))
			argp_error(state, "%s goes with --dump",
				   arguments->btf      ? "--btf" :
				   arguments->symbols  ? "--symbols" :
				   arguments->hash_key ? "--hash-key" :
							 "--no-sandbox");
		if (arguments->all && arguments->nr_instances)
			argp_error(state, "--all and -B %s cannot be combined", arguments->instances[0]);
		if (arguments->nr_dumps && arguments->elsewhere.host)
			argp_error(state, "--dump reads files of this machine: --on is for buffers of another one");
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option; name the file with -o", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &output_options, offsetof(struct arguments, output), 2, NULL },
	{ &reading_options, offsetof(struct arguments, reading), 3, "With --dump:" },
	{ &elsewhere_one_options, offsetof(struct arguments, elsewhere), 4, "Other machines:" },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.children = children,
	.doc = "Makes a file of what the kernel's buffers hold, whichever tool filled them.\v"
	       "Tracing continues where it is on. Events that were extracted are consumed: "
	       "the buffer no longer holds them.",
};

static void print_summary(const struct arguments *arguments, const struct extraction *extraction)
{
	char events[TEXT_HUMAN], raw[TEXT_HUMAN], file[TEXT_HUMAN], lost[TEXT_HUMAN];

	command_warn("%s: %s event%s of %u CPU%s, %s of pages in a file of %s, %s overwritten before",
		     output_told(arguments->output.output), text_count(events, extraction->events),
		     text_plural(extraction->events), extraction->cpus, extraction->cpus == 1 ? "" : "s",
		     text_size(raw, extraction->raw), text_size(file, extraction->file_size),
		     text_count(lost, extraction->overwritten));
	if (extraction->dropped)
		command_warn("warning: %s event%s lost: the kernel dropped %s because a buffer was full and keeps the "
			     "oldest events (nooverwrite)",
			     text_count(lost, extraction->dropped), extraction->dropped == 1 ? " is" : "s are",
			     extraction->dropped == 1 ? "it" : "them");
	if (extraction->left)
		command_warn(
			"note: the worst case of the latency tracer is in the file, as the kernel's text; %s event%s "
			"that came after it stay%s in the kernel",
			text_count(lost, extraction->left), text_plural(extraction->left),
			extraction->left == 1 ? "s" : "");
	if (extraction->went_on)
		command_warn("note: tracing is on and continued meanwhile");
	if (extraction->symbols_hidden)
		command_warn("note: the kernel hides its addresses (kptr_restrict), so functions cannot be named");
}

/* `to`: the file, or "-" where another machine makes it; the messages name what the user has asked for. */
static int extract(const struct arguments *arguments, const char *to, const char *temp_dir)
{
	cleanup_buf struct buf pasted = BUF_INIT;
	struct extraction extraction;
	struct fail fail = FAIL_INIT;
	int err;

	if (!arguments->output.quiet)
		progress_prepare("extract", false);
	progress_start(0);
	err = extraction_run(&(struct extraction_options){ .instances = arguments->instances,
							   .nr_instances = arguments->nr_instances,
							   .snapshot = arguments->snapshot,
							   .all = arguments->all,
							   .output = to,
							   .temp_dir = temp_dir,
							   .mode = arguments->output.mode,
							   .version = arguments->output.version,
							   .compress = arguments->output.compress,
							   .level = arguments->output.level,
							   .texts = arguments->output.texts,
							   .all_symbols = arguments->output.all_symbols },
			     &extraction, &fail);
	progress_end();
	if (err)
		command_failed(&fail);
	else if (!arguments->output.quiet)
		print_summary(arguments, &extraction);
	if (extraction.parts)
		command_warn("the extracted data is in '%s'; 'weft recover %s -o FILE' makes a file of it, also on "
			     "another filesystem",
			     extraction.parts, paste_file(&pasted, extraction.parts));
	extraction_release(&extraction);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .nr_instances = 0 };
	const struct output_arguments *output = &arguments.output;
	int status;

	command_parse(&extract_command, argc, argv, 0, &arguments);
	if (arguments.nr_dumps)
		status = extract_dump_run(&(struct extract_dump){ .dumps = arguments.dumps,
								  .nr_dumps = arguments.nr_dumps,
								  .btf = arguments.btf,
								  .symbols = arguments.symbols,
								  .instances = arguments.instances,
								  .nr_instances = arguments.nr_instances,
								  .snapshot = arguments.snapshot,
								  .hash_key = arguments.hash_key,
								  .reading = &arguments.reading,
								  .output = &arguments.output });
	else if (arguments.elsewhere.host)
		status = elsewhere_fetch(&arguments.elsewhere, output->output, output->mode);
	else
		status = extract(&arguments, output->output, output->temp_dir);
	elsewhere_release(&arguments.elsewhere);
	return status;
}

/* No file there is read or written, but what waits to be sent. */
static int run_far(int argc, char **argv, const struct far_side *far)
{
	struct arguments arguments = { .nr_instances = 0 };
	struct fail fail = FAIL_INIT;
	int status;

	command_parse(&extract_command, argc, argv, 0, &arguments);
	if (arguments.nr_dumps) {
		fail_set(&fail, -EPERM, "no dump is read for another machine");
		status = command_failed(&fail);
	} else {
		status = extract(&arguments, "-", far->dir);
	}
	elsewhere_release(&arguments.elsewhere);
	return status;
}

const struct command extract_command = {
	.name = "extract",
	.summary = "make a file of what the kernel's buffers hold",
	.brief = "buffers to file",
	.examples = "  weft extract\n"
		    "  weft extract -s -o snapshot.dat\n"
		    "  weft extract --dump /var/crash/vmcore -o crash.dat",
	.group = "trace",
	.options = &command_options,
	.run = run,
	.run_far = run_far,
};
