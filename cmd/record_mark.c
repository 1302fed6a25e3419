// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/reading.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/readable.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/query/mark_spans.h"
#include "lib/pages/trace/trace.h"

int record_mark_parse(const char *text, struct record_mark *ret, struct fail *fail)
{
	const char *end = strrchr(text, '>'), *rest;

	if (!end || end == text)
		return fail_set(fail, -EINVAL, "'%s' is not NAME>TIME, such as 'parse*>20ms'", text);
	rest = end + 1 + strspn(end + 1, " ");
	if (text_parse_time(rest, &ret->longer_ns, fail))
		return fail_in(fail, -EINVAL, "'%s'", text);
	while (end > text + 1 && end[-1] == ' ')
		end--;
	ret->name = strndup(text, (size_t)(end - text));
	return ret->name ? 0 : fail_memory(fail);
}

int record_mark_check(const char *output, struct fail *fail)
{
	struct stat st;

	if (lstat(output, &st))
		return 0;
	return fail_set(fail, -EEXIST, "'%s' exists already, and --when-mark-longer replaces no file: name another one",
			output);
}

/* What the process without rights found. */
struct found {
	size_t count;
	uint64_t longest;
};

static int read_spans(const struct record_mark *mark, struct trace *trace, struct found *ret, struct fail *fail)
{
	const char *name = mark->name;
	struct mark_spans *spans = mark_spans_new(&name, 1);
	int r = spans ? 0 : fail_memory(fail);

	for (size_t i = 0; !r && i < trace_buffers(trace); i++) {
		struct context *context;

		r = context_new(trace, i, &context, fail);
		if (r)
			break;
		r = mark_spans_add(spans, context, fail);
		context_free(context);
	}
	if (!r)
		*ret = (struct found){ mark_spans_count(spans), mark_spans_longest(spans) };
	mark_spans_free(spans);
	return r;
}

static int look(const struct record_mark *mark, int fd, int answer)
{
	const struct reading reading = { .no_sandbox = false };
	struct found found = { .count = 0 };
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = reading_open(path, &reading, &trace, &fail);
	if (r)
		return command_failed(&fail);
	r = read_spans(mark, trace, &found, &fail);
	trace_free(trace);
	if (r || io_write(answer, &found, sizeof(found)))
		return r ? command_failed(&fail) : EXIT_FAILED;
	return EXIT_OK;
}

static int ask(const struct record_mark *mark, int fd, struct found *ret, struct fail *fail)
{
	int ends[2], status = 0;
	bool known;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(look(mark, fd, ends[1]));
	close(ends[1]);
	known = pid > 0 && read(ends[0], ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return known && !status ? 0 : fail_set(fail, -EIO, "the marks of the recording could not be read");
}

static int take_away(const char *output, int fd, struct fail *fail)
{
	cleanup_free char *leaf = NULL;
	cleanup_fd int above = -1;
	int err = dir_above(AT_FDCWD, output, output, &above, &leaf, fail);

	if (err)
		return err;
	err = dir_remove(above, leaf, fd, 0);
	return err ? fail_set(fail, err, "cannot remove '%s': %s", output, dir_error(err)) : 0;
}

int record_mark_judge(const struct record_mark *mark, const char *output, bool *ret_stays, struct fail *fail)
{
	char longest[TEXT_HUMAN], longer[TEXT_HUMAN];
	cleanup_fd int fd = -1;
	struct found found;
	int err = readable_open(output, &fd, fail);

	*ret_stays = true;
	if (!err)
		err = ask(mark, fd, &found, fail);
	if (err || found.longest > mark->longer_ns)
		return err;
	err = take_away(output, fd, fail);
	if (err)
		return err;
	*ret_stays = false;
	text_time(longer, mark->longer_ns);
	if (found.count)
		command_warn("'%s' was not kept: the longest of %zu span%s '%s' took %s, not more than %s", output,
			     found.count, text_plural(found.count), mark->name, text_time(longest, found.longest),
			     longer);
	else
		command_warn("'%s' was not kept: it has no span '%s', so none took more than %s", output, mark->name,
			     longer);
	return 0;
}
