// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: a trace.dat, read by the commands that have no target of their own, as the command line calls them, and by
 * each exporter. The last byte chooses one of them; with WEFT_FUZZ_ALL in the environment each input goes through all.
 */
#include "cmd/command.h"
#include "cmd/export_write.h"
#include "formats/export/export.h"
#include "lib/reader/query.h"
#include "lib/trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { WORDS = 10, PATH_SIZE = 32 };

#define FILE_ "FILE" /* stands for the input */

/* clang-format off */
static const char *const calls[][WORDS] = {
	{ "info", FILE_ },
	{ "check", FILE_ },
	{ "summary", FILE_ },
	{ "summary", "--format", "json", "--top", "0", FILE_ },
	{ "sched", "--timehist", "--map", "--chain", "*", FILE_ },
	{ "sched", "--format", "json", "--self", "--top", "0", FILE_ },
	{ "sched", "--rt", "--comm", "*a*", "--since", "+1us", FILE_ },
	{ "sched", "--idle-while-waiting", "--every", "100us", FILE_ },
	{ "sched", "--comm", "*a*", "--every", "1ms", "--format", "csv", FILE_ },
	{ "latency", FILE_ },
	{ "latency", "--rt", "--worst", "3", "--format", "csv", FILE_ },
	{ "syscalls", FILE_ },
	{ "syscalls", "--by", "task", "--format", "json", FILE_ },
	{ "syscalls", "--by", "errno", "--slowest", "3", FILE_ },
	{ "syscalls", "--every", "50us", "--slowest", "3", "--format", "json", FILE_ },
	{ "syscalls", "--trace", FILE_ },
	{ "graph", FILE_ },
	{ "graph", "--by", "errno", FILE_ },
	{ "graph", "--tree", "*", FILE_ },
	{ "graph", "--slowest", "*", FILE_ },
	{ "irq", FILE_ },
	{ "block", FILE_ },
	{ "block", "--by", "task", "--format", "csv", "--sizes", "--operation", "read,write", FILE_ },
	{ "summary", "--every", "1ms", FILE_ },
	{ "stacks", "--every", "1ms", FILE_ },
	{ "locks", FILE_ },
	{ "locks", "--by", "caller", FILE_ },
	{ "stacks", FILE_ },
	{ "stacks", "--by", "function", "--format", "json", FILE_ },
	{ "stacks", "--by", "task", FILE_ },
	{ "memory", FILE_ },
	{ "power", FILE_ },
	{ "tasks", FILE_ },
	{ "tasks", "--format", "json", FILE_ },
	{ "diff", FILE_, FILE_ },
	{ "diff", "sched", FILE_, FILE_ },
	{ "diff", "latency", "--by", "task", FILE_, FILE_ },
	{ "diff", "syscalls", "--by", "task", "--per", "cpu-second", FILE_, FILE_ },
	{ "diff", "graph", "--per", "sched:sched_switch", FILE_, FILE_ },
	{ "diff", "irq", FILE_, FILE_ },
	{ "diff", "block", "--by", "task", FILE_, FILE_ },
	{ "diff", "locks", "--by", "caller", FILE_, FILE_ },
	{ "diff", "stacks", "--by", "function", FILE_, FILE_ },
	{ "diff", "memory", FILE_, FILE_ },
	{ "diff", "power", "--by", "cpu", FILE_, FILE_ },
	{ "diff", "tasks", "--old", FILE_, "--old", FILE_, "--new", FILE_ },
	{ "hist", "--input", FILE_, "sched:sched_switch", "--keys", "next_comm", "--values", "next_prio.p99" },
	{ "hist", "--input", FILE_, "*", "--keys", "common_pid.execname,stacktrace" },
	{ "hist", "--input", FILE_, "--latency", "sched:sched_waking..sched:sched_switch", "--key", "pid=next_pid" },
	{ "hist", "--input", FILE_, "raw_syscalls:sys_exit", "--keys", "id.syscall,ret.log2", "--filter", "ret<0" },
	{ "convert", "--file-version", "6", "-o", "/dev/null", FILE_ },
	{ "convert", "--compression", "zstd:1", "-o", "/dev/null", FILE_ },
	{ "split", "--tail", "5", "-o", "/dev/null", FILE_ },
	{ "split", "--since", "+1us", "--limit", "3", "--no-self", "-o", "/dev/null", FILE_ },
	{ "merge", "-o", "/dev/null", FILE_, FILE_ },
	{ "merge", "--file-version", "6", "-o", "/dev/null", FILE_, FILE_ },
	{ "sql", "-q", FILE_ },
	{ "sql", "-q", FILE_, "SELECT name, count(*), sum(dur) FROM slice GROUP BY name" },
};
/* clang-format on */

static void call_command(const char *const *line, char *file)
{
	static char sandbox[] = "--no-sandbox";
	char *words[WORDS + 2] = { (char *)line[0], sandbox };
	int nr = 2;

	for (size_t i = 1; i < WORDS && line[i]; i++)
		words[nr++] = strcmp(line[i], FILE_) ? (char *)line[i] : file;
	(void)command_find(line[0])->run(nr, words);
	(void)!fflush(stdout);
}

static void export_to(const struct export_ops *ops, const char *file)
{
	const struct query query = QUERY_INIT;
	struct export_job job = { .query = &query, .ops = ops, .input = file, .fd = open("/dev/null", O_WRONLY) };
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;

	/* An exporter that makes its own file is run by `weft sql`. */
	if (job.fd >= 0 && !ops->open && !trace_open(file, &trace, &fail))
		(void)!export_write(&job, trace, &fail);
	trace_free(trace);
	close(job.fd);
}

static size_t nr_exports(void)
{
	size_t nr = 0;

	while (export_at(nr))
		nr++;
	return nr;
}

/* What the commands say is no concern of the target; reports of the sanitizers and of libFuzzer go elsewhere. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int null = open("/dev/null", O_WRONLY);

	(void)argc;
	(void)argv;
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
		abort();
	stderr = fdopen(null, "w");
	setenv("WEFT_CONFIG", "", 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	cleanup_fd int fd = memfd_create("commands", MFD_CLOEXEC);
	size_t all = array_size(calls) + nr_exports();
	char path[PATH_SIZE];

	if (fd < 0 || !len || write(fd, data, len) != (ssize_t)len)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < all; i++) {
		if (!getenv("WEFT_FUZZ_ALL") && i != data[len - 1] % all)
			continue;
		if (i < array_size(calls))
			call_command(calls[i], path);
		else
			export_to(export_at(i - array_size(calls)), path);
	}
	return 0;
}
