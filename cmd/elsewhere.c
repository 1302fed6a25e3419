// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/elsewhere.h"

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <string.h>

/* weft-trace-cmd(7) has them all; these are options that weft does not have under that name. */
static const struct {
	const char *command, *option, *here;
} options[] = {
	{ "report", "-n", "the number of events is --limit; no plugin is used without --decode" },
	{ "report", "-w",
	  "'weft hist --latency sched:sched_waking..sched:sched_switch --keys pid' has wakeup latencies" },
	{ "report", "-r", "-R prints the fields of all events" },
	{ "report", "-E", "'weft info' tells the events" },
	{ "report", "-L", "plugins are chosen with --plugin-dir" },
	{ "report", "-N", "no plugin is used without --decode" },
	{ "report", "-G", "there is no profile here" },
	{ "report", "-H", "'weft hist --latency' pairs two events" },
	{ "report", "--profile", "'weft hist' counts and times events" },
	{ "report", "--cpus", "'weft info' tells the CPUs; --cpu selects" },
	{ "report", "--first-event", "'weft info' tells the first event of each CPU" },
	{ "report", "--last-event", "'weft info' tells the last event of each CPU" },
	{ "report", "--stat", "'weft info' tells the buffers' statistics" },
	{ "report", "--uname", "'weft info' tells the kernel" },
	{ "report", "--check-events", "'weft check' reads every event" },
	{ "report", "--ts-check", "'weft check' reads every event" },
	{ "report", "--ts-diff", "--format pretty has the time since the event before" },
	{ "report", "--align-ts", "--format pretty has times from the first event on" },
	{ "record", "-k", "'weft start' leaves its events in the buffers, 'weft extract' makes a file of them" },
	{ "record", "-s", "weft wakes when a buffer is filled: --buffer-percent" },
	{ "record", "-N", "weft records into a file only; 'weft record -o - | ssh HOST ...' sends it" },
	{ "record", "-V", "weft records into a file only; 'weft record -o - | ssh HOST ...' sends it" },
	{ "record", "-A", "weft records this machine only" },
	{ "record", "-D", "-O nofunction-trace keeps functions out of a recording" },
	{ "record", "--temp", "--temp-dir" },
	{ "record", "--module", "a function of a module is -l 'NAME:mod:MODULE'" },
	{ "record", "--proc-map", "weft saves the maps of processes by itself" },
	{ "record", "--date", "--clock tai has the time of day" },
	{ "record", "--profile", "'weft hist' counts and times events" },
	{ "list", "-P", "'weft help report' names the plugins' directory" },
	{ "list", "-c", "'weft help record' names the compressions" },
};

const char *elsewhere_option(const char *command, const char *option)
{
	for (size_t i = 0; i < array_size(options); i++)
		if (!strcmp(options[i].command, command) && !strcmp(options[i].option, option))
			return options[i].here;
	return NULL;
}
