// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/dry_run.h"

#include <stdio.h>
#include <string.h>

#include "cmd/streams.h"
#include "lib/base/text.h"

/* Prints a line with "$command" in place of its stand-in in a list of tasks, inside or outside of single quotes. */
static void print_line(struct text_word line)
{
	static const char list[] = "_pid";
	char pid[16];
	bool quoted = false,
	     tasks = line.len > strlen(list) && !memcmp(line.at + line.len - strlen(list), list, strlen(list));

	snprintf(pid, sizeof(pid), "%d", DRY_RUN_COMMAND);
	for (size_t i = 0; i < line.len; i++) {
		if (tasks && line.len - i >= strlen(pid) && !memcmp(line.at + i, pid, strlen(pid))) {
			fputs(quoted ? "'\"$command\"'" : "\"$command\"", stdout);
			i += strlen(pid) - 1;
			continue;
		}
		quoted ^= line.at[i] == '\'';
		putchar(line.at[i]);
	}
	putchar('\n');
}

static void print_plan(const struct plan *plan)
{
	const char *at = plan->script.data;
	size_t left = plan->script.len;
	struct text_word line;

	while (at && text_next_line(&at, &left, &line))
		print_line(line);
}

static void print_words(char **argv)
{
	for (; *argv; argv++) {
		cleanup_buf struct buf word = BUF_INIT;

		if (plan_quote(&word, *argv))
			printf(" %s", buf_str(&word));
	}
}

/*
 * Prints the command. It runs in the directory from which weft was called, because `cd` has gone to tracefs, and as
 * another user if that was requested.
 */
static void print_command(const struct dry_run *run)
{
	cleanup_buf struct buf user = BUF_INIT;

	fputs("cd \"$OLDPWD\" && exec", stdout);
	if (run->user && plan_quote(&user, run->user))
		printf(" setpriv --reuid %s --init-groups --reset-env --", buf_str(&user));
	print_words(run->argv);
}

void dry_run_print(const struct dry_run *run)
{
	cleanup_buf struct buf dir = BUF_INIT;

	fputs("#!/bin/sh\nset -e\n", stdout);
	if (plan_quote(&dir, run->tracing->dir))
		printf("cd %s\n", buf_str(&dir));
	if (run->argv && run->only_command) {
		/*
		 * The command must exist before its PID can be written, and must not run before it is traced: so it
		 * stops itself first.
		 */
		fputs("(", stdout);
		fputs("kill -STOP \"$(exec sh -c 'echo $PPID')\"; ", stdout);
		print_command(run);
		fputs(") & command=$!\n", stdout);
	}
	print_plan(run->plan);
	if (run->argv && run->only_command) {
		fputs("status=0\nuntil grep -q 'State:.T' \"/proc/$command/status\"; do :; done\n"
		      "kill -CONT \"$command\"\nwait \"$command\" || status=$?\n",
		      stdout);
	} else if (run->argv) {
		fputs("status=0\n(", stdout);
		print_command(run);
		fputs(") || status=$?\n", stdout);
	}
	if (run->after)
		print_plan(run->after);
	if (run->argv)
		fputs("exit $status\n", stdout);
}
