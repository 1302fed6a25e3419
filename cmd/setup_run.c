// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/setup_run.h"

#include "cmd/command.h"
#include "cmd/dry_run.h"
#include "cmd/setup_options.h"
#include "lib/kernel/setup_probes.h"
#include "lib/kernel/undo.h"
#include "lib/record/switches.h"
#include "lib/record/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
	const struct setup_run *asked;
	struct tracing tracing;
	struct undo *undo;
	struct catalog *catalog;
	struct setup_probes probes;
	struct instance **instances;
	size_t nr_instances;
	struct workload workload;
	struct switches switches;
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
	/* So that the end of a command cannot be missed. */
	blocked = run->signals;
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &run->mask);
}

/* Blocked signals that came meanwhile: between two instances, and before the point of no return. */
static int check_signals(const struct run *run, struct fail *fail)
{
	sigset_t pending;

	sigpending(&pending);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sigismember(&run->signals, sig) == 1 && sigismember(&pending, sig) == 1)
			return fail_set(fail, -EINTR, "ended by signal %d (%s); everything is as it was", sig, strsignal(sig));
	return 0;
}

/* Which then turns tracing on. */
static bool runs_command(const struct run *run)
{
	return run->asked->argv && !run->asked->dry_run;
}

/* The main one stands for the top instance; without a word about it the named ones are meant. */
static bool is_wanted(const struct setup *setup, size_t index)
{
	return setup_uses(setup, index) || setup_own_option(&setup->instances[index]);
}

static int make_one(struct run *run, const struct setup_instance *wanted, struct fail *fail)
{
	const struct setup_context context = {
		.tracing = &run->tracing, .undo = run->undo, .catalog = run->catalog, .setup = run->asked->setup,
		.probes = &run->probes,
		.manner = run->asked->manner,
		.command = run->asked->dry_run && run->asked->argv ? DRY_RUN_COMMAND : run->workload.pid,
	};
	struct instance **instance = &run->instances[run->nr_instances++];
	struct event_set events = { 0 };
	int err = setup_open(&context, wanted, instance, fail);

	if (!err)
		err = setup_apply(&context, wanted, *instance, &events, fail);
	event_set_release(&events);
	return err ? err : check_signals(run, fail);
}

static int set_cmdlines(struct run *run, struct fail *fail)
{
	struct instance *top = NULL;
	char value[16], now[32];
	int err;

	if (!run->asked->setup->cmdlines)
		return 0;
	err = instance_open_top(&run->tracing, run->undo, &top, fail);
	if (err)
		return err;
	/* Changing it empties the cache, which others rely on. */
	err = instance_read_word(top, "saved_cmdlines_size", now, sizeof(now), fail);
	snprintf(value, sizeof(value), "%" PRIu32, run->asked->setup->cmdlines);
	if (!err && strtoul(now, NULL, 10) < run->asked->setup->cmdlines)
		err = instance_set(top, "saved_cmdlines_size", value, fail);
	instance_close(top, NULL);
	return err;
}

static int make_all(struct run *run, struct fail *fail)
{
	const struct setup *setup = run->asked->setup;
	int err = tracing_find(&run->tracing, fail);

	run->tracing.plan = run->asked->dry_run ? &run->plan : NULL;
	if (!err)
		err = undo_new(&run->tracing, NULL, &run->undo, fail);
	if (!err)
		err = setup_probes_make(&run->tracing, run->undo, setup, &run->probes, fail);
	if (!err)
		err = catalog_new(&run->tracing, &run->catalog, fail);
	run->instances = calloc(setup->nr_instances, sizeof(*run->instances));
	if (!err && !run->instances)
		err = fail_memory(fail);
	for (size_t i = 0; !err && i < setup->nr_instances; i++)
		if (is_wanted(setup, i))
			err = make_one(run, &setup->instances[i], fail);
	if (!err)
		err = set_cmdlines(run, fail);
	for (size_t i = 0; !err && run->asked->turn_on && i < run->nr_instances; i++)
		err = runs_command(run) ? switches_add(&run->switches, run->instances[i], false, fail) :
					  instance_turn(run->instances[i], true, fail);
	return err;
}

/* The script, and away with the instances that stood for planned ones. */
static int print_plan(struct run *run, struct fail *fail)
{
	struct plan writes = run->plan;
	int err = 0;

	run->plan = (struct plan)PLAN_INIT;
	for (size_t i = 0; !err && run->asked->turn_off && i < run->nr_instances; i++)
		err = instance_turn(run->instances[i], false, fail);
	if (!err)
		dry_run_print(&(struct dry_run){
			.tracing = &run->tracing, .plan = &writes, .after = &run->plan, .argv = run->asked->argv,
			.only_command = run->asked->setup->only_command, .user = run->asked->user,
		});
	plan_release(&writes);
	return err ? err : command_flush(fail);
}

/* Keeps what was done, or takes it back. */
static int settle(struct run *run, int err, struct fail *fail)
{
	struct fail later;
	int failed = 0;

	if (!err && run->asked->dry_run)
		err = print_plan(run, fail);
	for (size_t i = 0; !err && !run->asked->dry_run && i < run->nr_instances; i++)
		instance_leave(run->instances[i]);
	if (!err && !run->asked->dry_run)
		return undo_hold(run->undo, fail);
	if (run->undo)
		failed = undo_restore(run->undo, &later);
	for (size_t i = 0; i < run->nr_instances; i++) {
		int closed = instance_close(take(run->instances[i]), failed ? NULL : &later);

		failed = failed ? failed : closed;
	}
	if (failed)
		command_warn("%s; 'weft reset' tries again", later.text);
	return err;
}

/* What the terminal sends reaches the command by itself; what is sent to us is passed on. */
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
	for (size_t i = 0; i < run->nr_instances; i++)
		instance_close(run->instances[i], NULL);
	free(run->instances);
	catalog_free(run->catalog);
	setup_probes_release(&run->probes);
	undo_free(run->undo);
	tracing_release(&run->tracing);
	plan_release(&run->plan);
	workload_release(&run->workload);
}

int setup_run(const struct setup_run *asked, int *ret_status, struct fail *fail)
{
	struct run run = { .asked = asked, .workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 } };
	int err = 0;

	block_signals(&run);
	if (runs_command(&run)) {
		const struct workload_options workload = { .argv = asked->argv, .user = asked->user, .mask = run.mask };

		err = workload_fork(&workload, &run.workload, fail);
	}
	if (!err)
		err = make_all(&run, fail);
	/* From here on a signal is the command's. */
	if (!err)
		err = check_signals(&run, fail);
	if (!err && runs_command(&run))
		err = workload_go(&run.workload, &run.switches, fail);
	if (!err && runs_command(&run))
		err = workload_executed(&run.workload, asked->argv[0], ret_status, fail);
	switches_release(&run.switches);
	err = settle(&run, err, fail);
	if (!err && runs_command(&run))
		*ret_status = wait_for_command(&run);
	release(&run);
	return err;
}

int setup_run_script(const struct setup *setup, char **argv, const char *user)
{
	const struct setup_run asked = {
		.setup = setup, .manner = SETUP_PRIVATE, .turn_on = true, .turn_off = true, .dry_run = true, .argv = argv,
		.user = user,
	};
	struct fail fail = FAIL_INIT;
	int status;

	return setup_run(&asked, &status, &fail) ? command_failed(&fail), EXIT_RECORD_FAILED : EXIT_OK;
}
