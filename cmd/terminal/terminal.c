// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/streams.h"
#include "cmd/terminal/progress.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/escape.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

enum { PIECE = 4096 };

/* A terminal behind a stream of the C library. */
struct terminal {
	int fd;
	struct escape escape;
	/* What is written is a message of one line; further lines of its own begin with two blanks. */
	bool messages;
};

/* A message's own newlines are at its end and before two blanks. All others come from names, and are escaped. */
static void put_message(struct escape *escape, const char *text, size_t len, struct out *out)
{
	const char *end = text + len, *newline;

	while ((newline = memchr(text, '\n', (size_t)(end - text)))) {
		bool own = strspn(newline, "\n") == (size_t)(end - newline) ||
			   (end - newline > 2 && !memcmp(newline + 1, "  ", 2));

		escape_text(escape, text, (size_t)(newline - text), out);
		escape_text(escape, own ? "\n" : "\\012", own ? 1 : 4, out);
		text = newline + 1;
	}
	escape_text(escape, text, (size_t)(end - text), out);
}

/* Found at the start, because a pager replaces standard output. */
static bool output_is_terminal;

static ssize_t terminal_write(void *cookie, const char *text, size_t len)
{
	struct terminal *terminal = cookie;
	struct out out;
	int err;

	if (!out_init(&out, PIECE)) {
		errno = ENOMEM;
		return 0;
	}
	if (terminal->messages)
		put_message(&terminal->escape, text, len, &out);
	else
		escape_text(&terminal->escape, text, len, &out);
	err = out_flush(&out, terminal->fd);
	out_release(&out);
	if (err) {
		errno = -err;
		return 0;
	}
	return (ssize_t)len;
}

__attribute__((noreturn)) static void lack_memory(void)
{
	fputs("weft: out of memory\n", stderr);
	_exit(EXIT_FAILURE);
}

static FILE *guarded(struct terminal *terminal, FILE *plain, int buffering)
{
	static const cookie_io_functions_t functions = { .write = terminal_write };
	FILE *file;

	if (!isatty(terminal->fd))
		return plain;
	output_is_terminal |= terminal->fd == STDOUT_FILENO;
	file = fopencookie(terminal, "w", functions);
	if (!file)
		lack_memory();
	setvbuf(file, NULL, buffering, BUFSIZ);
	return file;
}

static struct terminal output = { .fd = STDOUT_FILENO }, errors = { .fd = STDERR_FILENO };

#ifndef __GLIBC__
FILE *terminal_output, *terminal_errors;
#endif

/* A word of the command line has a newline, so any text on standard error may contain it. */
static bool odd_words;

void terminal_guard(char **words)
{
	for (; *words; words++)
		odd_words |= strchr(*words, '\n') != NULL;
	errors.messages = odd_words;
	stdout = guarded(&output, streams_output(), _IOLBF);
	stderr = guarded(&errors, streams_errors(), _IONBF);
}

void terminal_own(const char *sequence)
{
	fflush(stdout);
	if (write(STDOUT_FILENO, sequence, strlen(sequence)) < 0)
		clearerr(stdout);
}

void terminal_message(bool begins)
{
	errors.messages = begins || odd_words;
}

char *terminal_line(const char *text)
{
	struct out out = { .start = NULL };
	char *line = NULL;

	if (!terminal_escapes() || !strchr(text, '\n')) {
		line = strdup(text);
	} else if (out_init(&out, 0)) {
		/*
		 * escape_newlines() leaves newlines at the end as they are, so the text gets one more character for a
		 * moment.
		 */
		out_str(&out, text);
		out_char(&out, '.');
		escape_newlines(&out, 0);
		line = out.failed ? NULL : strndup(out.start, out_len(&out) - 1);
	}
	out_release(&out);
	if (!line)
		lack_memory();
	return line;
}

void terminal_seal(struct out *out, size_t from)
{
	if (terminal_escapes())
		escape_newlines(out, from);
}

bool terminal_escapes(void)
{
	return output_is_terminal;
}

unsigned terminal_width(void)
{
	struct winsize size;

	return terminal_escapes() && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static int last_errno;

int command_errno(void)
{
	return last_errno;
}

int command_failed(const struct fail *fail)
{
	last_errno = fail->err < 0 ? -fail->err : 0;
	command_warn("%s", fail->text);
	return fail->usage ? EXIT_USAGE : EXIT_FAILED;
}

static struct {
	bool (*send)(void *arg, const char *line);
	void *arg;
} through;

void command_warn_through(bool (*send)(void *arg, const char *line), void *arg)
{
	through.send = send;
	through.arg = arg;
}

static bool taken(const char *format, va_list args)
{
	cleanup_free char *line = NULL;

	return through.send && vasprintf(&line, format, args) >= 0 && through.send(through.arg, line);
}

void command_warn(const char *format, ...)
{
	va_list args;
	bool done;

	va_start(args, format);
	done = taken(format, args);
	va_end(args);
	if (done)
		return;
	fflush(stdout);
	progress_pause();
	fputs("weft: ", stderr);
	terminal_message(true);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	terminal_message(false);
	fputc('\n', stderr);
	progress_go_on();
}

/* Clears the error of the stream, so that end_output() does not report it again. */
static int output_failed(int err, struct fail *fail)
{
	__fpurge(stdout);
	clearerr(stdout);
	return fail_set(fail, -err, FAIL_WRITE_OUT "%s", strerror(err));
}

int command_write(const void *data, size_t len, struct fail *fail)
{
	return fwrite(data, 1, len, stdout) == len ? 0 : output_failed(errno, fail);
}

int command_flush(struct fail *fail)
{
	errno = 0;
	return !fflush(stdout) && !ferror(stdout) ? 0 : output_failed(errno ? errno : EIO, fail);
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

/* Decides as the C library does. */
bool terminal_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < array_size(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}
