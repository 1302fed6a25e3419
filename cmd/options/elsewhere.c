// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/elsewhere.h"

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <string.h>

/* Options of trace-cmd that weft does not have under that name. weft-trace-cmd(7) has the complete list. */
static const struct {
	const char *command, *option, *here;
} options[] = {
	{ "report", "-n", "the number of events is --limit; no plugin is used without --decode" },
	{ "report", "-w", "'weft sched' has wakeup latencies, and 'weft latency' explains the longest" },
	{ "report", "-E", "'weft info' shows the events" },
	{ "report", "-L", "plugins are chosen with --plugin-dir" },
	{ "report", "-G", "weft has no profile mode; 'weft hist' counts and times events" },
	{ "report", "-H", "'weft hist --latency' pairs two events" },
	{ "report", "--profile", "'weft hist' counts and times events" },
	{ "report", "--cpus", "'weft info' shows the CPUs; --cpu selects" },
	{ "report", "--first-event", "'weft info' shows the first event of each CPU" },
	{ "report", "--last-event", "'weft info' shows the last event of each CPU" },
	{ "report", "--stat", "'weft info' shows the buffers' statistics" },
	{ "report", "--uname", "'weft info' shows the kernel" },
	{ "report", "--check-events", "'weft check' reads every event" },
	{ "report", "--ts-check", "'weft check' reads every event" },
	{ "report", "--align-ts", "--format pretty has times from the first event on" },
	{ "report", "-P",
	  "messages of trace_printk() are printed with their text; 'weft info' shows what else the file holds" },
	{ "report", "-T", "an error in a filter is shown with a mark under its place" },
	{ "report", "--verbose", "weft always says why a plugin is not used" },
	{ "report", "--by-comm", "trace-cmd has it for its profile; 'weft diff' has one row for all tasks of a name" },
	{ "report", "--ts2secs", "a clock that does not count time is printed as the kernel prints it, as counts" },
	{ "report", "--nodate", "--ts-offset moves the times of a file back" },
	{ "report", "--raw-ts", "times are those of the trace's clock, which 'weft info' names" },
	{ "record", "--by-comm", "trace-cmd has it for its profile; 'weft diff' has one row for all tasks of a name" },
	{ "record", "--name", "weft records this machine only" },
	{ "record", "--poll", "--buffer-percent 0 wakes the recorders at every event" },
	{ "record", "--proxy", "weft records this machine only" },
	{ "record", "--tsc2nsec", "-C mono counts nanoseconds" },
	{ "record", "--tsync-interval",
	  "weft records this machine only; 'weft merge' puts recordings of several in one file" },
	{ "record", "-G", "'weft irq' shows what interrupts cost" },
	{ "record", "-H", "'weft hist --latency' pairs two events" },
	{ "record", "-S", "--for NAME selects the events that an analysis needs" },
	{ "record", "-d", "-O nofunction-trace keeps function events out of a recording" },
	{ "record", "-t", "weft records into a file only" },
	{ "list", "-O", "plugins have no options; 'weft list options' has those of the kernel" },
	{ "list", "-R", "'weft stat' has the triggers that are set" },
	{ "list", "-l", "'weft stat' has the filters that are set" },
	{ "show", "-f", "'weft show NAME' takes the name of any file of the instance" },
	{ "stack", "--start", "'weft stack start'" },
	{ "stack", "--stop", "'weft stack stop'" },
	{ "stack", "--verbose", "messages are always printed" },
	{ "extract", "--verbose", "messages are always printed" },
	{ "extract", "-t", "-B '' is the top instance" },
	{ "set", "--fork", "'weft record' runs a command; 'weft set' changes settings only" },
	{ "set", "--user", "'weft record --user' runs a command as another user; 'weft set' changes settings only" },
	{ "set", "--module", "a function of a module is -l 'NAME:mod:MODULE'" },
	{ "set", "--quiet", "'weft set' prints errors and warnings only" },
	{ "set", "-q", "'weft set' prints errors and warnings only" },
	{ "set", "--verbose", "messages are always printed" },
	{ "set", "-D", "-O nofunction-trace keeps function events out of the buffer" },
	{ "set", "-d", "-O nofunction-trace keeps function events out of the buffer" },
	{ "set", "-m", "-b sets how much each CPU's buffer holds" },
	{ "stat", "-o", "'weft list options' has the options" },
	{ "stat", "-t", "-B '' is the top instance" },
	{ "split", "-s", "--every 10s makes a file for each 10 seconds" },
	{ "split", "-m", "--every 10ms makes a file for each 10 milliseconds" },
	{ "split", "-u", "--every 10us makes a file for each 10 microseconds" },
	{ "split", "-p", "--size 1M makes a file for each MiB of pages" },
	{ "split", "-r", "--every, --count and --size go on to the end of the file" },
	{ "split", "-c", "--by cpu makes a file for each CPU" },
	{ "reset", "-b", "'weft reset' gives buffers the size that they had; 'weft set -b' sets another" },
	{ "reset", "-d", "'weft instance remove NAME' removes one" },
	{ "reset", "-t", "-B '' is the top instance" },
	{ "record", "-k", "'weft start' leaves its events in the buffers; 'weft extract' makes a file of them" },
	{ "record", "-s", "weft wakes when a buffer is filled: --buffer-percent" },
	{ "record", "-N", "weft records into a file only; 'weft record -o - | ssh HOST ...' sends it" },
	{ "record", "-V", "weft records into a file only; 'weft record -o - | ssh HOST ...' sends it" },
	{ "record", "-A", "weft records this machine only" },
	{ "record", "-D", "-O nofunction-trace keeps function events out of a recording" },
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
