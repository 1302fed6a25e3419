// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/trace_cmd/verbs.h"

#include <stddef.h>

static const char no_network[] =
	"weft sends nothing over a network: 'weft record -o - ... | ssh HOST weft report -i -'";
static const char no_guest[] = "weft has no agent in guests: record in the guest, and 'weft merge' both files";
static const char one_buffer[] = "'weft split -B NAME' writes one buffer of a file, -B '' the top one";
static const char no_profile[] =
	"'weft sched', 'weft syscalls', 'weft irq' and 'weft latency' tell where time is spent";

/* record, start, set, stream and extract have these in common. */
/* clang-format off */
static const struct trace_cmd_row record_rows[] = {
	{ "e", true, KEEP, NULL },
	{ "f", true, AS_FILTER, NULL },
	{ "R", true, KEEP, NULL },
	{ "v", false, KEEP, NULL },
	{ "i", false, KEEP, NULL },
	{ "a", false, DROP, NULL },
	{ "T", false, KEEP, NULL },
	{ "H", true, REFUSE, "'weft hist --latency EVENT..EVENT' measures between two events" },
	{ "F", false, KEEP, NULL },
	{ "P", true, KEEP, NULL },
	{ "c", false, KEEP, NULL },
	{ "p", true, KEEP, NULL },
	{ "l", true, KEEP, NULL },
	{ "n", true, KEEP, NULL },
	{ "g", true, KEEP, NULL },
	{ "d", false, AS, "-Onofunction-trace" },
	{ "D", false, REFUSE, "it stops the function tracing of everybody" },
	{ "O", true, KEEP, NULL },
	{ "C", true, KEEP, NULL },
	{ "b", true, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "M", true, AS_MASK, NULL },
	{ "m", true, AS_KB, "-m" },
	{ "o", true, KEEP, NULL },
	{ "s", true, DROP, NULL },
	{ "r", true, KEEP, NULL },
	{ "k", false, REFUSE, "'weft start' leaves tracing on, and 'weft extract' makes a file of it" },
	{ "K", false, REFUSE, "nothing is reset in any case: weft records in an instance of its own" },
	{ "N", true, REFUSE, no_network },
	{ "V", true, REFUSE, no_network },
	{ "t", false, REFUSE, no_network },
	{ "A", true, REFUSE, no_guest },
	{ "S", false, DROP, NULL },
	{ "G", false, DROP, NULL },
	{ "q", false, AS, "-q" },
	{ "quiet", false, AS, "-q" },
	{ "date", false, AS, "-Ctai" },
	{ "func-stack", false, KEEP, NULL },
	{ "nosplice", false, DROP, NULL },
	{ "nofifos", false, REFUSE, no_guest },
	{ "profile", false, REFUSE, no_profile },
	{ "stderr", false, DROP, NULL },
	{ "by-comm", false, DROP, NULL },
	{ "ts-offset", true, REFUSE, "'weft report --ts-offset' adds to the times of a file" },
	{ "max-graph-depth", true, KEEP, NULL },
	{ "cmdlines-size", true, KEEP, NULL },
	{ "no-filter", false, DROP, NULL },
	{ "debug", false, DROP, NULL },
	{ "notimeout", false, REFUSE, no_guest },
	{ "proc-map", false, DROP, NULL },
	{ "user", true, KEEP, NULL },
	{ "module", true, REFUSE, "-l 'FUNCTION:mod:MODULE' traces functions of a module" },
	{ "tsync-interval", true, REFUSE, no_guest },
	{ "fork", false, REFUSE, "the shell's & runs weft in the background" },
	{ "tsc2nsec", false, REFUSE, "-C mono counts nanoseconds" },
	{ "poll", false, DROP, NULL },
	{ "name", true, REFUSE, no_guest },
	{ "verbose", false, DROP, NULL },
	{ "compression", true, KEEP, NULL },
	{ "file-version", true, KEEP, NULL },
	{ "proxy", true, REFUSE, no_guest },
	{ "temp", true, AS, "--temp-dir" },
	{ "subbuf-size", true, AS_KB, "--subbuf-size" },
	{ "daemonize", false, REFUSE, "the shell's & or systemd-run runs weft in the background" },
	{ 0 },
};

static const struct trace_cmd_row extract_rows[] = {
	{ "p", true, DROP, NULL },
	{ "O", true, DROP, NULL },
	{ "o", true, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "s", false, KEEP, NULL },
	{ "a", false, KEEP, NULL },
	{ "t", false, AS, "--instance=" },
	{ "q", false, KEEP, NULL },
	{ "compression", true, KEEP, NULL },
	{ "file-version", true, KEEP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct trace_cmd_row switch_rows[] = {
	{ "B", true, KEEP, NULL },
	{ "a", false, KEEP, NULL },
	{ "t", false, KEEP, NULL },
	{ 0 },
};

static const struct trace_cmd_row clear_rows[] = {
	{ "B", true, KEEP, NULL },
	{ "a", false, KEEP, NULL },
	{ 0 },
};

static const struct trace_cmd_row show_rows[] = {
	{ "p", false, KEEP, NULL },
	{ "s", false, KEEP, NULL },
	{ "c", true, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "f", false, REFUSE, "'weft show --help' names the files" },
	{ "tracing_on", false, KEEP, NULL },
	{ "current_tracer", false, KEEP, NULL },
	{ "buffer_size", false, KEEP, NULL },
	{ "buffer_total_size", false, KEEP, NULL },
	{ "buffer_subbuf_size", false, KEEP, NULL },
	{ "buffer_percent", false, KEEP, NULL },
	{ "ftrace_filter", false, KEEP, NULL },
	{ "ftrace_notrace", false, KEEP, NULL },
	{ "ftrace_pid", false, KEEP, NULL },
	{ "graph_function", false, KEEP, NULL },
	{ "graph_notrace", false, KEEP, NULL },
	{ "cpumask", false, KEEP, NULL },
	{ "max_latency", false, AS, "tracing_max_latency" },
	{ "hist", true, KEEP, NULL },
	{ "trigger", true, KEEP, NULL },
	{ 0 },
};

static const struct trace_cmd_row snapshot_rows[] = {
	{ "s", false, KEEP, NULL },
	{ "r", false, KEEP, NULL },
	{ "f", false, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "c", true, KEEP, NULL },
	{ 0 },
};

static const struct trace_cmd_row stack_rows[] = {
	{ "start", false, REFUSE, "'weft set --stack-tracer on' starts it" },
	{ "stop", false, REFUSE, "'weft set --stack-tracer off' stops it" },
	{ "reset", false, KEEP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct trace_cmd_row split_rows[] = {
	{ "i", true, KEEP, NULL },
	{ "o", true, KEEP, NULL },
	{ "s", true, AS_S, "--every" },
	{ "m", true, AS_MS, "--every" },
	{ "u", true, AS_US, "--every" },
	{ "e", true, AS, "--count" },
	{ "C", true, AS, "--cpu" },
	{ "B", true, KEEP, NULL },
	{ "p", true, REFUSE, "'weft split --size SIZE' divides by size" },
	{ "r", false, REFUSE, "weft split divides the whole file in any case" },
	{ "c", false, AS, "--by=cpu" },
	{ "t", false, REFUSE, one_buffer },
	{ "top", false, REFUSE, one_buffer },
	{ "b", true, REFUSE, one_buffer },
	{ 0 },
};

static const struct trace_cmd_row convert_rows[] = {
	{ "i", true, KEEP, NULL },
	{ "o", true, KEEP, NULL },
	{ "file-version", true, KEEP, NULL },
	{ "compression", true, KEEP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct trace_cmd_row check_rows[] = {
	{ "N", false, DROP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

const struct trace_cmd_verb trace_cmd_verbs[] = {
	{ "record", "record", .rows = record_rows, .runs_command = true },
	{ "start", "start", .rows = record_rows, .runs_command = true },
	{ "set", "set", .rows = record_rows, .runs_command = true },
	{ "stream", "stream", .rows = record_rows, .always = { "--format=trace-cmd" }, .runs_command = true },
	{ "extract", "extract", .rows = extract_rows },
	{ "stop", "stop", .rows = switch_rows },
	{ "restart", "restart", .rows = switch_rows },
	{ "clear", "clear", .rows = clear_rows },
	{ "show", "show", .rows = show_rows },
	{ "snapshot", "snapshot", .rows = snapshot_rows },
	{ "stack", "stack", .rows = stack_rows },
	{ "split", "split", .rows = split_rows },
	{ "convert", "convert", .rows = convert_rows },
	{ "check-events", "doctor", .rows = check_rows },
	{ "profile", .refused = no_profile },
	{ "hist", .refused = "'weft stacks', 'weft graph' and 'weft export --to folded' count calls of a file" },
	{ "mem", .refused = "'weft memory' counts what was allocated and not freed" },
	{ "restore", .refused = "'weft recover' makes a file of what a killed recording left, 'weft pack' of pages" },
	{ "listen", .refused = no_network },
	{ "agent", .refused = no_guest },
	{ "setup-guest", .refused = no_guest },
	{ "attach", .refused = no_guest },
	{ 0 },
};
/* clang-format on */
