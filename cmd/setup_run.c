// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/setup_run.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/setup_options.h"
#include "cmd/streams.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/record/switches.h"
#include "lib/kernel/record/workload.h"
#include "lib/kernel/tracefs/plan.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/undo/change.h"

/* The command of a plan has no PID yet: this number stands for it, and the script has "$command" instead. */
enum { DRY_RUN_COMMAND = 2147483647 };

/*
 * Prints what a command line would do to tracefs (lib/kernel/tracefs/plan.h) as a script for sh on standard output: the
 * writes in their order, and the COMMAND at the point at which it would run.
 */
struct dry_run {
	const struct tracing *tracing;
	const struct plan *plan;  /* the writes before the command runs */
	const struct plan *after; /* the writes after it has ended; may be NULL */
	char **argv;              /* NULL: no command */
	bool only_command;        /* the plan contains the command's stand-in PID */
	const char *user;
};

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

static void print_writes(const struct plan *plan)
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

static void dry_run_print(const struct dry_run *run)
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
	print_writes(run->plan);
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
		print_writes(run->after);
	if (run->argv)
		fputs("exit $status\n", stdout);
}

struct run {
	const struct setup_run *asked;
	struct rig rig;
	struct workload workload;
	sigset_t signals, mask;
	struct plan plan;
};

static void block_signals(struct run *run)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	sigset_t blocked;

	sigemptyset(&run->signals);
	for (size_t i = 0; i < array_size(signals); i++)
		sigaddset(&run->signals, signals[i]);
	/* SIGCHLD is also blocked, so that the end of a command cannot be missed. */
	blocked = run->signals;
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &run->mask);
}

/* Looks for blocked signals that came meanwhile. It is called between two instances, and before the command runs. */
static int check_signals(void *arg, struct fail *fail)
{
	const struct run *run = arg;
	sigset_t pending;

	sigpending(&pending);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sigismember(&run->signals, sig) == 1 && sigismember(&pending, sig) == 1)
			return fail_set(fail, -EINTR, "ended by signal %d (%s); everything is as it was", sig,
					strsignal(sig));
	return 0;
}

/* Returns whether a command is run. It then turns tracing on. */
static bool runs_command(const struct run *run)
{
	return run->asked->argv && !run->asked->dry_run;
}

/*
 * Returns whether the instance is set up. The main instance is the top one: it is not set up if the command line has no
 * option for it and names other instances.
 */
static bool is_wanted(const struct setup *setup, size_t index)
{
	return setup_uses(setup, index) || setup_own_option(&setup->instances[index]);
}

static int turn_all(struct run *run, bool on, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < run->rig.nr_targets; i++)
		err = instance_turn(run->rig.targets[i].instance, on, fail);
	return err;
}

/* Has the command hold free_buffer open. What its last close changes is journaled. */
static int keep_buffers(struct run *run, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < run->rig.nr_targets; i++) {
		struct instance *instance = run->rig.targets[i].instance;

		err = instance_remember(instance, "buffer_size_kb", fail);
		if (!err)
			err = instance_remember(instance, "tracing_on", fail);
		if (!err)
			err = switches_keep(&run->rig.switches, instance, "free_buffer", fail);
	}
	return err;
}

/* Plans what turns tracing on and arms what comes last. */
static int plan_all(struct run *run, struct fail *fail)
{
	int err = run->asked->turn_on ? turn_all(run, true, fail) : 0;

	for (size_t i = 0; !err && i < run->rig.late.nr; i++) {
		const struct late_item *item = &run->rig.late.items[i];

		err = instance_append(item->instance, item->file, item->text, fail);
	}
	return err;
}

static int make_all(struct run *run, struct fail *fail)
{
	const struct setup_run *asked = run->asked;
	const struct rig_options options = {
		.setup = asked->setup,
		.manner = asked->manner,
		.stays = true,
		.uses = is_wanted,
		.check = check_signals,
		.arg = run,
		.command = asked->dry_run && asked->argv ? DRY_RUN_COMMAND : run->workload.pid,
	};
	int err = rig_find(&run->rig, asked->dry_run ? &run->plan : NULL, fail);

	if (!err)
		err = rig_set_up(&run->rig, &options, fail);
	if (err || asked->dry_run)
		return err ? err : plan_all(run, fail);
	err = asked->turn_on ? rig_hold(&run->rig, false, fail) : rig_hold_late(&run->rig, fail);
	return err || !asked->frees ? err : keep_buffers(run, fail);
}

/* Prints the script, then drops the instances that stood for planned ones. */
static int print_plan(struct run *run, struct fail *fail)
{
	struct plan writes = run->plan;
	int err;

	run->plan = (struct plan)PLAN_INIT;
	err = run->asked->turn_off ? turn_all(run, false, fail) : 0;
	if (!err)
		dry_run_print(&(struct dry_run){
			.tracing = &run->rig.tracing,
			.plan = &writes,
			.after = &run->plan,
			.argv = run->asked->argv,
			.only_command = run->asked->setup->only_command,
			.user = run->asked->user,
		});
	plan_release(&writes);
	return err ? err : command_flush(fail);
}

/*
 * The last step: tracing is turned on, and triggers are armed. The settings are kept before, so that nothing is left
 * for weft to do that they would record or that would set them off.
 */
static int go(struct run *run, int *ret_status, struct fail *fail)
{
	int err = rig_keep(&run->rig, fail);

	if (err)
		return err;
	if (!runs_command(run))
		return switches_turn(&run->rig.switches, true, fail);
	err = workload_go(&run->workload, &run->rig.switches, fail);
	return err ? err : workload_executed(&run->workload, run->asked->argv[0], ret_status, fail);
}

static void undo_all(struct run *run)
{
	struct fail later;
	int failed;

	setup_step(run->asked->setup, "restoring the settings of tracing");
	/* It frees the buffer, whose size is then put back. */
	switches_drop_kept(&run->rig.switches);
	failed = rig_restore(&run->rig, &later);
	setup_step(run->asked->setup, NULL);
	if (failed)
		command_warn("%s; 'weft reset' tries again", later.text);
}

/* The terminal sends its signals to the command by itself. Signals that only weft gets are passed on to the command. */
static int wait_for_command(struct run *run)
{
	sigset_t signals = run->signals;
	int status = 0;

	sigaddset(&signals, SIGCHLD);
	while (!workload_ended(&run->workload, &status)) {
		int sig = sigwaitinfo(&signals, NULL);

		if (sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
			workload_signal(&run->workload, sig);
	}
	return status;
}

static void release(struct run *run)
{
	rig_release(&run->rig);
	plan_release(&run->plan);
	workload_release(&run->workload);
}

int setup_run(const struct setup_run *asked, int *ret_status, struct fail *fail)
{
	struct run run = { .asked = asked, .workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 } };
	int err = 0;

	block_signals(&run);
	if (runs_command(&run)) {
		const struct workload_options workload = {
			.argv = asked->argv, .user = asked->user, .path = getenv("PATH"), .mask = run.mask
		};

		err = workload_fork(&workload, &run.workload, fail);
	}
	if (!err)
		err = make_all(&run, fail);
	/* This is the last check: from here on signals are for the command. */
	if (!err)
		err = check_signals(&run, fail);
	if (!err)
		err = asked->dry_run ? print_plan(&run, fail) : go(&run, ret_status, fail);
	if (err || asked->dry_run)
		undo_all(&run);
	/* The command holds what it needs open, and weft's own copies must not keep a freed buffer. */
	switches_release(&run.rig.switches);
	if (!err && runs_command(&run)) {
		*ret_status = wait_for_command(&run);
		kernel_tell_left_out(asked->setup, run.workload.times.made_tasks);
	}
	release(&run);
	return err;
}

int setup_run_script(const struct setup *setup, char **argv, const char *user)
{
	const struct setup_run asked = {
		.setup = setup,
		.manner = SETUP_PRIVATE,
		.turn_on = true,
		.turn_off = true,
		.dry_run = true,
		.argv = argv,
		.user = user,
	};
	struct fail fail = FAIL_INIT;
	int status;

	return setup_run(&asked, &status, &fail) ? command_failed(&fail), EXIT_RECORD_FAILED : EXIT_OK;
}
