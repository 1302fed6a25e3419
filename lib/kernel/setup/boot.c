// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/boot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/probe/probes.h"
#include "lib/kernel/setup/tasks.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/users.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

struct visit {
	const struct instance *instance;
	int (*each)(const struct boot_difference *difference, void *data);
	void *data;
	struct fail *fail;
	/*
	 * The lists of all filters and all triggers (show_event_filters, show_event_triggers; Linux 7.0). With them,
	 * the files of events without a filter or trigger need not be read. NULL: the kernel has no such list.
	 */
	const char *filters, *triggers;
};

/* The boot values of each file; "local|global" means that either may be the boot value. */
static const struct {
	const char *file, *boot;
} values[] = {
	{ "tracing_on", "1" },
	{ "current_tracer", "nop" },
	/* tracing_set_default_clock() chooses "global" if the TSC is not reliable. */
	{ "trace_clock", "local|global" },
	{ "buffer_percent", "50" },
	{ "tracing_thresh", "0" },
	{ "tracing_max_latency", "0" },
	{ "max_graph_depth", "0" },
	{ "syscall_user_buf_size", "63" },
	/*
	 * The kernel asks for 128 entries. Since 6.9, and in later stable kernels, there are as many entries of 20 or
	 * 16 bytes as fit into the allocated pages.
	 */
	{ "saved_cmdlines_size", "128|6552|8190|8191" },
	{ "function_profile_enabled", "0" },
	{ "hwlat_detector/mode", "round-robin" },
	{ "hwlat_detector/width", "500000" },
	{ "hwlat_detector/window", "1000000" },
	{ "osnoise/period_us", "1000000" },
	{ "osnoise/runtime_us", "1000000" },
	{ "osnoise/stop_tracing_us", "0" },
	{ "osnoise/stop_tracing_total_us", "0" },
	{ "osnoise/print_stack", "0" },
	{ "osnoise/timerlat_period_us", "1000" },
	{ "osnoise/timerlat_align_us", "0" },
	/* "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP..." (osnoise_options_show()) */
	{ "osnoise/options", "DEFAULTS" },
};

static const char *const lists[] = {
	"set_ftrace_filter",      "set_ftrace_notrace", "set_graph_function",
	"set_graph_notrace",      "stack_trace_filter", "set_ftrace_pid",
	"set_ftrace_notrace_pid", "set_event_pid",      "set_event_notrace_pid",
};

/* Each of these files lists only its own kind. dynamic_events, if it exists, lists all kinds. */
static const char *const dynamic[] = { "dynamic_events", "kprobe_events", "uprobe_events", "synthetic_events" };

/* Options that are on at boot in the top instance; all others are off. */
static const char *const options_on[] = {
	"print-parent",   "printk",        "trace_printk",       "annotate",
	"context-info",   "record-cmd",    "overwrite",          "irq-info",
	"markers",        "hash-ptr",      "trace_printk_dest",  "copy_trace_marker",
	"function-trace", "funcgraph-cpu", "funcgraph-overhead", "funcgraph-duration",
	"funcgraph-irqs", "sleep-time",    "graph-time",
};

/* The options among them that are off in other instances: ZEROED_TRACE_FLAGS. */
static const char *const options_of_top[] = { "trace_printk_dest", "copy_trace_marker" };

static const struct {
	const char *path, *boot;
} sysctls[] = {
	{ "/proc/sys/kernel/stack_tracer_enabled", "0" }, { "/proc/sys/kernel/ftrace_enabled", "1" },
	{ "/proc/sys/kernel/tracepoint_printk", "0" },    { "/proc/sys/kernel/ftrace_dump_on_oops", "0" },
	{ "/proc/sys/kernel/traceoff_on_warning", "0" },
};

const char *boot_sysctl(const char *name)
{
	for (size_t i = 0; i < array_size(sysctls); i++)
		if (!strcmp(strrchr(sysctls[i].path, '/') + 1, name))
			return sysctls[i].path;
	return NULL;
}

static int differs(const struct visit *visit, enum boot_what what, const char *file, const char *now, const char *boot)
{
	return visit->each(&(struct boot_difference){ .what = what, .file = file, .now = now, .boot = boot },
			   visit->data);
}

/* Whether the first word of `word` is one of the choices in "one|two|three". */
static bool is_one_of(const char *word, const char *choices)
{
	size_t len = strcspn(word, " ");

	for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
		if (!strncmp(at, word, len) && (at[len] == '|' || !at[len]))
			return true;
	return false;
}

/* Reads a file of the instance. False: the file does not exist, or may not be read. */
static bool read_text(const struct visit *visit, const char *file, struct buf *buf)
{
	buf_clear(buf);
	return instance_has(visit->instance, file) && !instance_read(visit->instance, file, buf, NULL);
}

static int visit_values(const struct visit *visit)
{
	cleanup_buf struct buf now = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; !ret && i < array_size(values); i++) {
		const char *file = values[i].file, *boot = values[i].boot;
		enum control_kind kind = control_kind(file);
		char word[256], first[256];

		if (!read_text(visit, file, &now))
			continue;
		/* hwlat's mode reads "none [round-robin] per-cpu". */
		if (strchr(buf_str(&now), '['))
			kind = CONTROL_CHOICE;
		if (!control_word(buf_str(&now), kind, word, sizeof(word)) || is_one_of(word, boot))
			continue;
		snprintf(first, sizeof(first), kind == CONTROL_CHOICE ? "[%.*s]" : "%.*s", (int)strcspn(boot, "|"),
			 boot);
		ret = differs(visit, BOOT_SETTING, file, word, first);
	}
	return ret;
}

static bool names_nothing(const char *text)
{
	size_t left = strlen(text);
	struct text_word line;

	while (text_next_line(&text, &left, &line))
		if (control_is_name(line))
			return false;
	return true;
}

/* An installed list of tasks may be empty, and then no task is traced; the text of the file does not show that. */
static bool add_nobody(const struct visit *visit, const char *file, struct buf *now)
{
	const char *nobody = strstr(file, "notrace") ? NULL : kernel_tasks_nobody(visit->instance, file);

	return nobody && buf_addf(now, "(%s)\n", nobody);
}

static int visit_lists(const struct visit *visit)
{
	cleanup_buf struct buf now = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; !ret && i < array_size(lists); i++) {
		if (!read_text(visit, lists[i], &now))
			continue;
		if ((control_kind(lists[i]) == CONTROL_TASKS && add_nobody(visit, lists[i], &now)) ||
		    !names_nothing(buf_str(&now)))
			ret = differs(visit, BOOT_SETTING, lists[i], buf_str(&now), "");
	}
	return ret;
}

/*
 * Sizes: "7 (expanded: 1408)" is a buffer that was never used, "1408" one that was; the kernel sets both itself. The
 * number depends on the size of a sub-buffer (16384 entries of 88 bytes, in whole sub-buffers).
 */
static int visit_sizes(const struct visit *visit)
{
	enum { BOOT_KB = 16384 * 88 / 1024, SLACK_KB = 64 };
	cleanup_buf struct buf now = BUF_INIT;
	uint64_t kb;
	char page[24];

	if (read_text(visit, "buffer_size_kb", &now) && !strstr(buf_str(&now), "expanded")) {
		kb = number_of(buf_str(&now), 0);
		if (kb < BOOT_KB || kb > BOOT_KB + SLACK_KB) {
			snprintf(page, sizeof(page), "%d", BOOT_KB);
			int ret = differs(visit, BOOT_SETTING, "buffer_size_kb", buf_str(&now), page);

			if (ret)
				return ret;
		}
	}
	if (!read_text(visit, "buffer_subbuf_size_kb", &now))
		return 0;
	kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	if (number_of(buf_str(&now), 0) == kb)
		return 0;
	snprintf(page, sizeof(page), "%" PRIu64, kb);
	return differs(visit, BOOT_SETTING, "buffer_subbuf_size_kb", buf_str(&now), page);
}

/* The boot value of masks and lists of CPUs names all CPUs that this machine can ever have. */
static int visit_cpus(const struct visit *visit)
{
	static const char *const files[] = { "tracing_cpumask", "osnoise/cpus" };
	cleanup_buf struct buf now = BUF_INIT, boot = BUF_INIT;
	struct cpus all, set;
	int ret = 0;

	if (tracing_possible_cpus(&all, NULL))
		return 0;
	for (size_t i = 0; !ret && i < array_size(files); i++) {
		struct cpus wanted = all;
		cleanup_free char *word = NULL;

		if (!read_text(visit, files[i], &now))
			continue;
		/* "0x" makes cpus_parse() read a mask even if the text could also be a list. */
		if (asprintf(&word, "%s%.*s", i ? "" : "0x", (int)strcspn(buf_str(&now), "\n"), buf_str(&now)) < 0) {
			word = NULL;
			return fail_memory(visit->fail);
		}
		if (cpus_parse(word, &set, NULL))
			continue;
		cpus_keep(&wanted, &set);
		buf_clear(&boot);
		if (cpus_count(&wanted) == cpus_count(&all) || !(i ? cpus_list : cpus_mask)(&all, &boot))
			continue;
		ret = differs(visit, BOOT_SETTING, files[i], buf_str(&now), buf_str(&boot));
	}
	return ret;
}

static bool is_among(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int not_dot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The entries of a directory of the instance, sorted; -1: it does not exist. */
static int scan(const struct visit *visit, const char *dir, struct dirent ***ret)
{
	cleanup_free char *path = NULL;

	if (asprintf(&path, "%s/%s", visit->instance->dir, dir) < 0) {
		path = NULL;
		return -1;
	}
	return scandir(path, ret, not_dot, alphasort);
}

static void free_entries(struct dirent **entries, int nr)
{
	for (int i = 0; i < nr; i++)
		free(entries[i]);
	if (nr >= 0)
		free(entries);
}

static int visit_options(const struct visit *visit)
{
	cleanup_buf struct buf now = BUF_INIT;
	struct dirent **entries;
	int nr = scan(visit, "options", &entries), ret = 0;

	for (int i = 0; !ret && i < nr; i++) {
		const char *name = entries[i]->d_name;
		bool on = is_among(name, options_on, array_size(options_on));
		char file[300];

		if (visit->instance->kind != INSTANCE_TOP)
			on = on && !is_among(name, options_of_top, array_size(options_of_top));
		snprintf(file, sizeof(file), "options/%s", name);
		if (read_text(visit, file, &now) && (buf_str(&now)[0] == '1') != on)
			ret = differs(visit, BOOT_OPTION, file, on ? "0" : "1", on ? "1" : "0");
	}
	free_entries(entries, nr);
	return ret;
}

/* Whether the list (show_event_filters or show_event_triggers) has a line for that event. */
static bool is_listed(const char *list, const char *system, const char *name)
{
	size_t left = strlen(list), len = strlen(system);
	struct text_word line;

	while (text_next_line(&list, &left, &line))
		if (line.len > len + 1 + strlen(name) && !memcmp(line.at, system, len) && line.at[len] == ':' &&
		    !memcmp(line.at + len + 1, name, strlen(name)) && strchr(" \t", line.at[len + 1 + strlen(name)]))
			return true;
	return false;
}

/* Visits one event: its `enable` if the events of its system differ, its filter, its triggers. */
static int visit_event(const struct visit *visit, const char *system, const char *name, bool mixed, struct buf *now)
{
	static const struct {
		const char *file;
		enum boot_what what;
		const char *boot;
	} parts[] = {
		{ "enable", BOOT_EVENT, "0" },
		{ "filter", BOOT_FILTER, "none" },
		{ "trigger", BOOT_TRIGGER, "" },
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < array_size(parts); i++) {
		const char *list = parts[i].what == BOOT_FILTER  ? visit->filters :
				   parts[i].what == BOOT_TRIGGER ? visit->triggers :
								   NULL;
		char file[600], word[32];
		bool same;

		if (list && !is_listed(list, system, name))
			continue;
		snprintf(file, sizeof(file), "events/%s/%s/%s", system, name, parts[i].file);
		if ((parts[i].what == BOOT_EVENT && !mixed) || !read_text(visit, file, now))
			continue;
		if (parts[i].what == BOOT_TRIGGER)
			same = names_nothing(buf_str(now));
		else
			same = control_word(buf_str(now), CONTROL_VALUE, word, sizeof(word)) &&
			       !strcmp(word, parts[i].boot);
		if (!same)
			ret = differs(visit, parts[i].what, file, buf_str(now), parts[i].boot);
	}
	return ret;
}

static int visit_system(const struct visit *visit, const char *system, struct buf *now)
{
	char file[300], state[16] = "0";
	struct dirent **entries;
	int nr, ret = 0;

	snprintf(file, sizeof(file), "events/%s", system);
	nr = scan(visit, file, &entries);
	if (nr < 0)
		return 0;
	snprintf(file, sizeof(file), "events/%s/enable", system);
	if (read_text(visit, file, now) && control_word(buf_str(now), CONTROL_VALUE, state, sizeof(state)) &&
	    (state[0] == '1' || state[0] == 'X'))
		ret = differs(visit, BOOT_SYSTEM, file, state, "0");
	for (int i = 0; !ret && i < nr; i++)
		if (entries[i]->d_type == DT_DIR)
			ret = visit_event(visit, system, entries[i]->d_name, state[0] != '1', now);
	free_entries(entries, nr);
	return ret;
}

static int visit_events(const struct visit *all)
{
	static const char marker[] = "events/ftrace/print/trigger";
	cleanup_buf struct buf now = BUF_INIT, filters = BUF_INIT, triggers = BUF_INIT;
	struct visit listed = *all, *visit = &listed;
	struct dirent **entries;
	int nr = scan(visit, "events", &entries), ret = 0;

	if (read_text(all, "show_event_filters", &filters))
		listed.filters = buf_str(&filters);
	if (read_text(all, "show_event_triggers", &triggers))
		listed.triggers = buf_str(&triggers);
	/* The entries of events/ftrace cannot be enabled. One takes triggers (add_marker() of setup_events.c). */
	if (read_text(all, marker, &now) && !names_nothing(buf_str(&now)))
		ret = differs(all, BOOT_TRIGGER, marker, buf_str(&now), "");
	for (int i = 0; !ret && i < nr; i++)
		if (entries[i]->d_type == DT_DIR && strcmp(entries[i]->d_name, "ftrace"))
			ret = visit_system(visit, entries[i]->d_name, &now);
	free_entries(entries, nr);
	return ret;
}

static int visit_snapshot(const struct visit *visit)
{
	cleanup_fd int fd = -1;
	char head[128];
	ssize_t got;

	if (!instance_has(visit->instance, "snapshot") ||
	    instance_open_file(visit->instance, "snapshot", O_RDONLY, &fd, NULL))
		return 0;
	got = read(fd, head, sizeof(head) - 1);
	if (got <= 0)
		return 0;
	head[got] = '\0';
	return strstr(head, "Snapshot is freed") ? 0 : differs(visit, BOOT_SNAPSHOT, "snapshot", "allocated", "0");
}

static int visit_top(const struct visit *visit)
{
	bool all = instance_has(visit->instance, "dynamic_events");
	cleanup_buf struct buf now = BUF_INIT;
	char word[32];
	int ret = 0;

	for (size_t i = 0; !ret && i < (all ? 1 : array_size(dynamic)); i++)
		if (read_text(visit, dynamic[i], &now) && !names_nothing(buf_str(&now)))
			ret = differs(visit, BOOT_DYNAMIC, dynamic[i], buf_str(&now), "");
	for (size_t i = 0; !ret && i < array_size(sysctls); i++) {
		buf_clear(&now);
		if (access(sysctls[i].path, R_OK) || tracing_read_path(sysctls[i].path, &now, NULL) ||
		    !control_word(buf_str(&now), CONTROL_VALUE, word, sizeof(word)) || !strcmp(word, sysctls[i].boot))
			continue;
		ret = differs(visit, BOOT_SYSCTL, sysctls[i].path, word, sysctls[i].boot);
	}
	return ret;
}

int boot_each(const struct instance *instance, int (*each)(const struct boot_difference *difference, void *data),
	      void *data, struct fail *fail)
{
	const struct visit visit = { .instance = instance, .each = each, .data = data, .fail = fail };
	static int (*const parts[])(const struct visit *visit) = {
		visit_values, visit_lists, visit_sizes, visit_cpus, visit_options, visit_events, visit_snapshot,
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < array_size(parts); i++)
		ret = parts[i](&visit);
	if (!ret && instance->kind == INSTANCE_TOP)
		ret = visit_top(&visit);
	return ret;
}

/*
 * A copy of a difference (boot.h) that will be restored. It is a copy because the kernel's files must not be written
 * while boot_each() reads them.
 */
struct difference {
	enum boot_what what;
	char *file, *boot;
	bool done;
};

struct reset {
	struct instance *instance;
	struct difference *items;
	size_t nr;
	bool sizes; /* also those of the buffers */
	int first;  /* the first error */
	struct fail *fail;
};

static int keep(const struct boot_difference *difference, void *data)
{
	struct reset *reset = data;
	struct difference *kept;

	if (!reset->sizes && strstr(difference->file, "buffer_s"))
		return 0;
	kept = vec_push(reset->items, reset->nr);
	if (!kept)
		return fail_memory(reset->fail);
	*kept = (struct difference){
		.what = difference->what,
		.file = strdup(difference->file),
		.boot = strdup(difference->boot),
	};
	return kept->file && kept->boot ? 0 : fail_memory(reset->fail);
}

static int put_back(const struct reset *reset, const struct difference *item, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int err;

	if (asprintf(&path, "%s%s%s", *item->file == '/' ? "" : reset->instance->dir, *item->file == '/' ? "" : "/",
		     item->file) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	switch (item->what) {
	case BOOT_SYSTEM:
	case BOOT_SNAPSHOT:
	case BOOT_DYNAMIC:
	case BOOT_SYSCTL:
		err = control_write(path, false, item->boot);
		break;
	default:
		err = control_restore(path, item->file, item->boot);
	}
	if (!err || err == -ENOENT)
		return 0;
	return fail_set(fail, err, "cannot put '%s' back to what it was at boot: %s", path, strerror(-err));
}

/*
 * Restores the differences of one kind. Repeats while at least one more difference could be restored: a histogram
 * cannot be removed while another histogram reads its variables.
 */
static void put_back_all(struct reset *reset, enum boot_what what)
{
	bool progress = true;
	struct fail fail;
	int err = 0;

	while (progress) {
		progress = false;
		err = 0;
		for (size_t i = reset->nr; i-- > 0;) {
			struct difference *item = &reset->items[i];
			struct fail one = FAIL_INIT;
			int failed;

			if (item->what != what || item->done)
				continue;
			failed = put_back(reset, item, &one);
			item->done = !failed;
			progress |= !failed;
			if (failed && !err) {
				err = failed;
				fail = one;
			}
		}
		if (!err)
			return;
	}
	reset->first = fail_first(reset->first, err, reset->fail, &fail);
}

/*
 * Ends the tracer before the settings are restored that it changes while it runs (tracing_max_latency,
 * hwlat_detector/mode) or when it ends (tracing_thresh). If this fails, put_back_all() tries again and shows why.
 */
static void end_tracer(struct reset *reset)
{
	undo_end_branches(reset->instance->dir);
	for (size_t i = 0; i < reset->nr; i++)
		if (reset->items[i].what == BOOT_SETTING && !strcmp(reset->items[i].file, "current_tracer"))
			reset->items[i].done = !put_back(reset, &reset->items[i], NULL);
}

/* "" is the top instance. */
static int reset_instance(const struct tracing *tracing, const char *name, bool probes, bool sizes, struct fail *fail)
{
	static const enum boot_what order[] = {
		BOOT_TRIGGER, BOOT_FILTER,   BOOT_SYSTEM,  BOOT_EVENT,  BOOT_SETTING,
		BOOT_OPTION,  BOOT_SNAPSHOT, BOOT_DYNAMIC, BOOT_SYSCTL,
	};
	struct reset reset = { .sizes = sizes, .fail = fail };
	int err = *name ? instance_open(tracing, name, false, NULL, &reset.instance, fail) :
			  instance_open_top(tracing, NULL, &reset.instance, fail);

	if (err)
		return err;
	err = boot_each(reset.instance, keep, &reset, fail);
	if (!err)
		end_tracer(&reset);
	for (size_t i = 0; !err && i < array_size(order); i++)
		if (order[i] != BOOT_DYNAMIC || probes)
			put_back_all(&reset, order[i]);
	if (!err && !*name)
		err = kernel_tasks_uninstall(reset.instance, reset.first ? NULL : fail);
	if (!err)
		err = instance_clear(reset.instance, reset.first ? NULL : fail);
	if (!err && instance_has(reset.instance, "error_log"))
		err = instance_write(reset.instance, "error_log", "", reset.first ? NULL : fail);
	for (size_t i = 0; i < reset.nr; i++) {
		free(reset.items[i].file);
		free(reset.items[i].boot);
	}
	free(reset.items);
	instance_close(reset.instance, NULL);
	return reset.first ? reset.first : err;
}

struct removal {
	const struct tracing *tracing;
	int first;
	struct fail *fail;
};

static int remove_one(const char *name, void *data)
{
	struct removal *removal = data;
	cleanup_free char *path = NULL;
	int err;

	if (boot_instance_is(name))
		return 0;
	if (asprintf(&path, "%s/instances/%s", removal->tracing->dir, name) < 0) {
		path = NULL;
		return fail_memory(removal->first ? NULL : removal->fail);
	}
	err = undo_remove_instance(path);
	if (!err || err == -ENOENT)
		return 0;
	err = tracing_instance_kept(removal->tracing, name, err, removal->first ? NULL : removal->fail);
	if (!removal->first)
		removal->first = err;
	return 0;
}

int boot_reset(const struct tracing *tracing, const char *journals, bool probes, struct fail *fail)
{
	struct removal removal = { .tracing = tracing, .fail = fail };
	int err = instance_each(tracing, remove_one, &removal, fail), top;

	if (!removal.first)
		removal.first = err;
	/* The journals are obsolete now and must not be replayed later. */
	err = undo_discard(journals, removal.first ? NULL : fail);
	undo_sweep(journals);
	if (!removal.first)
		removal.first = err;
	top = reset_instance(tracing, "", probes, true, removal.first ? NULL : fail);
	return removal.first ? removal.first : top;
}

/*
 * The newest is removed first, because a probe may be attached to another one's event. Before, weft's journals forget
 * those that stay: undo_reset() would remove them.
 */
static int each_probe(const struct tracing *tracing, unsigned kinds, bool forget, struct fail *fail)
{
	struct instance *top = NULL;
	struct probe_list list;
	int err = instance_open_top(tracing, NULL, &top, fail), first = 0;

	if (err)
		return err;
	err = probe_list_read(top, &list, fail);
	for (size_t i = err ? 0 : list.nr; i-- > 0;) {
		const struct probe *probe = &list.probes[i].probe;
		int failed;

		if (forget && !(kinds >> probe->kind & 1)) {
			char name[2 * PROBE_NAME_SIZE];

			snprintf(name, sizeof(name), "%s/%s", probe->group, probe->name);
			undo_drop_probe(NULL, name);
		}
		if (forget || !(kinds >> probe->kind & 1))
			continue;
		failed = probe_remove(top, probe->group, probe->name, first ? NULL : fail);
		if (!first)
			first = failed;
	}
	if (!err)
		probe_list_release(&list);
	instance_close(top, NULL);
	return err ? err : first;
}

int boot_reset_one(const struct tracing *tracing, const char *instance, unsigned kinds, struct fail *fail)
{
	struct undo_sum sum;
	struct fail later = FAIL_INIT;
	int first = *instance ? 0 : each_probe(tracing, kinds, true, fail), err;

	/* Of another instance the journals may say that weft made it: then it would be removed. */
	if (!*instance) {
		err = undo_reset(tracing, NULL, instance, &sum, &later);
		first = fail_first(first, err, fail, &later);
	}
	err = reset_instance(tracing, instance, false, false, &later);
	first = fail_first(first, err, fail, &later);
	if (kinds) {
		err = each_probe(tracing, kinds, false, &later);
		first = fail_first(first, err, fail, &later);
	}
	return first;
}
