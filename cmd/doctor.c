// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/options/answer.h"
#include "cmd/options/kernel.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/buffer/cpu_pipe.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/setup/tasks.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/tracefs/users.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

/*
 * Prints one line for each thing that tracing needs or offers, those first on which others depend. Every line begins
 * with a verdict, so that problems are seen at once.
 */
struct doctor {
	struct kernel kernel;
	struct cpus online;
	bool ill; /* a recording would fail */
	struct answer answer;
	struct elsewhere_arguments elsewhere;
};

enum verdict { OK, LACKS, BAD, NOTE };

/* Prints the text behind the verdict and the subject, broken between words. */
static void print_wrapped(const char *text)
{
	enum { WIDTH = 100, INDENT = 18 };

	while (strlen(text) > WIDTH) {
		size_t len = WIDTH;

		while (len && text[len] != ' ')
			len--;
		if (!len)
			break;
		printf("%.*s\n%*s", (int)len, text, INDENT, "");
		text += len + 1;
	}
	puts(text);
}

static void __attribute__((format(printf, 4, 5)))
tell(struct doctor *doctor, enum verdict verdict, const char *subject, const char *format, ...)
{
	static const char *const words[] = { "ok", "lacks", "BAD", "note" };
	struct json *json = &doctor->answer.json;
	char text[2048];
	va_list args;

	doctor->ill |= verdict == BAD;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!doctor->answer.is_json) {
		printf("%-5s  %-10s ", words[verdict], subject);
		print_wrapped(text);
		return;
	}
	json_object(json);
	answer_text(json, "verdict", words[verdict]);
	answer_text(json, "subject", subject);
	answer_text(json, "text", text);
	json_end(json);
}

/* Returns "" if the file cannot be read. */
static const char *text_of(const char *path, struct buf *buf)
{
	if (tracing_read_path(path, buf, NULL))
		buf_clear(buf);
	return buf_str(buf);
}

static void tell_kernel(struct doctor *doctor)
{
	struct utsname name;

	if (tracing_online_cpus(&doctor->online, NULL))
		cpus_add(&doctor->online, 0);
	if (!uname(&name))
		tell(doctor, OK, "kernel", "%s %s %s, %u CPUs", name.sysname, name.release, name.machine,
		     cpus_count(&doctor->online));
}

static void tell_lockdown(struct doctor *doctor)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *text = text_of("/sys/kernel/security/lockdown", &buf);

	if (!*text)
		return;
	if (strstr(text, "[confidentiality]"))
		tell(doctor, BAD, "lockdown",
		     "confidentiality: the kernel forbids all tracing (boot with lockdown=integrity or none)");
	else
		tell(doctor, OK, "lockdown", strstr(text, "[integrity]") ? "integrity: events may be traced" : "none");
}

static bool tell_tracefs(struct doctor *doctor)
{
	struct fail fail = FAIL_INIT;
	struct stat st;

	if (kernel_open(&doctor->kernel, NULL, &fail)) {
		tell(doctor, BAD, "tracefs", "%s", fail.text);
		return false;
	}
	if (stat(doctor->kernel.tracing.dir, &st))
		memset(&st, 0, sizeof(st));
	if (geteuid())
		tell(doctor, OK, "tracefs",
		     "%s, mode %03o, group %u; you are not root: writing what only root may write fails",
		     doctor->kernel.tracing.dir, (unsigned)st.st_mode & 0777, (unsigned)st.st_gid);
	else
		tell(doctor, OK, "tracefs", "%s, and you are root", doctor->kernel.tracing.dir);
	return true;
}

/* Enables an event for a moment: one that hardly ever happens. */
static int try_event(struct instance *instance, struct fail *fail)
{
	static const char *const events[] = { "events/sched/sched_process_wait/enable",
					      "events/irq/irq_handler_exit/enable" };

	for (size_t i = 0; i < array_size(events); i++)
		if (instance_has(instance, events[i])) {
			int err = instance_write(instance, events[i], "1", fail);

			return err ? err : instance_write(instance, events[i], "0", fail);
		}
	return fail_set(fail, -ENOENT, "this kernel has none of the scheduler's and the interrupts' events");
}

/*
 * Traces only this process and its parent, as record -F does for a command: old kernels take lists of tasks in another
 * way.
 */
static int try_tasks(struct instance *instance, struct fail *fail)
{
	pid_t pids[] = { getpid(), getppid() };
	bool follow = option_exists(instance, "event-fork");
	/* A parent in another PID namespace has PID 0 here. */
	int err = kernel_tasks_only(instance, pids, pids[1] ? 2 : 1, false, follow, fail);

	return err ? err : kernel_tasks_all(instance, false, fail);
}

/* Tries the pipe of each CPU, because a recording needs them all. */
static int try_pipes(const struct doctor *doctor, const struct instance *instance, struct fail *fail)
{
	struct page_shape shape;
	int err = ring_buffer_shape(instance, &shape, fail);

	for (int cpu = cpus_next(&doctor->online, 0); !err && cpu >= 0; cpu = cpus_next(&doctor->online, cpu + 1)) {
		struct cpu_pipe pipe = CPU_PIPE_INIT;

		err = cpu_pipe_open(instance, (uint32_t)cpu, shape.size, &pipe, fail);
		cpu_pipe_close(&pipe);
	}
	return err;
}

/* Makes a tiny recording: what weft record does first, and last. */
static int try_recording(struct doctor *doctor, struct fail *fail)
{
	struct instance *instance = NULL;
	struct undo *undo = NULL;
	int err = undo_new(&doctor->kernel.tracing, NULL, &undo, fail), also;

	if (!err)
		err = instance_new_private(&doctor->kernel.tracing, undo, &instance, fail);
	if (!err)
		err = try_tasks(instance, fail);
	if (!err)
		err = try_event(instance, fail);
	if (!err)
		err = try_pipes(doctor, instance, fail);
	if (!err)
		err = instance_write(instance, "tracing_on", "1", fail);
	if (!err)
		err = instance_write(instance, "tracing_on", "0", fail);
	also = instance_close(instance, err ? NULL : fail);
	/* The journal has nothing but the instance, which is closed: this removes the journal. */
	if (undo && undo_restore(undo, also || err ? NULL : fail) && !also)
		also = -EIO;
	undo_free(undo);
	return err ? err : also;
}

static void tell_recording(struct doctor *doctor)
{
	struct fail fail = FAIL_INIT;

	if (try_recording(doctor, &fail))
		tell(doctor, BAD, "recording", "%s", fail.text);
	else
		tell(doctor, OK, "recording",
		     "works: an instance was made, tasks selected, an event and tracing switched on and off, "
		     "each buffer opened, all removed");
}

static void tell_memory(struct doctor *doctor)
{
	cleanup_buf struct buf text = BUF_INIT;
	char one[TEXT_HUMAN], all[TEXT_HUMAN], have[TEXT_HUMAN];
	uint64_t size = ring_buffer_size(doctor->kernel.instance), total = size * cpus_count(&doctor->online),
		 available = 0;

	if (number_after(text_of("/proc/meminfo", &text), "MemAvailable:", &available))
		available *= 1024;
	tell(doctor, available && total > available / 2 ? NOTE : OK, "memory",
	     "buffers of %s per CPU are %s; %s are available", text_size(one, size), text_size(all, total),
	     text_size(have, available));
}

static void tell_events(struct doctor *doctor)
{
	struct fail fail = FAIL_INIT;
	struct catalog *catalog;
	char count[TEXT_HUMAN];
	size_t systems = 0;
	bool calls = false;

	if (catalog_new(&doctor->kernel.tracing, &catalog, &fail)) {
		tell(doctor, BAD, "events", "%s", fail.text);
		return;
	}
	for (size_t i = 0; i < catalog->nr; i++) {
		systems += !i || strcmp(catalog->events[i].system, catalog->events[i - 1].system);
		calls |= !strcmp(catalog->events[i].system, "syscalls");
	}
	tell(doctor, calls ? OK : LACKS, "events", "%s in %zu systems%s", text_count(count, catalog->nr), systems,
	     calls ? ", each system call among them" :
		     "; no system calls by name (CONFIG_FTRACE_SYSCALLS), perhaps raw_syscalls");
	catalog_free(catalog);
}

static void tell_functions(struct doctor *doctor)
{
	const struct instance *top = doctor->kernel.instance;
	struct fail fail = FAIL_INIT;
	cleanup_buf struct buf enabled = BUF_INIT;
	cleanup_fd int fd = -1;

	if (!instance_has(top, "available_filter_functions")) {
		tell(doctor, LACKS, "functions", "cannot be traced (CONFIG_FUNCTION_TRACER, CONFIG_DYNAMIC_FTRACE)");
	} else if (instance_open_file(top, "set_ftrace_filter", O_RDONLY, &fd, &fail)) {
		tell(doctor, LACKS, "functions", "%s", fail.text);
	} else if (*text_of("/proc/sys/kernel/ftrace_enabled", &enabled) == '0') {
		tell(doctor, LACKS, "functions",
		     "are switched off: sysctl kernel.ftrace_enabled=1 lets them be traced");
	} else {
		tell(doctor, OK, "functions", "can be traced");
	}
}

/* Adds to a list such as "a, b (CONFIG_X), c (CONFIG_Y)": neighbours with the same option share it. */
static void add_missing(struct buf *buf, const struct kconfig *missing, const char **option)
{
	if (*option && (!missing || !missing->option || strcmp(*option, missing->option)))
		buf_addf(buf, " (%s)", *option);
	if (missing)
		buf_addf(buf, "%s%s", buf->len ? ", " : "", missing->name);
	*option = missing ? missing->option : NULL;
}

static void tell_tracers(struct doctor *doctor)
{
	cleanup_buf struct buf have = BUF_INIT, lacks = BUF_INIT;
	const struct kconfig *known;
	const char *option = NULL;

	if (instance_read(doctor->kernel.instance, "available_tracers", &have, NULL))
		return;
	for (size_t i = 0; (known = kconfig_at(i)); i++)
		if (known->kind == KCONFIG_TRACER && !tracer_offered(doctor->kernel.instance, known->name))
			add_missing(&lacks, known, &option);
	add_missing(&lacks, NULL, &option);
	tell(doctor, OK, "tracers", "%.*s", (int)strcspn(buf_str(&have), "\n"), buf_str(&have));
	if (lacks.len)
		tell(doctor, LACKS, "tracers", "%s", buf_str(&lacks));
}

static void tell_features(struct doctor *doctor)
{
	static const struct {
		const char *name, *file;
	} features[] = {
		{ "kprobes", "kprobe_events" },
		{ "uprobes", "uprobe_events" },
		{ "synthetic events", "synthetic_events" },
		{ "histograms", "events/sched/sched_switch/hist" },
		{ "user events", "user_events_data" },
		{ "snapshots", "snapshot" },
		{ "stack tracer", "stack_trace" },
		{ "function profile", "function_profile_enabled" },
		{ "latencies", "tracing_max_latency" },
		{ "sub-buffer size", "buffer_subbuf_size_kb" },
	};
	cleanup_buf struct buf have = BUF_INIT, lacks = BUF_INIT;

	for (size_t i = 0; i < array_size(features); i++) {
		const struct kconfig *known = kconfig_find(KCONFIG_FILE, features[i].file);

		if (instance_has(doctor->kernel.instance, features[i].file))
			buf_addf(&have, "%s%s", have.len ? ", " : "", features[i].name);
		else if (!strcmp(features[i].name, "histograms"))
			buf_addf(&lacks, "%shistograms (CONFIG_HIST_TRIGGERS)", lacks.len ? ", " : "");
		else if (known && known->option)
			buf_addf(&lacks, "%s%s (%s)", lacks.len ? ", " : "", features[i].name, known->option);
		else if (known && known->since)
			buf_addf(&lacks, "%s%s (since Linux %s)", lacks.len ? ", " : "", features[i].name,
				 known->since);
	}
	if (have.len)
		tell(doctor, OK, "also", "%s", buf_str(&have));
	if (lacks.len)
		tell(doctor, LACKS, "also", "%s", buf_str(&lacks));
}

/*
 * Reports whether the first symbols have addresses. On some machines percpu symbols come first and have small
 * addresses, so several are read.
 */
static void tell_symbols(struct doctor *doctor)
{
	cleanup_file FILE *file = fopen("/proc/kallsyms", "re");
	cleanup_buf struct buf hidden = BUF_INIT;
	char line[512];
	const char *how;
	bool any = false, shown = false;

	for (unsigned i = 0; file && !shown && i < 20000 && fgets(line, sizeof(line), file); i++) {
		const char *at = line;
		uint64_t address;

		any = true;
		shown = number_hex(&at, &address) && address > 1 << 20;
	}
	if (shown) {
		tell(doctor, OK, "symbols", "functions can be named");
		return;
	}
	how = text_of("/proc/sys/kernel/kptr_restrict", &hidden);
	if (!any)
		tell(doctor, LACKS, "symbols",
		     "no /proc/kallsyms (CONFIG_KALLSYMS): functions are printed as addresses");
	else
		tell(doctor, LACKS, "symbols",
		     "addresses are hidden (kernel.kptr_restrict=%.*s%s): functions are printed as addresses",
		     (int)strcspn(how, "\n"), how, geteuid() ? ", and you are not root" : "");
}

static int tell_user(const struct tracing_user *user, void *data)
{
	tell(data, NOTE, "in use", "%s (process %d) has '%s' open", user->comm, (int)user->pid, user->file);
	return 0;
}

/* Reports lists of tasks that keep all other tasks from being traced. */
static void tell_tasks(struct doctor *doctor)
{
	static const char *const files[] = { "set_event_pid", "set_ftrace_pid" };
	const struct instance *top = doctor->kernel.instance;
	cleanup_buf struct buf pids = BUF_INIT;

	for (size_t i = 0; i < array_size(files); i++) {
		const char *nobody = kernel_tasks_nobody(top, files[i]);

		if (nobody)
			tell(doctor, NOTE, "tasks", "'%s' of the top instance %s; 'weft set -P \"\"' removes the list",
			     files[i], nobody);
	}
	if (option_get(top, "event-fork") > 0 && !instance_read(top, files[0], &pids, NULL) && !pids.len)
		tell(doctor, NOTE, "tasks",
		     "'%s' of the top instance may hold an empty list of tasks (the option event-fork is on), "
		     "which cannot be seen and means that no task is traced; 'weft set -P \"\"' removes the list",
		     files[0]);
}

static void tell_others(struct doctor *doctor)
{
	struct undo_pending pending;
	char on[8], tracer[64], words[KERNEL_WORDS];
	struct claim claim;
	unsigned at = 0;

	if (claim_find(NULL, "", &claim))
		tell(doctor, NOTE, "in use",
		     "'%s' (process %d%s) traces in the top instance, which only one weft can use at a time",
		     claim.command, (int)claim.owner.pid, claim.held ? ", ended, until 'weft reset'" : "");

	if (!instance_read_word(doctor->kernel.instance, "current_tracer", tracer, sizeof(tracer), NULL) &&
	    strcmp(tracer, "nop"))
		tell(doctor, NOTE, "in use", "the top instance runs the tracer %s; 'weft status' tells more", tracer);
	if (!instance_read_word(doctor->kernel.instance, "tracing_on", on, sizeof(on), NULL) && on[0] == '0')
		tell(doctor, NOTE, "in use",
		     "tracing is off in the top instance; recordings in an instance of their own are not affected");
	(void)!tracing_each_user(&doctor->kernel.tracing, tell_user, doctor);
	while (undo_next_pending(NULL, &at, &pending, NULL) > 0) {
		cleanup_buf struct buf remedy = BUF_INIT;

		(void)kernel_journal_remedy(&pending, &doctor->kernel.tracing, &remedy);
		tell(doctor, NOTE, "left", "process %d was killed and left behind %s; %s", (int)pending.pid,
		     kernel_journal_words(&pending, words), buf_str(&remedy));
	}
}

static const struct options_child children[] = {
	{ &answer_options, offsetof(struct doctor, answer), 0, NULL },
	{ &elsewhere_one_options, offsetof(struct doctor, elsewhere), 0, NULL },
	{ 0 },
};

static const struct options command_options = {
	.children = children,
	.doc = "Shows what can and cannot be traced on this kernel by this user, and why. It tries a small recording, "
	       "and leaves nothing behind.\v"
	       "The exit status is 1 when a recording would fail.",
};

static void look(struct doctor *doctor)
{
	tell_kernel(doctor);
	tell_lockdown(doctor);
	if (!tell_tracefs(doctor))
		return;
	tell_recording(doctor);
	tell_memory(doctor);
	tell_events(doctor);
	tell_functions(doctor);
	tell_tracers(doctor);
	tell_features(doctor);
	tell_symbols(doctor);
	tell_tasks(doctor);
	tell_others(doctor);
}

static int doctor_here(struct doctor *doctor)
{
	struct fail fail = FAIL_INIT;
	int status, r = 0;

	if (doctor->answer.is_json) {
		if (answer_begin(&doctor->answer, &fail))
			return command_failed(&fail);
		json_key(&doctor->answer.json, "findings");
		json_array(&doctor->answer.json);
	}
	look(doctor);
	if (doctor->answer.is_json) {
		json_end(&doctor->answer.json);
		answer_bool(&doctor->answer.json, "works", !doctor->ill);
		r = answer_end(&doctor->answer, &fail);
	}
	status = kernel_finish(&doctor->kernel, r, &fail);
	return status == EXIT_OK && doctor->ill ? EXIT_FAILED : status;
}

static int doctor_run(int argc, char **argv)
{
	struct doctor doctor = { .ill = false };
	int status;

	command_parse(&doctor_command, argc, argv, 0, &doctor);
	status = doctor.elsewhere.host ? elsewhere_command(&doctor.elsewhere, false) : doctor_here(&doctor);
	elsewhere_release(&doctor.elsewhere);
	return status;
}

static int doctor_far(int argc, char **argv, const struct far_side *far)
{
	struct doctor doctor = { .ill = false };
	int status;

	(void)far;
	command_parse(&doctor_command, argc, argv, 0, &doctor);
	status = doctor_here(&doctor);
	elsewhere_release(&doctor.elsewhere);
	return status;
}

/* clang-format off */
static const struct json_member members[] = {
	{ "findings[].verdict", "string", "ok, lacks, note, or BAD: then no recording works" },
	{ "findings[].subject", "string", "what was looked at" },
	{ "findings[].text", "string", "what was found" },
	{ "works", "boolean", "a recording would work" },
	{ 0 },
};
/* clang-format on */

const struct command doctor_command = {
	.name = "doctor",
	.summary = "show what can and cannot be traced here, and why",
	.brief = "what works here",
	.examples = "  weft doctor",
	.group = "kernel",
	.options = &command_options,
	.answer = members,
	.run = doctor_run,
	.run_far = doctor_far,
};
