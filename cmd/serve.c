// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/options/option_rows.h"
#include "cmd/terminal/config.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/remote/serving.h"

enum { ROOM_MIN = 1 << 20, SPOOL = 64 << 20 };

struct serve_arguments {
	struct far_recording far;
	uint64_t spool;
};

static const struct option_row table[] = {
	{ "allow-command", 0, NULL, 0, "Also run the COMMAND of a recording", 0,
	  OPTION_FLAG(struct serve_arguments, far.allow_command) },
	{ "spool", 0, "SIZE", 0,
	  "Hold at most about SIZE of all CPUs' recorded data while the other side takes less than is recorded "
	  "(default 64M)",
	  0, OPTION_SIZE(struct serve_arguments, spool) },
	{ "temp-dir", 0, "DIR", 0, "Hold it in DIR (default /dev/shm, which is memory, or /var/tmp)", 0,
	  OPTION_TEXT(struct serve_arguments, far.dir) },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		argp_error(state, "no argument is expected: '%s'", arg);
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = table,
	.parser = parse,
	.doc = "Record for another weft, which has started this one with its standard input and output as the "
	       "connection: weft record --on HOST.",
};

static int record(int argc, char **argv, int outcome_fd, int ping_fd, void *far)
{
	return record_far(argc, argv, outcome_fd, ping_fd, far);
}

static const char *default_dir(void)
{
	return access("/dev/shm", W_OK | X_OK) ? "/var/tmp" : "/dev/shm";
}

/* What is printed must not get among the frames: standard output becomes the standard error. */
static int take_streams(int *ret_in, int *ret_out, struct fail *fail)
{
	*ret_in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	*ret_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (*ret_in < 0 || *ret_out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return fail_set(fail, -errno, "cannot use standard input and output as a connection");
	return 0;
}

static int run(int argc, char **argv)
{
	struct serve_arguments arguments = { .spool = SPOOL };
	struct fail fail = FAIL_INIT;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int in = -1, out = -1, err;

	command_parse(&serve_command, argc, argv, 0, &arguments);
	if (isatty(STDIN_FILENO)) {
		fail_set(
			&fail, -EINVAL,
			"standard input is a terminal: 'weft record --on HOST' on another machine starts this command");
		return command_failed(&fail);
	}
	if (!arguments.far.dir)
		arguments.far.dir = default_dir();
	arguments.far.room = arguments.spool / (uint64_t)(cpus > 0 ? cpus : 1);
	if (arguments.far.room < ROOM_MIN)
		arguments.far.room = ROOM_MIN;
	/* The words that come have the defaults of the user there. */
	defaults_leave_out();
	err = take_streams(&in, &out, &fail);
	if (!err)
		err = serving_run(in, out, &(struct serving_options){ arguments.far.dir, record, &arguments.far },
				  &fail);
	return err ? command_failed(&fail) : EXIT_OK;
}

const struct command serve_command = {
	.name = "serve",
	.summary = "record for the weft of another machine",
	.brief = "for record --on",
	.examples = "  ssh -T build7 weft serve",
	.group = "record",
	.options = &command_options,
	.run = run,
};
