// SPDX-License-Identifier: GPL-2.0-only
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/options/option_rows.h"
#include "cmd/terminal/config.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/remote/push.h"
#include "lib/kernel/remote/serving.h"

enum { ROOM_MIN = 1 << 20, SPOOL = 64 << 20, SILENCE_S = 300 };

struct serve_arguments {
	struct far_side far;
	uint64_t spool, silence_ns;
	bool pushed;
};

static const struct option_row table[] = {
	{ "allow-command", 0, NULL, 0, "Also run the COMMAND of a recording", 0,
	  OPTION_FLAG(struct serve_arguments, far.allow_command) },
	{ "spool", 0, "SIZE", 0,
	  "Hold at most about SIZE of all CPUs' recorded data while the other side takes less than is recorded "
	  "(default 64M)",
	  0, OPTION_SIZE(struct serve_arguments, spool) },
	{ "silence", 0, "TIME", 0,
	  "Take the other side for gone when nothing has come for TIME (default 5m); it says every 5 seconds that it "
	  "is there",
	  0, OPTION_TIME(struct serve_arguments, silence_ns) },
	{ "pushed", 0, NULL, 0, "Remove the file of this program at once: --push has brought it", 0,
	  OPTION_FLAG(struct serve_arguments, pushed) },
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
	.doc = "Record, or run stream, top, extract, status, doctor or flight, for another weft, which has started "
	       "this one with its standard input and output as the connection: weft record --on HOST.",
};

/* argv[0] is "weft NAME", as of any command. */
static int run_far(int argc, char **argv, int outcome_fd, int ping_fd, void *arg)
{
	struct far_side far = *(const struct far_side *)arg;
	const char *space = strchr(argv[0], ' ');
	const struct command *command = space ? command_find(space + 1) : NULL;
	struct fail fail = FAIL_INIT;

	far.outcome_fd = outcome_fd;
	far.ping_fd = ping_fd;
	/* Only the frames of a recording take one. */
	if (command && command->run_far && (command == &record_command) == (outcome_fd >= 0))
		return command->run_far(argc, argv, &far);
	fail_set(&fail, -EINVAL, "'%s' is not run for another machine", space ? space + 1 : argv[0]);
	return command_failed(&fail);
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

/* It goes on without a name. A file that was not brought so stays. */
static void remove_own(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len > 0 ? len : 0] = '\0';
	if (push_is_own(path))
		(void)!unlink(path);
}

static int run(int argc, char **argv)
{
	struct serve_arguments arguments = { .spool = SPOOL, .silence_ns = SILENCE_S * UINT64_C(1000000000) };
	struct fail fail = FAIL_INIT;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int in = -1, out = -1, err;

	command_parse(&serve_command, argc, argv, 0, &arguments);
	if (arguments.pushed)
		remove_own();
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
		err = serving_run(in, out,
				  &(struct serving_options){ .dir = arguments.far.dir,
							     .silence_ns = arguments.silence_ns,
							     .run = run_far,
							     .arg = &arguments.far },
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
