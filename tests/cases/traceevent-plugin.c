// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of libtraceevent for sched_switch, as a user writes one; tests/cases/traceevent-plugins.bats builds it. With
 * one of CRASH, LOOP, GROW, NOISE, WAIT, STOP and START_CRASH it misbehaves.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

struct tep_plugin_option TEP_PLUGIN_OPTIONS[] = {
	{ .name = "loud", .plugin_alias = "ours", .description = "in capitals" },
	{ .name = "word", .plugin_alias = "ours", .description = "the first word", .value = "next" },
	{ .name = NULL },
};

int TEP_PLUGIN_LOADER(struct tep_handle *tep);

static void misbehave(struct trace_seq *s, unsigned long long pid)
{
#ifdef CRASH
	if (pid == CRASH)
		*(volatile int *)0 = 1;
#endif
#ifdef LOOP
	while (pid == LOOP)
		;
#endif
#ifdef WAIT
	while (pid == WAIT)
		sleep(1000);
#endif
#ifdef STOP
	if (pid == STOP)
		raise(SIGSTOP);
#endif
#ifdef GROW
	for (;;) {
		char *more = malloc(1 << 20);

		memset(more, 1, 1 << 20);
	}
#endif
#ifdef NOISE
	puts("noise");
	fflush(stdout);
	fputs("noise\n", stderr);
	trace_seq_printf(s, "%s %s %s ", open("/etc/passwd", O_RDONLY) < 0 ? "no file" : "file",
			 socket(AF_INET, SOCK_STREAM, 0) < 0 ? "no socket" : "socket",
			 fork() < 0 && kill(getppid(), 0) < 0 ? "no process" : "process");
#endif
	(void)s;
	(void)pid;
}

static int print_switch(struct trace_seq *s, struct tep_record *record, struct tep_event *event, void *context)
{
	const char *comm;
	unsigned long long pid;

	(void)context;
	if (tep_get_field_val(s, event, "next_pid", record, &pid, 1))
		return -1;
	misbehave(s, pid);
	comm = tep_data_comm_from_pid(event->tep, (int)pid);
	trace_seq_printf(s, TEP_PLUGIN_OPTIONS[0].set ? "%s TO %llu %s" : "%s to %llu %s", TEP_PLUGIN_OPTIONS[1].value,
			 pid, comm);
	return 0;
}

int TEP_PLUGIN_LOADER(struct tep_handle *tep)
{
#ifdef START_CRASH
	abort();
#endif
	return tep_register_event_handler(tep, -1, "sched", "sched_switch", print_switch, NULL);
}
