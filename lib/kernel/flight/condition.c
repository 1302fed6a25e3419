// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/condition.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/pairs.h"

/* How the words of a condition are taken one after the other. What is wrong is shown with a caret under its place. */
struct condition_words {
	const char *text; /* the whole text */
	const char *at;   /* what is not parsed yet */
	struct condition *ret;
	struct fail *fail;
};

/* Sets the message, with the text and a caret under `at`. Returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int condition_words_wrong(const struct condition_words *words, const char *at,
								const char *format, ...);

void condition_words_skip(struct condition_words *words);
/* Takes a word up to a blank or one of `ends`. False: there is none. */
bool must_check condition_words_word(struct condition_words *words, const char *ends, struct text_word *ret);
bool must_check condition_words_letter(struct condition_words *words, char letter);
/* Nothing may be left but blanks. */
int must_check condition_words_end(struct condition_words *words);

/* What a word says. The caller frees the copy. */
int must_check condition_words_copy(const struct condition_words *words, struct text_word word, char **ret);
int must_check condition_words_number(struct condition_words *words, struct text_word word, uint64_t max,
				      uint64_t *ret);
int must_check condition_words_time(struct condition_words *words, struct text_word word, uint64_t min, uint64_t max,
				    uint64_t *ret);

int condition_words_wrong(const struct condition_words *words, const char *at, const char *format, ...)
{
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return fail_set(words->fail, -EINVAL, "%s\n  %s\n  %*s^", message, words->text, (int)(at - words->text), "");
}

void condition_words_skip(struct condition_words *words)
{
	while (text_is_blank(*words->at))
		words->at++;
}

bool condition_words_word(struct condition_words *words, const char *ends, struct text_word *ret)
{
	condition_words_skip(words);
	ret->at = words->at;
	while (*words->at && !text_is_blank(*words->at) && !strchr(ends, *words->at))
		words->at++;
	ret->len = (size_t)(words->at - ret->at);
	return ret->len;
}

bool condition_words_letter(struct condition_words *words, char letter)
{
	if (*words->at != letter)
		return false;
	words->at++;
	return true;
}

int condition_words_end(struct condition_words *words)
{
	condition_words_skip(words);
	return *words->at ? condition_words_wrong(words, words->at, "nothing more is expected here") : 0;
}

int condition_words_copy(const struct condition_words *words, struct text_word word, char **ret)
{
	*ret = strndup(word.at, word.len);
	return *ret ? 0 : fail_memory(words->fail);
}

int condition_words_number(struct condition_words *words, struct text_word word, uint64_t max, uint64_t *ret)
{
	cleanup_free char *text = NULL;
	struct fail why;
	int err = condition_words_copy(words, word, &text);

	if (!err && text_parse_range(text, 0, max, ret, &why))
		return condition_words_wrong(words, word.at, "%s", why.text);
	return err;
}

int condition_words_time(struct condition_words *words, struct text_word word, uint64_t min, uint64_t max,
			 uint64_t *ret)
{
	char least[TEXT_HUMAN], most[TEXT_HUMAN];
	cleanup_free char *text = NULL;
	struct fail why;
	int err = condition_words_copy(words, word, &text);

	if (err)
		return err;
	if (text_parse_time(text, ret, &why))
		return condition_words_wrong(words, word.at, "%s", why.text);
	if (*ret < min || *ret > max)
		return condition_words_wrong(words, word.at, "this time is from %s to %s", text_time(least, min),
					     text_time(most, max));
	return 0;
}

enum { DEPTH_MAX = 6, COMM_MAX = TASK_COMM_LEN - 1, TEXT_MAX = 512, SIGNALS_MAX = 64 };

#define S NS_PER_S

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

/* Those whom an option selects, too; the word of a process is its PID or its program. */
static const enum who_part of_parts[] = { WHO_PROCESS, WHO_UNIT, WHO_CONTAINER, WHO_POD, WHO_CGROUP };

static int parse_part(const struct condition_words *words, struct text_word word, enum who_part *ret)
{
	for (size_t i = 0; i < array_size(of_parts); i++) {
		if (!text_word_is(word, who_part_word(of_parts[i])))
			continue;
		*ret = of_parts[i];
		return 0;
	}
	return condition_words_wrong(words, word.at,
				     "'of' is followed by process, unit, container, pod or cgroup, as in of "
				     "unit:nginx");
}

/* Takes "of PART:NAME", if it comes next. */
static int parse_of(struct condition_words *words)
{
	struct condition *ret = words->ret;
	const char *before = words->at;
	struct text_word word, name;
	char *copy;
	int err;

	if (!condition_words_word(words, "", &word) || !text_word_is(word, "of")) {
		words->at = before;
		return 0;
	}
	(void)!condition_words_word(words, ":", &word);
	err = parse_part(words, word, &ret->of.part);
	if (err)
		return err;
	if (!condition_words_letter(words, ':') || !condition_words_word(words, "", &name))
		return condition_words_wrong(words, words->at, "whose? Give a name, as in of %s:%s",
					     who_part_word(ret->of.part),
					     ret->of.part == WHO_CGROUP ? "/user.slice" : "nginx");
	err = condition_words_copy(words, name, &copy);
	ret->of.word = err ? NULL : copy;
	return err;
}

static int parse_filter(struct condition_words *words)
{
	struct text_word word;

	if (!condition_words_word(words, "", &word))
		return 0;
	if (!text_word_is(word, "if"))
		return condition_words_wrong(words, word.at, "here comes 'if FILTER', or nothing");
	condition_words_skip(words);
	if (!*words->at)
		return condition_words_wrong(words, words->at, "there is no filter after 'if'");
	words->ret->filter = strdup(words->at);
	words->at += strlen(words->at);
	return words->ret->filter ? 0 : fail_memory(words->fail);
}

static int parse_event(struct condition_words *words)
{
	struct condition *ret = words->ret;
	struct text_word system, event;
	int err;

	if (!condition_words_word(words, ":", &system) || !condition_words_letter(words, ':') ||
	    !condition_words_word(words, ":", &event))
		return condition_words_wrong(words, words->at, "an event is given as SYSTEM:EVENT");
	if (memchr(system.at, '*', (size_t)(words->at - system.at)))
		return condition_words_wrong(words, system.at, "a condition has one event, not a pattern");
	err = condition_words_copy(words, (struct text_word){ system.at, (size_t)(words->at - system.at) },
				   &ret->event);
	name_it(ret, NULL, event.at, event.len);
	if (!err)
		err = parse_of(words);
	return err ? err : parse_filter(words);
}

static int check_comm(const struct condition_words *words, struct text_word comm)
{
	if (comm.len > COMM_MAX)
		return condition_words_wrong(words, comm.at, "the kernel knows the first %d letters of a task's name",
					     COMM_MAX);
	if (memchr(comm.at, '"', comm.len))
		return condition_words_wrong(words, comm.at, "a name cannot have quotes here");
	return 0;
}

/* The operator and the number behind "status". */
static int parse_status(struct condition_words *words, char operator[3], uint64_t *ret)
{
	struct text_word word;

	condition_words_skip(words);
	if (strncmp(words->at, "==", 2) && strncmp(words->at, "!=", 2))
		return condition_words_wrong(words, words->at, "'status' needs == or !=, and a number");
	snprintf(operator, 3, "%s", words->at);
	words->at += 2;
	if (!condition_words_word(words, "", &word))
		return condition_words_wrong(words, words->at, "there is no status to compare with");
	return condition_words_number(words, word, 255, ret);
}

static int parse_exit(struct condition_words *words)
{
	struct condition *ret = words->ret;
	struct text_word comm, word;
	char operator[3] = "!=";
	uint64_t status = 0;
	int err;

	if (!condition_words_word(words, "", &comm))
		return condition_words_wrong(words, words->at, "whose exit? Give the name of a task");
	err = check_comm(words, comm);
	if (!err)
		err = parse_of(words);
	if (!err && !ret->of.word && condition_words_word(words, "=!", &word)) {
		if (!text_word_is(word, "status"))
			return condition_words_wrong(words, word.at,
						     "after the name comes status!=N or status==N, or nothing");
		err = parse_status(words, operator, & status);
		if (!err)
			err = parse_of(words);
	}
	if (err)
		return err;
	name_it(ret, "exit", comm.at, comm.len);
	ret->event = strdup("syscalls:sys_enter_exit_group");
	if (asprintf(&ret->filter, "comm == \"%.*s\" && error_code %s %" PRIu64, (int)comm.len, comm.at, operator,
		     status) < 0)
		ret->filter = NULL;
	return ret->event && ret->filter ? 0 : fail_memory(words->fail);
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

static int find_signal(struct condition_words *words, struct text_word word, int *ret)
{
	cleanup_free char *name = NULL;
	struct near near;
	char hint[256];
	uint64_t number;
	const char *bare;
	int err = condition_words_copy(words, word, &name);

	if (err)
		return err;
	if (*name >= '0' && *name <= '9') {
		err = condition_words_number(words, word, SIGNALS_MAX, &number);
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
	return condition_words_wrong(words, word.at, "no signal '%s'%s%s", bare, *hint ? "; " : "", hint);
}

static int parse_signal(struct condition_words *words)
{
	struct condition *ret = words->ret;
	struct text_word signal, comm = { .len = 0 };
	int number = 0, err, len;

	if (!condition_words_word(words, "", &signal))
		return condition_words_wrong(words, words->at, "which signal? Give a name such as SEGV, or a number");
	err = find_signal(words, signal, &number);
	if (!err)
		err = parse_of(words);
	if (!err && !ret->of.word && condition_words_word(words, "", &comm)) {
		err = check_comm(words, comm);
		if (!err)
			err = parse_of(words);
	}
	if (err)
		return err;
	/* The task that gets it. */
	ret->of_field = "pid";
	name_it(ret, "signal", signal.at, signal.len);
	ret->event = strdup("signal:signal_generate");
	len = comm.len ? asprintf(&ret->filter, "sig == %d && comm == \"%.*s\"", number, (int)comm.len, comm.at) :
			 asprintf(&ret->filter, "sig == %d", number);
	if (len < 0)
		ret->filter = NULL;
	return ret->event && ret->filter ? 0 : fail_memory(words->fail);
}

static int parse_pressure_file(struct condition_words *words)
{
	static const char *const resources[] = { "cpu", "memory", "io", "irq" };
	struct text_word word;
	struct near near;
	cleanup_free char *name = NULL;
	char hint[256];
	int err;

	if (!condition_words_word(words, "", &word))
		return condition_words_wrong(words, words->at,
					     "the pressure of what? cpu, memory, io, irq or a file of a cgroup");
	err = condition_words_copy(words, word, &name);
	if (err)
		return err;
	if (*name == '/') {
		words->ret->text = take(name);
		return 0;
	}
	near = near_to(name);
	for (size_t i = 0; i < array_size(resources); i++) {
		if (!strcmp(name, resources[i]))
			return asprintf(&words->ret->text, "/proc/pressure/%s", name) < 0 ? fail_memory(words->fail) :
											    0;
		near_offer(&near, resources[i]);
	}
	near_hint(&near, hint, sizeof(hint));
	return condition_words_wrong(words, word.at, "the kernel measures no pressure of '%s'%s%s", name,
				     *hint ? "; " : "", hint);
}

/* What can be measured, of the table of pairs, and the fields that the event of the latency has. */
static const struct {
	const char *name, *keys;
} measured[] = {
	{ "wakeup", "next_comm,next_prio,lat.log2" }, { "softirq", "vec,lat.log2" }, { "irq", "irq,lat.log2" },
	{ "block", "dev,sector,lat.log2" },           { "syscall", "id,lat.log2" },  { "lock", "lock_addr,lat.log2" },
};

static int find_pair(struct condition_words *words, struct text_word word)
{
	cleanup_free char *name = NULL;
	int err = condition_words_copy(words, word, &name);
	struct near near;
	char hint[256];

	if (err)
		return err;
	near = near_to(name);
	for (size_t i = 0; i < array_size(measured); i++) {
		near_offer(&near, measured[i].name);
		if (strcmp(measured[i].name, name))
			continue;
		words->ret->pair = pairs_named(name);
		words->ret->keys = measured[i].keys;
		return 0;
	}
	near_hint(&near, hint, sizeof(hint));
	return condition_words_wrong(words, word.at, "latencies: wakeup, softirq, irq, block, syscall, lock%s%s",
				     *hint ? "; " : "", hint);
}

/* A latency of a task: the matching fields begin with its PID. */
static int parse_whose_latency(struct condition_words *words)
{
	struct condition *ret = words->ret;
	const char *match = ret->pair->match;
	int err = parse_of(words);

	if (err || !ret->of.word)
		return err;
	if (!strcmp(match, "pid=next_pid"))
		ret->of_field = "next_pid";
	else if (strncmp(match, "common_pid", strlen("common_pid")))
		return condition_words_wrong(
			words, words->text + strlen(words->text),
			"'of' is for wakeup, syscall and lock: an interrupt or a request is no task's");
	return 0;
}

static int parse_latency(struct condition_words *words)
{
	struct condition *ret = words->ret;
	struct text_word word;
	const char *rest;
	int err;

	(void)!condition_words_word(words, "=<>", &word);
	err = find_pair(words, word);
	if (err)
		return err;
	name_it(ret, NULL, word.at, word.len);
	condition_words_skip(words);
	if (!condition_words_letter(words, '>') || !condition_words_word(words, "", &word))
		return condition_words_wrong(words, words->at, "then comes >TIME, such as >5ms");
	err = condition_words_time(words, word, 1000, 3600 * S, &ret->longer_ns);
	if (err)
		return err;
	rest = words->at;
	ret->streamed = condition_words_word(words, "", &word) && text_word_is(word, "streamed");
	if (!ret->streamed)
		words->at = rest;
	err = parse_whose_latency(words);
	return err ? err : parse_filter(words);
}

/* A name may have blanks, so the last '>' ends it. */
static int parse_mark(struct condition_words *words)
{
	struct condition *ret = words->ret;
	const char *begin, *end = strrchr(words->at, '>');
	struct text_word word;
	int err;

	condition_words_skip(words);
	begin = words->at;
	if (!end)
		return condition_words_wrong(words, words->at, "a mark is NAME>TIME, such as parse*>20ms");
	words->at = end + 1;
	while (end > begin && text_is_blank(end[-1]))
		end--;
	if (end == begin)
		return condition_words_wrong(words, begin, "which mark? Give a name or a glob such as '*'");
	name_it(ret, "mark", begin, (size_t)(end - begin));
	err = condition_words_copy(words, (struct text_word){ begin, (size_t)(end - begin) }, &ret->text);
	if (err)
		return err;
	if (!condition_words_word(words, "", &word))
		return condition_words_wrong(words, words->at, "then comes TIME, such as 20ms");
	err = condition_words_time(words, word, 1000, 3600 * S, &ret->longer_ns);
	return err ? err : parse_of(words);
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
static int parse_noise(struct condition_words *words)
{
	struct condition *ret = words->ret;
	struct text_word word;
	int err;

	if (!condition_words_word(words, "", &word))
		return condition_words_wrong(words, words->at, "then comes TIME, such as 50us");
	name_it(ret, NULL, ret->noise->tracer, strlen(ret->noise->tracer));
	err = condition_words_time(words, word, ret->noise->least_ns, 3600 * S, &ret->longer_ns);
	if (!err && ret->longer_ns % 1000)
		return condition_words_wrong(words, word.at, "the kernel takes whole microseconds here");
	return err;
}

/* window_min_ns and window_max_ns of kernel/sched/psi.c: 500 ms to 10 s. */
static int parse_psi(struct condition_words *words)
{
	struct condition *ret = words->ret;
	const char *begin = words->at;
	struct text_word kind, stall, window;
	int err = parse_pressure_file(words);

	if (err)
		return err;
	name_it(ret, "psi", begin, (size_t)(words->at - begin));
	if (!condition_words_word(words, "", &kind) || !(text_word_is(kind, "some") || text_word_is(kind, "full")))
		return condition_words_wrong(words, kind.at, "then comes 'some' or 'full'");
	ret->full = text_word_is(kind, "full");
	if (!condition_words_word(words, "/", &stall) || !condition_words_letter(words, '/') ||
	    !condition_words_word(words, "", &window))
		return condition_words_wrong(words, stall.at, "then comes TIME/WINDOW, such as 150ms/1s");
	err = condition_words_time(words, window, S / 2, 10 * S, &ret->window_ns);
	if (!err)
		err = condition_words_time(words, stall, 1000, ret->window_ns, &ret->stall_ns);
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

static int parse_kmsg(struct condition_words *words)
{
	struct condition *ret = words->ret;
	const char *text = words->at, *regex = text, *excess;
	char why[256];
	regex_t compiled;
	int err;

	if (!*text)
		return condition_words_wrong(words, text,
					     "which line? Give a regular expression, or lockup, hung_task, oom, oops");
	for (size_t i = 0; i < array_size(presets); i++)
		if (!strcmp(presets[i].name, text))
			regex = presets[i].regex;
	excess = find_excess(regex);
	if (excess)
		return condition_words_wrong(
			words, excess,
			"an expression here has no {N}, no repetition of a repetition, and at most %d "
			"parentheses in one another",
			DEPTH_MAX);
	err = regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &compiled, why, sizeof(why));
		return condition_words_wrong(words, text, "no regular expression: %s", why);
	}
	regfree(&compiled);
	name_it(ret, "kmsg", text, strlen(text));
	words->at += strlen(words->at);
	ret->text = strdup(regex);
	return ret->text ? 0 : fail_memory(words->fail);
}

static int parse_command(struct condition_words *words)
{
	struct condition *ret = words->ret;
	struct text_word word, time;
	const char *close;
	int err;

	if (!condition_words_letter(words, '\''))
		return condition_words_wrong(words, words->at, "a command stands between single quotes");
	close = strchr(words->at, '\'');
	if (!close)
		return condition_words_wrong(words, words->at, "the second quote is missing");
	if (close == words->at)
		return condition_words_wrong(words, words->at, "there is no command between the quotes");
	name_it(ret, "command", words->at, strcspn(words->at, " '"));
	err = condition_words_copy(words, (struct text_word){ words->at, (size_t)(close - words->at) }, &ret->text);
	words->at = close + 1;
	if (err)
		return err;
	if (!condition_words_word(words, "", &word) || !text_word_is(word, "every") ||
	    !condition_words_word(words, "", &time))
		return condition_words_wrong(words, word.at, "then comes 'every TIME', such as every 5s");
	return condition_words_time(words, time, S / 10, 86400 * S, &ret->every_ns);
}

static const struct {
	const char *name;
	int (*parse)(struct condition_words *words);
	enum condition_kind kind;
	const struct condition_noise *noise; /* if there is one, '>' follows the name, and not ':' */
} kinds[] = {
	{ "event", parse_event, CONDITION_EVENT, NULL },       { "exit", parse_exit, CONDITION_EVENT, NULL },
	{ "signal", parse_signal, CONDITION_EVENT, NULL },     { "latency", parse_latency, CONDITION_LATENCY, NULL },
	{ "mark", parse_mark, CONDITION_MARK, NULL },          { "timerlat", parse_noise, CONDITION_NOISE, &timerlat },
	{ "osnoise", parse_noise, CONDITION_NOISE, &osnoise }, { "psi", parse_psi, CONDITION_PSI, NULL },
	{ "kmsg", parse_kmsg, CONDITION_KMSG, NULL },          { "command", parse_command, CONDITION_COMMAND, NULL },
};

const struct condition_noise *condition_noise_of(const char *tracer)
{
	for (size_t i = 0; i < array_size(kinds); i++)
		if (kinds[i].noise && !strcmp(kinds[i].noise->tracer, tracer))
			return kinds[i].noise;
	return NULL;
}

/* Takes "NAME=" at the beginning, if it is there. */
static int parse_name(struct condition_words *words)
{
	const char *at = words->at;

	while (is_name_letter(*at))
		at++;
	if (*at != '=')
		return 0;
	if (at == words->at || at - words->at >= CONDITION_NAME)
		return condition_words_wrong(words, words->at, "a name has 1 to %d letters", CONDITION_NAME - 1);
	snprintf(words->ret->name, CONDITION_NAME, "%.*s", (int)(at - words->at), words->at);
	words->at = at + 1;
	return 0;
}

static int parse_kind(struct condition_words *words)
{
	cleanup_free char *name = NULL;
	struct text_word word;
	struct near near;
	char hint[256];
	int err;

	(void)!condition_words_word(words, ":>", &word);
	err = condition_words_copy(words, word, &name);
	if (err)
		return err;
	near = near_to(name);
	for (size_t i = 0; i < array_size(kinds); i++) {
		near_offer(&near, kinds[i].name);
		if (strcmp(kinds[i].name, name))
			continue;
		words->ret->kind = kinds[i].kind;
		words->ret->noise = kinds[i].noise;
		if (!condition_words_letter(words, kinds[i].noise ? '>' : ':'))
			return condition_words_wrong(words, words->at, "%s is missing after '%s'",
						     kinds[i].noise ? "'>'" : "a colon", name);
		return kinds[i].parse(words);
	}
	if (!strcmp(name, "unit"))
		return condition_words_wrong(
			words, word.at,
			"a unit fires a flight by itself: OnFailure=weft-dump@%%n.service in the unit, see "
			"weft-flight(1)");
	near_hint(&near, hint, sizeof(hint));
	return condition_words_wrong(
		words, word.at,
		"a condition begins with event:, exit:, signal:, latency:, mark:, timerlat>, osnoise>, psi:, kmsg: or "
		"command:%s%s",
		*hint ? "; " : "", hint);
}

int condition_parse(const char *text, struct condition *ret, struct fail *fail)
{
	struct condition condition = { .name = "" };
	struct condition_words words = { .text = text, .at = text, .ret = &condition, .fail = fail };
	int err = 0;

	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			return fail_set(fail, -EINVAL, "a condition is one line of text");
	if (strlen(text) > TEXT_MAX)
		return fail_set(fail, -EINVAL, "a condition has at most %d letters", TEXT_MAX);
	err = parse_name(&words);
	if (!err)
		err = parse_kind(&words);
	if (!err)
		err = condition_words_end(&words);
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
	free((char *)condition->of.word);
	*condition = (struct condition){ .name = "" };
}
