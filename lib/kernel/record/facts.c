// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/facts_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/counters_internal.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/setup/kernel_pids.h"
#include "lib/kernel/setup/setup_probes.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/container_names.h"
#include "lib/kernel/tracefs/open_files.h"
#include "lib/kernel/tracefs/settings.h"
#include "lib/kernel/tracefs/task_scan.h"
#include "lib/kernel/tracefs/texts.h"
#include "lib/kernel/tracefs/withheld_scan.h"

/*
 * The size of the sample in bytes. Each line narrows the time of the reset further, so a long sample gives a precise
 * time.
 */
enum { LATENCY_SAMPLE = 4 << 20, LATENCY_SAMPLE_ON = 64 << 10 };

static int add(struct ledger *ledger, enum ledger_kind kind, uint32_t buffer, const char *key, const char *data,
	       size_t len, struct fail *fail)
{
	return ledger_add(ledger,
			  &(struct ledger_item){ .kind = kind, .buffer = buffer, .key = key, .data = data, .len = len },
			  fail);
}

static int add_file(struct ledger *ledger, const struct instance *instance, enum ledger_kind kind, const char *file,
		    struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err = instance_read(instance, file, &text, fail);

	return err ? err : add(ledger, kind, 0, "", buf_str(&text), text.len, fail);
}

static int add_format(struct ledger *ledger, const struct instance *instance, const char *system, const char *name,
		      struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *key = NULL;
	int err = event_format(instance, system, name, &text, fail);

	if (err)
		return err == -ENOENT ? 0 : err; /* the event was removed meanwhile, as with its module */
	if (asprintf(&key, "%s/%s", system, name) < 0) {
		key = NULL;
		return fail_memory(fail);
	}
	return add(ledger, LEDGER_FORMAT, 0, key, buf_str(&text), text.len, fail);
}

struct ftrace_formats {
	struct ledger *ledger;
	const struct instance *instance;
	struct fail *fail;
};

static int add_ftrace_format(const char *name, void *data)
{
	const struct ftrace_formats *formats = data;

	return add_format(formats->ledger, formats->instance, "ftrace", name, formats->fail);
}

/*
 * Adds the events that set_event lists, or listed when the target was set up: those enabled in an existing instance,
 * and those that a trigger may enable (lib/kernel/setup/late.h).
 */
static int add_enabled(struct event_set *set, const struct catalog *catalog, const struct target *target,
		       struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err = instance_read(target->instance, "set_event", &text, fail);

	if (!err && target->enabled.len && !buf_add(&text, target->enabled.data, target->enabled.len))
		return fail_memory(fail);
	at = buf_str(&text);
	left = text.len;
	while (!err && text_next_line(&at, &left, &line)) {
		cleanup_free char *name = strndup(line.at, line.len);

		if (!name)
			return fail_memory(fail);
		/* An event that was added after the catalog was read has no format there. */
		if (*name && event_set_add(set, catalog, name, NULL) == -ENOMEM)
			return fail_memory(fail);
	}
	return err;
}

static int add_formats(struct ledger *ledger, const struct target *targets, size_t nr, bool all, struct fail *fail)
{
	const struct catalog *catalog = targets[0].events.catalog;
	const struct instance *instance = targets[0].instance;
	struct event_set set = { .catalog = catalog };
	struct ftrace_formats formats = { ledger, instance, fail };
	int err = event_each_ftrace(instance, add_ftrace_format, &formats, fail);

	for (size_t i = 0; !err && i < nr; i++)
		err = add_enabled(&set, catalog, &targets[i], fail);
	for (size_t i = 0; !err && i < catalog->nr; i++) {
		const struct catalog_event *event = &catalog->events[i];

		if (strcmp(event->system, "ftrace") && (all || event_set_has(&set, i)))
			err = add_format(ledger, instance, event->system, event->name, fail);
	}
	event_set_release(&set);
	return err;
}

static int add_buffer(struct ledger *ledger, const struct target *target, struct fail *fail)
{
	const char *name = target->wanted->name ? target->wanted->name : "";
	char text[64];
	int len = snprintf(text, sizeof(text), "%u %s", target->shape.size, target->clock);

	return add(ledger, LEDGER_BUFFER, target->index, name, text, (size_t)len, fail);
}

static int add_settings(struct ledger *ledger, const struct settings *settings, uint32_t buffer, struct fail *fail)
{
	for (size_t i = 0; i < settings->nr; i++) {
		const struct setting *setting = &settings->items[i];
		int err = add(ledger, LEDGER_SETTING, buffer, setting->name, setting->text, setting->len, fail);

		if (err)
			return err;
	}
	return 0;
}

/* Whether this line of one text is also in the other text. */
static bool has_line(const struct buf *text, struct text_word line)
{
	const char *at = text->data;
	size_t left = text->len;
	struct text_word other;

	while (at && text_next_line(&at, &left, &other))
		if (other.len == line.len && !memcmp(other.at, line.at, line.len))
			return true;
	return false;
}

/*
 * Adds the formats of events that another program enabled during the recording: lines "SYSTEM:EVENT" that set_event did
 * not have before.
 */
static int add_new_formats(struct ledger *ledger, const struct target *target, const struct setting *now,
			   struct fail *fail)
{
	const char *at = now->text;
	size_t left = now->len;
	struct text_word line;
	int err = 0;

	if (target->enabled.len == now->len && (!now->len || !memcmp(target->enabled.data, now->text, now->len)))
		return 0;
	while (!err && text_next_line(&at, &left, &line)) {
		const char *colon = memchr(line.at, ':', line.len);
		cleanup_free char *system = NULL, *name = NULL;

		if (!colon || has_line(&target->enabled, line))
			continue;
		system = strndup(line.at, (size_t)(colon - line.at));
		name = strndup(colon + 1, line.len - (size_t)(colon - line.at) - 1);
		err = system && name ? add_format(ledger, target->instance, system, name, fail) : fail_memory(fail);
	}
	return err;
}

/* With event-fork the kernel removes tasks from the list when they end: what it was at the start is kept besides. */
static int add_event_pids(struct ledger *ledger, const struct target *target, const struct settings *settings,
			  struct fail *fail)
{
	const struct setting *pids = settings_find(settings, "set_event_pid");

	if (!pids || !pids->len)
		return 0;
	return add(ledger, LEDGER_SETTING, target->index, "weft/event_pids", pids->text, pids->len, fail);
}

static int add_instance_settings(struct ledger *ledger, const struct target *target, bool stopped, struct fail *fail)
{
	struct settings settings = { .nr = 0 };
	int err = settings_read_instance(&settings, target->instance, fail);
	const struct setting *enabled = err ? NULL : settings_find(&settings, "set_event");

	if (!err)
		err = add_settings(ledger, &settings, target->index, fail);
	if (!err && !stopped)
		err = add_event_pids(ledger, target, &settings, fail);
	if (!err && stopped && enabled)
		err = add_new_formats(ledger, target, enabled, fail);
	settings_release(&settings);
	return err;
}

/* What the machine calls its disks and partitions: /proc/partitions has a line "MAJOR MINOR BLOCKS NAME" for each. */
static int add_disks(struct ledger *ledger, struct fail *fail)
{
	cleanup_buf struct buf partitions = BUF_INIT, disks = BUF_INIT;
	struct text_word line;
	const char *text;
	size_t len;

	if (tracing_read_path("/proc/partitions", &partitions, NULL))
		return 0;
	text = buf_str(&partitions);
	len = partitions.len;
	while (text_next_line(&text, &len, &line)) {
		char copy[128], name[64];
		unsigned major, minor;

		snprintf(copy, sizeof(copy), "%.*s", (int)(line.len < sizeof(copy) ? line.len : 0), line.at);
		if (sscanf(copy, "%u %u %*u %63s", &major, &minor, name) == 3 &&
		    !buf_addf(&disks, "%u:%u %s\n", major, minor, name))
			return fail_memory(fail);
	}
	return disks.len ? add(ledger, LEDGER_SETTING, 0, "weft/disks", disks.data, disks.len, fail) : 0;
}

/* A setting that has its own place in the file is not also saved in the private section. */
int facts_of_kernel(struct ledger *ledger, const struct tracing *tracing, struct fail *fail)
{
	static const struct {
		const char *name;
		enum ledger_kind kind;
	} own[] = { { "saved_cmdlines", LEDGER_CMDLINES }, { "printk_formats", LEDGER_PRINTK } };
	struct settings settings = { .nr = 0 };
	int err = settings_read_kernel(&settings, tracing, fail);

	for (size_t i = 0; !err && i < settings.nr; i++) {
		const struct setting *setting = &settings.items[i];
		enum ledger_kind kind = LEDGER_SETTING;

		for (size_t j = 0; j < array_size(own); j++)
			if (!strcmp(setting->name, own[j].name))
				kind = own[j].kind;
		err = add(ledger, kind, 0, kind == LEDGER_SETTING ? setting->name : "", setting->text, setting->len,
			  fail);
	}
	settings_release(&settings);
	return err ? err : add_disks(ledger, fail);
}

int facts_of_self(struct ledger *ledger, const struct rig *rig, pid_t more, struct fail *fail)
{
	size_t most = 2, nr = 0;
	cleanup_free pid_t *tids = NULL, *known = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	bool ok;

	for (size_t i = 0; i < rig->nr_targets; i++)
		most += rig->targets[i].nr_recorders;
	tids = calloc(most, sizeof(*tids));
	known = calloc(most, sizeof(*known));
	if (!tids || !known)
		return fail_memory(fail);
	tids[nr++] = getpid();
	if (more)
		tids[nr++] = more;
	for (size_t i = 0; i < rig->nr_targets; i++)
		for (size_t k = 0; k < rig->targets[i].nr_recorders; k++)
			tids[nr++] = rig->targets[i].recorders[k]->tid;
	if (kernel_pids_find(&rig->tracing, rig->undo, tids, nr, known, NULL))
		return 0;
	ok = true;
	for (size_t i = 0; ok && i < nr; i++)
		ok = buf_addf(&text, "%s%d", i ? " " : "", (int)known[i]);
	if (!ok || !buf_addf(&text, "\n"))
		return fail_memory(fail);
	return add(ledger, LEDGER_SETTING, 0, "weft/self", buf_str(&text), text.len, fail);
}

static int facts_of_containers(struct ledger *ledger, const struct buf *groups, bool at_end, struct fail *fail)
{
	cleanup_buf struct buf names = BUF_INIT;

	if (!container_names(CONTAINERS_HERE, groups, &names))
		return fail_memory(fail);
	if (!names.len)
		return 0;
	return add(ledger, LEDGER_SETTING, 0, at_end ? "weft/containers_end" : "weft/containers", names.data, names.len,
		   fail);
}

int facts_of_tasks(struct ledger *ledger, const struct task_scan_command *command, bool at_end, struct fail *fail)
{
	static const struct task_scan_command none;
	cleanup_buf struct buf tasks = BUF_INIT, groups = BUF_INIT;
	int err;

	/* In another PID namespace /proc has other PIDs than the events. */
	if (!kernel_pids_are_ours())
		return 0;
	err = task_scan(command ? command : &none, &tasks, &groups, fail);
	if (!err && tasks.len)
		err = add(ledger, LEDGER_SETTING, 0, at_end ? "weft/tasks_end" : "weft/tasks", tasks.data, tasks.len,
			  fail);
	if (!err && groups.len)
		err = add(ledger, LEDGER_SETTING, 0, at_end ? "weft/cgroups_end" : "weft/cgroups", groups.data,
			  groups.len, fail);
	return err ? err : facts_of_containers(ledger, &groups, at_end, fail);
}

int facts_of_files(struct ledger *ledger, struct fail *fail)
{
	cleanup_buf struct buf files = BUF_INIT, mounts = BUF_INIT;
	int err = 0;

	if (!kernel_pids_are_ours())
		return 0;
	if (!open_files_scan(&files))
		return fail_memory(fail);
	if (files.len)
		err = add(ledger, LEDGER_SETTING, 0, "weft/open_files", files.data, files.len, fail);
	if (!err && !tracing_read_path("/proc/self/mountinfo", &mounts, NULL) && mounts.len)
		err = add(ledger, LEDGER_SETTING, 0, "weft/mounts", mounts.data, mounts.len, fail);
	return err;
}

int facts_of_withheld(struct ledger *ledger, bool at_end, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (!withheld_scan(&text))
		return fail_memory(fail);
	if (!text.len)
		return 0;
	return add(ledger, LEDGER_SETTING, 0, at_end ? "weft/withheld_end" : "weft/withheld", text.data, text.len,
		   fail);
}

static int add_uname(struct ledger *ledger, struct fail *fail)
{
	struct utsname name;
	char text[sizeof(name) + 8];

	if (uname(&name))
		return 0;
	snprintf(text, sizeof(text), "%s %s %s %s", name.sysname, name.nodename, name.release, name.machine);
	return ledger_add_text(ledger, LEDGER_UNAME, text, fail);
}

const char *facts_boot_id(char into[BOOT_ID])
{
	cleanup_buf struct buf text = BUF_INIT;

	*into = '\0';
	if (!tracing_read_path("/proc/sys/kernel/random/boot_id", &text, NULL))
		snprintf(into, BOOT_ID, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
	return into;
}

int facts_at_start(struct ledger *ledger, const char *mode, const struct tracing *tracing, const struct target *targets,
		   size_t nr, bool all_formats, struct fail *fail)
{
	char boot[BOOT_ID];
	const struct instance *instance = targets[0].instance;
	int err = add_file(ledger, instance, LEDGER_HEADER_PAGE, "events/header_page", fail);

	if (!err)
		err = add_file(ledger, instance, LEDGER_HEADER_EVENT, "events/header_event", fail);
	if (!err)
		err = add_file(ledger, instance, LEDGER_CLOCK, "trace_clock", fail);
	if (!err)
		err = add_uname(ledger, fail);
	if (!err)
		err = ledger_add_text(ledger, LEDGER_VERSION, "weft " WEFT_VERSION, fail);
	if (!err)
		err = add(ledger, LEDGER_SETTING, 0, "weft/mode", mode, strlen(mode), fail);
	for (size_t i = 0; !err && i < nr; i++) {
		err = add_buffer(ledger, &targets[i], fail);
		if (!err && targets[i].instance->kind == INSTANCE_PRIVATE)
			err = add(ledger, LEDGER_INSTANCE, targets[i].index, facts_boot_id(boot),
				  targets[i].instance->name, strlen(targets[i].instance->name), fail);
		if (!err)
			err = add_instance_settings(ledger, &targets[i], false, fail);
	}
	if (!err)
		err = facts_of_kernel(ledger, tracing, fail);
	return err ? err : add_formats(ledger, targets, nr, all_formats, fail);
}

/* The numbers of entries according to the header: "# latency: 68 us, #12/12, CPU#0 | ...". */
static void count_worst(struct target *target, struct buf *text)
{
	const char *line = strstr(buf_str(text), "# latency: "), *count = line ? strstr(line, " us, #") : NULL;

	if (!count ||
	    sscanf(count, " us, #%20" SCNu64 "/%20" SCNu64, &target->worst_entries, &target->worst_written) != 2)
		target->worst_entries = target->worst_written = 0;
}

/*
 * Adds the `trace` of a max-latency tracer, which has the longest latency and disappears with the tracer. The format of
 * trace.dat has a place only for that of the first buffer; those of other buffers become settings "weft/latency".
 */
static int add_latency(struct ledger *ledger, struct target *target, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err;

	if (!target_is_max_latency(target))
		return 0;
	err = target_keep_worst(target, fail);
	if (!err)
		err = instance_read(target->instance, "trace", &text, fail);
	if (err)
		return err;
	count_worst(target, &text);
	return add(ledger, target->index ? LEDGER_SETTING : LEDGER_LATENCY, target->index,
		   target->index ? "weft/latency" : "", buf_str(&text), text.len, fail);
}

/* Adds the histograms, which disappear with the instance. Those that weft has set are always saved. */
static int add_hists(struct ledger *ledger, const struct target *target, bool all, struct fail *fail)
{
	const struct setup_instance *wanted = target->wanted;
	struct settings settings = { .nr = 0 };
	struct event_set set = { .catalog = target->events.catalog };
	int err = all ? event_set_add(&set, set.catalog, "all", fail) : 0;

	for (size_t i = 0; !err && !all && i < wanted->nr_events; i++)
		for (size_t j = 0; !err && j < wanted->events[i].triggers.nr; j++)
			if (!strncmp(wanted->events[i].triggers.items[j], "hist:", 5))
				err = event_set_add(&set, set.catalog,
						    setup_probes_pattern(target->probes, &wanted->events[i]), fail);
	if (!err)
		err = texts_of_hists(&settings, target->instance, &set, fail);
	if (!err)
		err = add_settings(ledger, &settings, target->index, fail);
	settings_release(&settings);
	event_set_release(&set);
	return err;
}

int facts_of_texts(struct ledger *ledger, const struct tracing *tracing, const struct target *targets, size_t nr,
		   unsigned texts, struct fail *fail)
{
	struct settings settings = { .nr = 0 };
	int err = texts_of_kernel(&settings, tracing, texts, fail);

	if (!err)
		err = add_settings(ledger, &settings, 0, fail);
	for (size_t i = 0; !err && i < nr; i++)
		err = add_hists(ledger, &targets[i], texts & TEXTS_HIST, fail);
	settings_release(&settings);
	return err;
}

static int add_stopped(struct ledger *ledger, struct target *target, struct fail *fail)
{
	struct buf *max = &target->max_latency;
	int err = counters_stopped(ledger, target, fail);

	if (!err)
		err = add_latency(ledger, target, fail);
	if (!err)
		err = add_instance_settings(ledger, target, true, fail);
	if (!err && max->len)
		err = add(ledger, LEDGER_SETTING, target->index, "tracing_max_latency", buf_str(max), max->len, fail);
	if (!err && target->thresh.len && target->instance->kind == INSTANCE_TOP)
		err = add(ledger, LEDGER_SETTING, target->index, "tracing_thresh", buf_str(&target->thresh),
			  target->thresh.len, fail);
	return err ? err : facts_latency_sample(ledger, target, "trace", false, fail);
}

/* Reads whole lines, at most `size` bytes, because the file can be long. */
static int read_lines(const struct instance *instance, const char *file, size_t size, struct buf *buf,
		      struct fail *fail)
{
	cleanup_fd int fd = -1;
	const char *last;
	ssize_t got = 1;
	int err = instance_open_file(instance, file, O_RDONLY, &fd, fail);

	if (err)
		return err;
	if (!buf_reserve(buf, size))
		return fail_memory(fail);
	while (got > 0 && buf->len < size) {
		got = read(fd, buf->data + buf->len, size - buf->len);
		if (got > 0)
			buf->len += (size_t)got;
	}
	last = memrchr(buf->data, '\n', buf->len);
	buf->len = last ? (size_t)(last - buf->data) + 1 : 0;
	return 0;
}

/*
 * How much of `trace` may be read. While tracing is on, the text may grow as it is read, and the kernel may stop
 * tracing for a reader: before 5.8, and with the option pause-on-trace.
 */
static size_t sample_size(const struct instance *instance, const char *file)
{
	char on[8];

	if (!strcmp(file, "snapshot") ||
	    (!instance_read_word(instance, "tracing_on", on, sizeof(on), NULL) && *on == '0'))
		return LATENCY_SAMPLE;
	return option_get(instance, "pause-on-trace") == 0 ? LATENCY_SAMPLE_ON : 0;
}

int facts_latency_sample(struct ledger *ledger, const struct target *target, const char *file, bool flip,
			 struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int flag = option_get(target->instance, "latency-format"), err = 0;

	size_t size = sample_size(target->instance, file);

	if (!size || flag < 0 || (!flag && !flip) || target_is_max_latency(target))
		return 0;
	if (!flag)
		err = option_set(target->instance, "latency-format", fail);
	if (!err)
		err = read_lines(target->instance, file, size, &text, fail);
	if (!flag && !err)
		err = option_set(target->instance, "nolatency-format", fail);
	return err ? err :
		     add(ledger, LEDGER_SETTING, target->index, "weft/latency_sample", buf_str(&text), text.len, fail);
}

int facts_of_buffers(struct ledger *ledger, struct target *targets, size_t nr, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = add_stopped(ledger, &targets[i], fail);
	return err;
}
