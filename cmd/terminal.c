// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal.h"

#include "cmd/command.h"
#include "lib/base/escape.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4096 };

/* A terminal behind a stream of the C library. */
struct terminal {
	int fd;
	struct escape escape;
};

static ssize_t terminal_write(void *cookie, const char *text, size_t len)
{
	struct terminal *terminal = cookie;
	struct out out;
	int err;

	if (!out_init(&out, PIECE)) {
		errno = ENOMEM;
		return 0;
	}
	escape_text(&terminal->escape, text, len, &out);
	err = out_flush(&out, terminal->fd);
	out_release(&out);
	if (err) {
		errno = -err;
		return 0;
	}
	return (ssize_t)len;
}

static FILE *guarded(struct terminal *terminal, FILE *plain, int buffering)
{
	static const cookie_io_functions_t functions = { .write = terminal_write };
	FILE *file;

	if (!isatty(terminal->fd))
		return plain;
	file = fopencookie(terminal, "w", functions);
	if (!file) {
		fputs("weft: out of memory\n", stderr);
		_exit(EXIT_FAILURE);
	}
	setvbuf(file, NULL, buffering, BUFSIZ);
	return file;
}

void terminal_guard(void)
{
	static struct terminal output = { .fd = STDOUT_FILENO }, errors = { .fd = STDERR_FILENO };

	stdout = guarded(&output, stdout, _IOLBF);
	stderr = guarded(&errors, stderr, _IONBF);
}

void terminal_own(const char *sequence)
{
	fflush(stdout);
	if (write(STDOUT_FILENO, sequence, strlen(sequence)) < 0)
		clearerr(stdout);
}

bool terminal_escapes(void)
{
	return isatty(STDOUT_FILENO);
}

int terminal_flush(struct out *out, struct fail *fail)
{
	int err;

	if (out->failed)
		return fail_memory(fail);
	err = command_write(out->start, out_len(out), fail);
	out_clear(out);
	return err ? err : command_flush(fail);
}
