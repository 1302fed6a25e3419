// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"

/* In the order of `weft help`. */
const struct command *const commands[] = {
	&record_command,   &stream_command,
	&recover_command,  &extract_command,
	&snapshot_command, &bench_command,
	&report_command,   &export_command,
	&sql_command,      &info_command,
	&check_command,    &pack_command,
	&convert_command,  &split_command,
	&merge_command,    &import_command,
	&summary_command,  &sched_command,
	&syscalls_command, &latency_command,
	&graph_command,    &irq_command,
	&block_command,    &locks_command,
	&stacks_command,   &memory_command,
	&power_command,    &tasks_command,
	&diff_command,     &start_command,
	&stop_command,     &restart_command,
	&clear_command,    &set_command,
	&reset_command,    &show_command,
	&mark_command,     &profile_functions_command,
	&stack_command,    &list_command,
	&probe_command,    &hist_command,
	&stat_command,     &doctor_command,
	&instance_command, &help_command,
	&describe_command, NULL,
};
