// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: a trace.dat, read by the commands that have no target of their own, as the command line calls them, and by
 * each exporter. The last byte chooses one of them, or that a line of options is drawn from the tables of the commands,
 * or keys for weft view: all bytes choose which. A drawn line runs in a process of its own: a wrong one ends it.
 * With WEFT_FUZZ_ALL in the environment each input goes through all of them, and through some drawn lines.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/export_write.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "formats/export/export.h"
#include "formats/sink.h"
#include "lib/answers/frame/analysis.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/term/frame.h"
#include "lib/screen/view/screen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { WORDS = 10, PATH_SIZE = 32, LINE = 64, OPTIONS_MAX = 256, DRAWN_OF_A_SAMPLE = 20, KEYS = 40, LINE_S = 25 };

#define FILE_ "FILE" /* stands for the input */

/* clang-format off */
static const char *const calls[][WORDS] = {
	{ "info", FILE_ },
	{ "check", FILE_ },
	{ "info", "--format", "json", FILE_ },
	{ "info", "--settings", "--format", "json", FILE_ },
	{ "check", "--format", "json", FILE_ },
	{ "summary", FILE_ },
	{ "summary", "--format", "json", "--top", "0", FILE_ },
	{ "sched", "--timehist", "--map", "--chain", "*", FILE_ },
	{ "sched", "--format", "json", "--self", "--top", "0", FILE_ },
	{ "sched", "--rt", "--comm", "*a*", "--since", "+1us", FILE_ },
	{ "sched", "--idle-while-waiting", "--every", "100us", FILE_ },
	{ "sched", "--every", "1ms", "--table", "tasks", "--format", "csv", FILE_ },
	{ "sched", "--by", "unit", FILE_ },
	{ "sched", "--by", "process", "--format", "json", FILE_ },
	{ "report", "--process", "*a*", FILE_ },
	{ "report", "--time", "utc", FILE_ },
	{ "why", FILE_ },
	{ "why", "--slowest", "3", "--tree", "--format", "json", FILE_ },
	{ "why", "--wakeup", FILE_ },
	{ "why", "--all", "request", "--tree", FILE_ },
	{ "why", "--all", "call", "--slow", "10%", FILE_ },
	{ "why", "--all", "mark", FILE_ },
	{ "why", "--all", "wakeup", "--to", "folded", FILE_ },
	{ "why", "--wakeup", "--slowest", "3", "--to", "speedscope", FILE_ },
	{ "marks", FILE_ },
	{ "marks", "--slowest", "3", "--format", "json", FILE_ },
	{ "latency", FILE_ },
	{ "latency", "--rt", "--slowest", "3", "--preempted", "--format", "csv", FILE_ },
	{ "syscalls", FILE_ },
	{ "syscalls", "--by", "task", "--format", "json", FILE_ },
	{ "syscalls", "--by", "file", "--trace", FILE_ },
	{ "syscalls", "--by", "errno", "--slowest", "3", FILE_ },
	{ "syscalls", "--every", "50us", "--slowest", "3", "--format", "json", FILE_ },
	{ "syscalls", "--trace", FILE_ },
	{ "graph", FILE_ },
	{ "graph", "--by", "errno", FILE_ },
	{ "graph", "--tree", "*", FILE_ },
	{ "graph", "--slowest", "*", FILE_ },
	{ "graph", "--slowest", "3", FILE_ },
	{ "irq", "--slowest", "3", FILE_ },
	{ "block", "--longer", "1us", FILE_ },
	{ "block", "--table", "sizes", "--format", "csv", "--sizes", "--operation", "read,write", FILE_ },
	{ "summary", "--every", "1ms", FILE_ },
	{ "summary", "--format", "json", "--max-bytes", "3000", FILE_ },
	{ "stacks", "--every", "1ms", FILE_ },
	{ "locks", "--slowest", "3", FILE_ },
	{ "locks", "--by", "caller", FILE_ },
	{ "locks", "--by", "waker", "--every", "1ms", FILE_ },
	{ "stacks", "--slowest", "3", FILE_ },
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
	{ "redact", "-o", "/dev/null", FILE_ },
	{ "brief", FILE_ },
	{ "brief", "--ask", "io", "--format", "json", FILE_ },
	{ "redact", "--pids", "--keep", "comm=a*", "--file-version", "6", "-o", "/dev/null", FILE_ },
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

/* Draws numbers, the same ones for the same input. */
struct dice {
	uint64_t state;
};

static uint32_t draw(struct dice *dice, uint32_t below)
{
	dice->state = dice->state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(dice->state >> 33) % below;
}

/* A word of a list with `separator` between them. It stays until the process ends. */
static char *draw_word(struct dice *dice, const char *list, const char *separator)
{
	struct text_word word, words[OPTIONS_MAX];
	size_t nr = 0;

	while (nr < array_size(words) && text_next_word(&list, separator, &word))
		words[nr++] = word;
	if (!nr)
		return NULL;
	word = words[draw(dice, (uint32_t)nr)];
	return strndup(word.at, word.len);
}

/* What an option of this metavar may be: words of the vocabulary, right ones and odd ones. */
/* clang-format off */
static const struct {
	const char *metavar, *values;
} values[] = {
	{ "TIME", "+1us 1ms 100us 10ms 1ns 0 1 -1ms 1s 18446744073.709551615 40.5 50%" },
	{ "MARK", "trigger * a sched:* x" },
	{ "FILTER", "common_pid>0 prev_pid>0||next_pid==0 duration>1us latency>1us comm~\"*a*\" "
		  "id==0&&ret<0 !common_flags common_pid&1" },
	{ "CPULIST", "0 0-3 1 0,2 63 0-4095" },
	{ "NAME", "* a *a* x ? trace_clock nothing" },
	{ "EVENT", "* sched:* sched:sched_switch syscalls print:* *:* -* ftrace:* raw_syscalls:sys_exit function x" },
	{ "PID", "0 1 1-9 -1 42,43 4294967295" },
	{ "N", "0 1 3 10 100000 4294967295" },
	{ "SIZE", "1 64k 1M 4096 1G" },
	{ "FUNC", "* a* *_* do_*" },
	{ "TASK", "* 1 0 a *a*" },
	{ "FIELD", "ts comm pid cpu event ts,comm,pid,cpu,event next_pid common_flags stack duration instance *" },
	{ "PERCENT", "0 5 100" },
	{ "OPTION", "fields hex raw bin nocontext-info noirq-info record-tgid latency-format nooverwrite "
		  "funcgraph-tail verbose print-parent sym-addr nofields stacktrace" },
	{ "LIST", "read write read,write discard flush" },
	{ "CONDITION", "p99>5% total>1 any" },
	{ "NS", "0 1000 -1000 9223372036854775807" },
	{ "KEYS", "common_pid common_pid.execname next_comm,prev_state stacktrace id.syscall "
		  "common_cpu.log2 prev_prio.buckets=3" },
	{ "VALUES", "hitcount next_prio next_prio.p99,next_prio.max id.percent" },
};

/* What a target must not do, or what ends the line at once. */
static const char skipped[] = "help usage version output input to old new plugin-dir "
	  "traceevent-plugins no-sandbox threads dump formats-from diff "
			      "partition config mode offset match compression file-version max-size size";

/* The lines: a command, what it has before the drawn options and behind them, and which options are drawn ("": all). */
static const struct drawn {
	const char *command, *before, *behind, *only;
} drawn[] = {
	{ "report", "", FILE_, "" }, { "report", "", FILE_, "" }, { "report", "--format json", FILE_, "" },
	{ "report", "--format trace-cmd", FILE_, "" }, { "info", "", FILE_, "" }, { "check", "", FILE_, "" },
	{ "summary", "", FILE_, "" }, { "sched", "", FILE_, "" }, { "sched", "", FILE_, "" },
	{ "syscalls", "", FILE_, "" },
	{ "irq", "", FILE_, "" }, { "latency", "", FILE_, "" }, { "graph", "", FILE_, "" }, { "block", "", FILE_, "" },
	{ "locks", "", FILE_, "" }, { "why", "", FILE_, "" }, { "marks", "", FILE_, "" },
	{ "stacks", "", FILE_, "" }, { "memory", "", FILE_, "" },
	{ "power", "", FILE_, "" },
	{ "tasks", "", FILE_, "" }, { "diff", "", FILE_ " " FILE_, "" }, { "diff", "", "sched " FILE_ " " FILE_, "" },
	{ "diff", "", "syscalls " FILE_ " " FILE_, "" }, { "diff", "", "graph " FILE_ " " FILE_, "" },
	{ "convert", "-o /dev/null", FILE_, "" }, { "redact", "-o /dev/null", FILE_, "" }, { "brief", "", FILE_, "" },
	{ "split", "-o /dev/null", FILE_, "" },
	{ "merge", "-o /dev/null", FILE_ " " FILE_, "" }, { "sql", "-q", FILE_, "" },
	{ "export", "--to csv -o /dev/null", FILE_, "" }, { "export", "--to jsonl -o /dev/null", FILE_, "" },
	{ "export", "--to perfetto -o /dev/null", FILE_, "" }, { "export", "--to chrome -o /dev/null", FILE_, "" },
	{ "export", "--to html -o /dev/null", FILE_, "" }, { "export", "--to folded -o /dev/null", FILE_, "" },
	{ "export", "--to flame -o /dev/null", FILE_, "" }, { "export", "--to speedscope -o /dev/null", FILE_, "" },
	{ "export", "--to pprof -o /dev/null", FILE_, "" }, { "export", "--to firefox -o /dev/null", FILE_, "" },
	{ "export", "--to perf -o /dev/null", FILE_, "" }, { "export", "--to otlp -o /dev/null", FILE_, "" },
	{ "flight", "explain", FILE_, "before format brief" },
	{ "list", "--input " FILE_, "events", "full" }, { "list", "--input " FILE_, "formats *", "full" },
	{ "list", "--input " FILE_, "options", "full" }, { "list", "--input " FILE_, "clocks", "full" },
	{ "list", "--input " FILE_, "tracers", "full" }, { "list", "--input " FILE_, "systems", "full" },
	{ "list", "--input " FILE_, "instances", "full" }, { "list", "--input " FILE_, "functions", "full" },
	{ "list", "--input " FILE_, "syscalls", "full" }, { "list", "--input " FILE_, "plugins", "full" },
	{ "hist", "--input " FILE_, "sched:sched_switch --keys next_comm",
	  "values sort filter format top size descending since until" },
	{ "hist", "--input " FILE_, "* --keys common_pid,stacktrace", "values sort filter format top since until" },
	{ "hist", "--input " FILE_ " --latency sched:sched_waking..sched:sched_switch", "--key pid=next_pid",
	  "filter format since until" },
};

/* trace-cmd's options are in no table of argp; these with a value stand with it. */
static const char of_report[] = "-e -p -f -P -E --events --cpus --first-event --last-event --stat "
	  "--uname --version --check-events -R -t -w -l -N -L -I "
				"-S --ts-diff --raw-ts --align-ts --nodate -T -q -V --boundary --ts-check --by-comm -v "
					  "-Fsched_switch:prev_pid>0 "
				"-Fsched:next_pid==1 -F.*:common_pid>0 -F* -rsched_switch -n* "
				"-Ofgraph:tailprint -Oparent "
					  "-Oindent=0 --cpu=0 --cpu=0-9 --pid=0,1 "
				"--comm=a --ts2secs=1000 --ts2secs=0 --verbose --event=sched_switch";
static const char of_dump[] = "-v -a --all --summary --head-page --head-event --ftrace-events "
	  "--systems --events --kallsyms --printk --cmd-lines --clock "
			      "--options --flyrecord --sections --strings --verbose";
/* clang-format on */

static bool has(const char *list, const char *name)
{
	struct text_word word;

	while (text_next_word(&list, " ", &word))
		if (strlen(name) == word.len && !memcmp(word.at, name, word.len))
			return true;
	return false;
}

static size_t collect(const struct argp *argp, const char *only, const struct argp_option **into, size_t nr)
{
	const struct argp_option *option = argp->options;

	for (; option && (option->name || option->key || option->doc); option++)
		if (option->name && !(option->flags & (OPTION_HIDDEN | OPTION_DOC | OPTION_ALIAS)) &&
		    !has(skipped, option->name) && (!*only || has(only, option->name)) && nr < OPTIONS_MAX)
			into[nr++] = option;
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		nr = collect(child->argp, only, into, nr);
	return nr;
}

/* NULL: the target knows no value of this kind. */
static char *draw_value(struct dice *dice, const char *command, const struct argp_option *option)
{
	const struct analysis_ops *ops = analysis_named(command);
	struct buf columns = BUF_INIT;
	char *word;

	if (!strcmp(option->name, "sort") && ops && ops->columns && analysis_sorts(ops, "|", &columns))
		return draw_word(dice, buf_str(&columns), "|");
	if (!strcmp(option->arg, "FORMAT")) {
		size_t nr = 0;

		while (sink_at(nr))
			nr++;
		return strdup(sink_at(draw(dice, (uint32_t)nr))->name);
	}
	for (size_t i = 0; i < array_size(values); i++)
		if (!strcmp(values[i].metavar, option->arg))
			return draw_word(dice, values[i].values, " ");
	if (!strchr(option->arg, '|'))
		return NULL;
	word = draw_word(dice, option->arg, "|");
	if (word)
		word[strcspn(word, "[")] = '\0';
	return word;
}

struct line {
	char *words[LINE + 1];
	int nr;
};

static void add(struct line *line, char *word)
{
	if (word && line->nr < LINE)
		line->words[line->nr++] = word;
}

static void add_words(struct line *line, const char *list, char *file)
{
	struct text_word word;

	while (text_next_word(&list, " ", &word))
		add(line,
		    word.len == strlen(FILE_) && !memcmp(word.at, FILE_, word.len) ? file : strndup(word.at, word.len));
}

static void add_options(struct line *line, struct dice *dice, const struct drawn *from)
{
	const struct argp_option *options[OPTIONS_MAX];
	size_t nr = collect(options_argp(command_find(from->command)->options), from->only, options, 0);

	for (uint32_t i = draw(dice, 6); nr && i; i--) {
		const struct argp_option *option = options[draw(dice, (uint32_t)nr)];
		char *value = option->arg ? draw_value(dice, from->command, option) : NULL, *word = NULL;

		if ((option->arg && !value) || asprintf(&word, value ? "--%s=%s" : "--%s", option->name, value) < 0)
			continue;
		add(line, word);
	}
}

/* One in five lines is trace-cmd's. Returns its command, or NULL. */
static int (*draw_line(struct line *line, struct dice *dice, char *file))(int argc, char **argv)
{
	const struct drawn *from = &drawn[draw(dice, array_size(drawn))];
	bool dumps = draw(dice, 3) == 0;

	if (draw(dice, 5) == 0) {
		add(line, strdup(dumps ? "trace-cmd dump" : "trace-cmd report"));
		for (uint32_t i = draw(dice, 5); i; i--)
			add(line, draw_word(dice, dumps ? of_dump : of_report, " "));
		add(line, strdup("-i"));
		add(line, file);
		return dumps ? trace_cmd_dump : trace_cmd_report;
	}
	add(line, strdup(from->command));
	if (strcmp(from->command, "flight") != 0 && strcmp(from->command, "list") != 0)
		add(line, strdup("--no-sandbox"));
	add_words(line, from->before, file);
	add_options(line, dice, from);
	add_words(line, from->behind, file);
	return command_find(from->command)->run;
}

static bool never(void *arg, const char *what, unsigned percent)
{
	(void)arg;
	(void)what;
	(void)percent;
	return false;
}

/* Types keys at the view of the file, as its screen hears them. */
static void view_file(struct dice *dice, const char *file)
{
	static const char bytes[] =
		"jkhlgGnNwWoOmaAbB:/?&|c12345fFpPtTuU+-<>[]{}#*0123456789 \r\t\033\177eixzZdDsSvVrRqQ.,'\"~=";
	const struct query_manner manner = { .prepare = NULL };
	struct query query = QUERY_INIT;
	struct key_state state = { .pasting = false };
	struct screen *screen = NULL;
	struct frame frame = { .cells = NULL };
	struct trace *trace = NULL;
	struct view *view = NULL;
	int r = trace_open(file, &trace, NULL);

	query.before_ns = query.after_ns = QUERY_WHOLE;
	r = r ? r : view_new(trace, &query, &manner, &view, NULL);
	r = r ? r : screen_new(view, file, &screen, NULL);
	if (!r && !frame_init(&frame, 20 + draw(dice, 120), 4 + draw(dice, 40)))
		r = -1;
	if (!r)
		view->waits = never;
	for (unsigned i = 0; !r && i < KEYS && !view->quit; i++) {
		uint8_t byte = (uint8_t)bytes[draw(dice, sizeof(bytes) - 1)];
		struct key key;

		if (key_decode(&state, &byte, 1, true, &key))
			r = screen_key(screen, &key, NULL);
		r = r ? r : screen_draw(screen, &frame, NULL);
	}
}

/* Set in the process of a line when it has ended by itself, whatever its exit status. */
static int *ended;

static void leave(int status, void *arg)
{
	(void)status;
	(void)arg;
	*ended = 1;
	_exit(0);
}

static void run_here(uint64_t seed, char *file, bool only_tells)
{
	struct dice dice = { seed };
	struct line line = { .nr = 0 };
	int (*run)(int argc, char **argv) = draw(&dice, 8) ? draw_line(&line, &dice, file) : NULL;

	if (only_tells) {
		dprintf(STDERR_FILENO, "ERROR: died: weft %s", run ? "" : "view, with keys");
		for (int i = 0; i < line.nr; i++)
			dprintf(STDERR_FILENO, " %s", line.words[i]);
		dprintf(STDERR_FILENO, "\n");
	} else if (run) {
		(void)run(line.nr, line.words);
	} else {
		view_file(&dice, file);
	}
}

/* Whether the process of the line took too long. */
static bool run_once(uint64_t seed, char *file)
{
	int status = 0;
	pid_t pid;

	*ended = 0;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGALRM, SIG_DFL);
		alarm(LINE_S);
		on_exit(leave, NULL);
		run_here(seed, file, false);
		leave(0, NULL);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		;
	if (pid < 0)
		*ended = 1;
	return pid > 0 && !*ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
}

/*
 * What the line allocates is not looked at for leaks: a wrong one ends its process. A thread of an input before may
 * have held a lock of the sanitizer at the fork, for which the process then waits for ever: a line that hangs, hangs
 * twice.
 */
static void run_drawn(uint64_t seed, char *file)
{
	if (run_once(seed, file))
		(void)run_once(seed, file);
	if (!*ended) {
		run_here(seed, file, true);
		abort();
	}
}

static uint64_t seed_of(const uint8_t *data, size_t len)
{
	uint64_t seed = len;

	for (size_t i = len > 4096 ? len - 4096 : 0; i < len; i++)
		seed = (seed ^ data[i]) * UINT64_C(1099511628211);
	return seed;
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
	ended = mmap(NULL, sizeof(*ended), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ended == MAP_FAILED)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	cleanup_fd int fd = memfd_create("commands", MFD_CLOEXEC);
	size_t all = array_size(calls) + nr_exports();
	bool whole = getenv("WEFT_FUZZ_ALL");
	char path[PATH_SIZE];

	if (fd < 0 || !len || write(fd, data, len) != (ssize_t)len)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (uint64_t i = 0; i < (whole ? DRAWN_OF_A_SAMPLE : data[len - 1] >= all); i++)
		run_drawn(seed_of(data, len) + i, path);
	for (size_t i = 0; i < all; i++) {
		if (!whole && i != data[len - 1])
			continue;
		if (i < array_size(calls))
			call_command(calls[i], path);
		else
			export_to(export_at(i - array_size(calls)), path);
	}
	return 0;
}
