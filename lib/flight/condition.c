// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/condition.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/flight/clause_internal.h"

/* A comm of the kernel has at most 15 letters: TASK_COMM_LEN. */
enum { DEPTH_MAX = 6, COMM_MAX = 15, TEXT_MAX = 512, SIGNALS_MAX = 64 };

#define S UINT64_C(1000000000)

static bool is_name_letter(char c)
{
	return text_is_name_char(c) || c == '-';
}

/* Makes a name of any text: what cannot be in a name becomes '-'. A name that the user gave stays. */
static void name_it(struct condition *condition, const char *kind, const char *text, size_t len)
{
	char name[CONDITION_NAME];
	size_t at = 0;

	if (*condition->name)
		return;
	if (kind)
		at = (size_t)snprintf(name, sizeof(name), "%s-", kind);
	for (size_t i = 0; i < len && at < sizeof(name) - 1; i++)
		if (is_name_letter(text[i]) || (at && name[at - 1] != '-'))
			name[at++] = is_name_letter(text[i]) ? text[i] : '-';
	while (at && name[at - 1] == '-')
		at--;
	snprintf(condition->name, sizeof(condition->name), "%.*s", (int)at, name);
}

static int parse_filter(struct clause *clause)
{
	struct text_word word;

	if (!clause_word(clause, "", &word))
		return 0;
	if (!text_word_is(word, "if"))
		return clause_wrong(clause, word.at, "here comes 'if FILTER', or nothing");
	clause_skip(clause);
	if (!*clause->at)
		return clause_wrong(clause, clause->at, "there is no filter after 'if'");
	clause->ret->filter = strdup(clause->at);
	clause->at += strlen(clause->at);
	return clause->ret->filter ? 0 : fail_memory(clause->fail);
}

static int parse_event(struct clause *clause)
{
	struct condition *ret = clause->ret;
	struct text_word system, event;
	int err;

	if (!clause_word(clause, ":", &system) || !clause_letter(clause, ':') || !clause_word(clause, ":", &event))
		return clause_wrong(clause, clause->at, "an event is given as SYSTEM:EVENT");
	if (memchr(system.at, '*', (size_t)(clause->at - system.at)))
		return clause_wrong(clause, system.at, "a condition has one event, not a pattern");
	err = clause_copy(clause, (struct text_word){ system.at, (size_t)(clause->at - system.at) }, &ret->event);
	name_it(ret, NULL, event.at, event.len);
	return err ? err : parse_filter(clause);
}

static int check_comm(const struct clause *clause, struct text_word comm)
{
	if (comm.len > COMM_MAX)
		return clause_wrong(clause, comm.at, "the kernel knows the first %d letters of a task's name",
				    COMM_MAX);
	if (memchr(comm.at, '"', comm.len))
		return clause_wrong(clause, comm.at, "a name cannot have quotes here");
	return 0;
}

/* The operator and the number behind "status". */
static int parse_status(struct clause *clause, char operator[3], uint64_t *ret)
{
	struct text_word word;

	clause_skip(clause);
	if (strncmp(clause->at, "==", 2) && strncmp(clause->at, "!=", 2))
		return clause_wrong(clause, clause->at, "'status' needs == or !=, and a number");
	snprintf(operator, 3, "%s", clause->at);
	clause->at += 2;
	if (!clause_word(clause, "", &word))
		return clause_wrong(clause, clause->at, "there is no status to compare with");
	return clause_number(clause, word, 255, ret);
}

static int parse_exit(struct clause *clause)
{
	struct condition *ret = clause->ret;
	struct text_word comm, word;
	char operator[3] = "!=";
	uint64_t status = 0;
	int err;

	if (!clause_word(clause, "", &comm))
		return clause_wrong(clause, clause->at, "whose exit? Give the name of a task");
	err = check_comm(clause, comm);
	if (!err && clause_word(clause, "=!", &word)) {
		if (!text_word_is(word, "status"))
			return clause_wrong(clause, word.at, "after the name comes status!=N or status==N, or nothing");
		err = parse_status(clause, operator, & status);
	}
	if (err)
		return err;
	name_it(ret, "exit", comm.at, comm.len);
	ret->event = strdup("syscalls:sys_enter_exit_group");
	if (asprintf(&ret->filter, "comm == \"%.*s\" && error_code %s %" PRIu64, (int)comm.len, comm.at, operator,
		     status) < 0)
		ret->filter = NULL;
	return ret->event && ret->filter ? 0 : fail_memory(clause->fail);
}

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "HUP", SIGHUP },   { "INT", SIGINT },       { "QUIT", SIGQUIT }, { "ILL", SIGILL },   { "TRAP", SIGTRAP },
	{ "ABRT", SIGABRT }, { "BUS", SIGBUS },       { "FPE", SIGFPE },   { "KILL", SIGKILL }, { "USR1", SIGUSR1 },
	{ "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },     { "PIPE", SIGPIPE }, { "ALRM", SIGALRM }, { "TERM", SIGTERM },
	{ "CHLD", SIGCHLD }, { "CONT", SIGCONT },     { "STOP", SIGSTOP }, { "TSTP", SIGTSTP }, { "XCPU", SIGXCPU },
	{ "XFSZ", SIGXFSZ }, { "VTALRM", SIGVTALRM }, { "IO", SIGIO },     { "SYS", SIGSYS },
};

static int find_signal(struct clause *clause, struct text_word word, int *ret)
{
	cleanup_free char *name = NULL;
	struct near near;
	char hint[256];
	uint64_t number;
	const char *bare;
	int err = clause_copy(clause, word, &name);

	if (err)
		return err;
	if (*name >= '0' && *name <= '9') {
		err = clause_number(clause, word, SIGNALS_MAX, &number);
		*ret = err ? 0 : (int)number;
		return err;
	}
	bare = strncmp(name, "SIG", 3) ? name : name + 3;
	near = near_to(bare);
	for (size_t i = 0; i < array_size(signals); i++) {
		if (!strcmp(signals[i].name, bare)) {
			*ret = signals[i].number;
			return 0;
		}
		near_offer(&near, signals[i].name);
	}
	near_hint(&near, hint, sizeof(hint));
	return clause_wrong(clause, word.at, "no signal '%s'%s%s", bare, *hint ? "; " : "", hint);
}

static int parse_signal(struct clause *clause)
{
	struct condition *ret = clause->ret;
	struct text_word signal, comm = { .len = 0 };
	int number = 0, err, len;

	if (!clause_word(clause, "", &signal))
		return clause_wrong(clause, clause->at, "which signal? Give a name such as SEGV, or a number");
	err = find_signal(clause, signal, &number);
	if (!err && clause_word(clause, "", &comm))
		err = check_comm(clause, comm);
	if (err)
		return err;
	name_it(ret, "signal", signal.at, signal.len);
	ret->event = strdup("signal:signal_generate");
	len = comm.len ? asprintf(&ret->filter, "sig == %d && comm == \"%.*s\"", number, (int)comm.len, comm.at) :
			 asprintf(&ret->filter, "sig == %d", number);
	if (len < 0)
		ret->filter = NULL;
	return ret->event && ret->filter ? 0 : fail_memory(clause->fail);
}

static int parse_pressure_file(struct clause *clause)
{
	static const char *const resources[] = { "cpu", "memory", "io", "irq" };
	struct text_word word;
	struct near near;
	cleanup_free char *name = NULL;
	char hint[256];
	int err;

	if (!clause_word(clause, "", &word))
		return clause_wrong(clause, clause->at,
				    "the pressure of what? cpu, memory, io, irq or a file of a cgroup");
	err = clause_copy(clause, word, &name);
	if (err)
		return err;
	if (*name == '/') {
		clause->ret->text = take(name);
		return 0;
	}
	near = near_to(name);
	for (size_t i = 0; i < array_size(resources); i++) {
		if (!strcmp(name, resources[i]))
			return asprintf(&clause->ret->text, "/proc/pressure/%s", name) < 0 ? fail_memory(clause->fail) :
											     0;
		near_offer(&near, resources[i]);
	}
	near_hint(&near, hint, sizeof(hint));
	return clause_wrong(clause, word.at, "the kernel measures no pressure of '%s'%s%s", name, *hint ? "; " : "",
			    hint);
}

/* What the kernel can measure. The keys are the fields that the event of the latency has. */
static const struct condition_pair pairs[] = {
	{ "wakeup", "sched:sched_waking", "sched:sched_switch", "pid=next_pid", "next_comm,next_prio,lat.log2" },
	{ "softirq", "irq:softirq_entry", "irq:softirq_exit", "common_cpu", "vec,lat.log2" },
	{ "irq", "irq:irq_handler_entry", "irq:irq_handler_exit", "common_cpu", "irq,lat.log2" },
	{ "block", "block:block_rq_issue", "block:block_rq_complete", "sector", "dev,sector,lat.log2" },
	{ "syscall", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "common_pid", "id,lat.log2" },
	{ "lock", "lock:contention_begin", "lock:contention_end", "common_pid", "lock_addr,lat.log2" },
};

static int find_pair(struct clause *clause, struct text_word word)
{
	cleanup_free char *name = NULL;
	int err = clause_copy(clause, word, &name);
	struct near near;
	char hint[256];

	if (err)
		return err;
	near = near_to(name);
	for (size_t i = 0; i < array_size(pairs); i++) {
		near_offer(&near, pairs[i].name);
		if (strcmp(pairs[i].name, name))
			continue;
		clause->ret->pair = &pairs[i];
		return 0;
	}
	near_hint(&near, hint, sizeof(hint));
	return clause_wrong(clause, word.at, "latencies: wakeup, softirq, irq, block, syscall, lock%s%s",
			    *hint ? "; " : "", hint);
}

static int parse_latency(struct clause *clause)
{
	struct condition *ret = clause->ret;
	struct text_word word;
	const char *rest;
	int err;

	(void)!clause_word(clause, "=<>", &word);
	err = find_pair(clause, word);
	if (err)
		return err;
	name_it(ret, NULL, word.at, word.len);
	clause_skip(clause);
	if (!clause_letter(clause, '>') || !clause_word(clause, "", &word))
		return clause_wrong(clause, clause->at, "then comes >TIME, such as >5ms");
	err = clause_time(clause, word, 1000, 3600 * S, &ret->longer_ns);
	if (err)
		return err;
	rest = clause->at;
	ret->streamed = clause_word(clause, "", &word) && text_word_is(word, "streamed");
	if (!ret->streamed)
		clause->at = rest;
	return parse_filter(clause);
}

/*
 * osnoise_stop_tracing() in kernel/trace/trace_osnoise.c. The thread of timerlat is compared with the total. osnoise
 * does not look at noise below 5 us.
 */
static const struct condition_noise timerlat = {
	.tracer = "timerlat",
	.bound = "osnoise/stop_tracing_total_us",
	.other_bound = "osnoise/stop_tracing_us",
	.of = " context thread ",
	.measured = "timer_latency",
	.cost = "a thread of the kernel wakes up on each CPU, a thousand times a second unless --osnoise says "
		"otherwise",
	.least_ns = 1000,
};
static const struct condition_noise osnoise = {
	.tracer = "osnoise",
	.bound = "osnoise/stop_tracing_us",
	.other_bound = "osnoise/stop_tracing_total_us",
	.event = "osnoise:sample_threshold",
	.of = " sample_threshold: ",
	.measured = "duration",
	.cost = "a thread of the kernel takes all time that each CPU has left, unless --osnoise cpus= or runtime= says "
		"otherwise",
	.least_ns = 5000,
};

/* The table of kinds has chosen the tracer. */
static int parse_noise(struct clause *clause)
{
	struct condition *ret = clause->ret;
	struct text_word word;
	int err;

	if (!clause_word(clause, "", &word))
		return clause_wrong(clause, clause->at, "then comes TIME, such as 50us");
	name_it(ret, NULL, ret->noise->tracer, strlen(ret->noise->tracer));
	err = clause_time(clause, word, ret->noise->least_ns, 3600 * S, &ret->longer_ns);
	if (!err && ret->longer_ns % 1000)
		return clause_wrong(clause, word.at, "the kernel takes whole microseconds here");
	return err;
}

/* window_min_ns and window_max_ns of kernel/sched/psi.c: 500 ms to 10 s. */
static int parse_psi(struct clause *clause)
{
	struct condition *ret = clause->ret;
	const char *begin = clause->at;
	struct text_word kind, stall, window;
	int err = parse_pressure_file(clause);

	if (err)
		return err;
	name_it(ret, "psi", begin, (size_t)(clause->at - begin));
	if (!clause_word(clause, "", &kind) || !(text_word_is(kind, "some") || text_word_is(kind, "full")))
		return clause_wrong(clause, kind.at, "then comes 'some' or 'full'");
	ret->full = text_word_is(kind, "full");
	if (!clause_word(clause, "/", &stall) || !clause_letter(clause, '/') || !clause_word(clause, "", &window))
		return clause_wrong(clause, stall.at, "then comes TIME/WINDOW, such as 150ms/1s");
	err = clause_time(clause, window, S / 2, 10 * S, &ret->window_ns);
	if (!err)
		err = clause_time(clause, stall, 1000, ret->window_ns, &ret->stall_ns);
	return err;
}

static const struct {
	const char *name, *regex;
} presets[] = {
	{ "lockup", "(soft|hard) lockup|rcu.*(detected stall|self-detected stall)" },
	{ "hung_task", "blocked for more than [0-9]+ seconds" },
	{ "oom", "invoked oom-killer|Out of memory" },
	{ "oops", "Oops|BUG:|general protection fault|WARNING: " },
};

/*
 * The C library copies what is repeated, so the memory of an expression doubles with each repetition of a repetition.
 * Returns the place of what is too much; NULL: nothing is.
 */
static const char *find_excess(const char *regex)
{
	unsigned depth = 0;

	for (const char *at = regex; *at; at++) {
		if (*at == '\\' && at[1]) {
			at++;
			continue;
		}
		depth += *at == '(';
		depth -= *at == ')' && depth;
		if (depth > DEPTH_MAX || *at == '{' || (strchr("*+?", *at) && at[1] && strchr("*+?", at[1])))
			return at;
	}
	return NULL;
}

static int parse_kmsg(struct clause *clause)
{
	struct condition *ret = clause->ret;
	const char *text = clause->at, *regex = text, *excess;
	char why[256];
	regex_t compiled;
	int err;

	if (!*text)
		return clause_wrong(clause, text,
				    "which line? Give a regular expression, or lockup, hung_task, oom, oops");
	for (size_t i = 0; i < array_size(presets); i++)
		if (!strcmp(presets[i].name, text))
			regex = presets[i].regex;
	excess = find_excess(regex);
	if (excess)
		return clause_wrong(clause, excess,
				    "an expression here has no {N}, no repetition of a repetition, and at most %d "
				    "parentheses in one another",
				    DEPTH_MAX);
	err = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &compiled, why, sizeof(why));
		return clause_wrong(clause, text, "no regular expression: %s", why);
	}
	regfree(&compiled);
	name_it(ret, "kmsg", text, strlen(text));
	clause->at += strlen(clause->at);
	ret->text = strdup(regex);
	return ret->text ? 0 : fail_memory(clause->fail);
}

static int parse_command(struct clause *clause)
{
	struct condition *ret = clause->ret;
	struct text_word word, time;
	const char *close;
	int err;

	if (!clause_letter(clause, '\''))
		return clause_wrong(clause, clause->at, "a command stands between single quotes");
	close = strchr(clause->at, '\'');
	if (!close)
		return clause_wrong(clause, clause->at, "the second quote is missing");
	if (close == clause->at)
		return clause_wrong(clause, clause->at, "there is no command between the quotes");
	name_it(ret, "command", clause->at, strcspn(clause->at, " '"));
	err = clause_copy(clause, (struct text_word){ clause->at, (size_t)(close - clause->at) }, &ret->text);
	clause->at = close + 1;
	if (err)
		return err;
	if (!clause_word(clause, "", &word) || !text_word_is(word, "every") || !clause_word(clause, "", &time))
		return clause_wrong(clause, word.at, "then comes 'every TIME', such as every 5s");
	return clause_time(clause, time, S / 10, 86400 * S, &ret->every_ns);
}

static const struct {
	const char *name;
	int (*parse)(struct clause *clause);
	enum condition_kind kind;
	const struct condition_noise *noise; /* if there is one, '>' follows the name, and not ':' */
} kinds[] = {
	{ "event", parse_event, CONDITION_EVENT, NULL },
	{ "exit", parse_exit, CONDITION_EVENT, NULL },
	{ "signal", parse_signal, CONDITION_EVENT, NULL },
	{ "latency", parse_latency, CONDITION_LATENCY, NULL },
	{ "timerlat", parse_noise, CONDITION_NOISE, &timerlat },
	{ "osnoise", parse_noise, CONDITION_NOISE, &osnoise },
	{ "psi", parse_psi, CONDITION_PSI, NULL },
	{ "kmsg", parse_kmsg, CONDITION_KMSG, NULL },
	{ "command", parse_command, CONDITION_COMMAND, NULL },
};

const struct condition_noise *condition_noise_of(const char *tracer)
{
	for (size_t i = 0; i < array_size(kinds); i++)
		if (kinds[i].noise && !strcmp(kinds[i].noise->tracer, tracer))
			return kinds[i].noise;
	return NULL;
}

/* Takes "NAME=" at the beginning, if it is there. */
static int parse_name(struct clause *clause)
{
	const char *at = clause->at;

	while (is_name_letter(*at))
		at++;
	if (*at != '=')
		return 0;
	if (at == clause->at || at - clause->at >= CONDITION_NAME)
		return clause_wrong(clause, clause->at, "a name has 1 to %d letters", CONDITION_NAME - 1);
	snprintf(clause->ret->name, CONDITION_NAME, "%.*s", (int)(at - clause->at), clause->at);
	clause->at = at + 1;
	return 0;
}

static int parse_kind(struct clause *clause)
{
	cleanup_free char *name = NULL;
	struct text_word word;
	struct near near;
	char hint[256];
	int err;

	(void)!clause_word(clause, ":>", &word);
	err = clause_copy(clause, word, &name);
	if (err)
		return err;
	near = near_to(name);
	for (size_t i = 0; i < array_size(kinds); i++) {
		near_offer(&near, kinds[i].name);
		if (strcmp(kinds[i].name, name))
			continue;
		clause->ret->kind = kinds[i].kind;
		clause->ret->noise = kinds[i].noise;
		if (!clause_letter(clause, kinds[i].noise ? '>' : ':'))
			return clause_wrong(clause, clause->at, "%s is missing after '%s'",
					    kinds[i].noise ? "'>'" : "a colon", name);
		return kinds[i].parse(clause);
	}
	if (!strcmp(name, "unit"))
		return clause_wrong(clause, word.at,
				    "a unit fires a flight by itself: OnFailure=weft-dump@%%n.service in the unit, see "
				    "weft-flight(1)");
	near_hint(&near, hint, sizeof(hint));
	return clause_wrong(
		clause, word.at,
		"a condition begins with event:, exit:, signal:, latency:, timerlat>, osnoise>, psi:, kmsg: or "
		"command:%s%s",
		*hint ? "; " : "", hint);
}

int condition_parse(const char *text, struct condition *ret, struct fail *fail)
{
	struct condition condition = { .name = "" };
	struct clause clause = { .text = text, .at = text, .ret = &condition, .fail = fail };
	int err = 0;

	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			return fail_set(fail, -EINVAL, "a condition is one line of text");
	if (strlen(text) > TEXT_MAX)
		return fail_set(fail, -EINVAL, "a condition has at most %d letters", TEXT_MAX);
	err = parse_name(&clause);
	if (!err)
		err = parse_kind(&clause);
	if (!err)
		err = clause_end(&clause);
	if (err) {
		condition_release(&condition);
		return err;
	}
	if (!*condition.name)
		snprintf(condition.name, sizeof(condition.name), "unnamed");
	*ret = condition;
	return 0;
}

void condition_release(struct condition *condition)
{
	free(condition->event);
	free(condition->filter);
	free(condition->text);
	*condition = (struct condition){ .name = "" };
}
