// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/refusals/fitting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/near.h"
#include "lib/kernel/refusals/error_log.h"
#include "lib/kernel/tracefs/event_fields.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/settings.h"

enum { NAMES_SHOWN = 320 }; /* longest list of names in bytes */

enum fitting fitting_for(struct text_word text)
{
	static const struct {
		const char *text;
		enum fitting fitting;
	} texts[] = {
		{ "Field not found", FITTING_FIELD },
		{ "Couldn't find field", FITTING_FIELD },
		{ "Couldn't find or set field in one of a subsystem's events", FITTING_FIELD },
		{ "Couldn't parse field variable", FITTING_FIELD },
		{ "Couldn't find param", FITTING_FIELD },
		{ "Attached event does not have this field", FITTING_FIELD },
		{ "Sort field must be a key or a val", FITTING_NONE },
		{ "Attached event does not exist", FITTING_EVENT },
		{ "Invalid subsystem or event name", FITTING_EVENT },
		{ "Event file not found", FITTING_EVENT },
		{ "Tracepoint is not found", FITTING_EVENT },
		{ "Function not found", FITTING_FUNCTION },
		{ "Invalid probed address or symbol", FITTING_FUNCTION },
		{ "Failed to register probe event", FITTING_FUNCTION },
		{ "Unknown type is specified", FITTING_PROBE_TYPE },
		{ "Invalid type", FITTING_SYNTHETIC_TYPE },
		{ "Couldn't find synthetic event", FITTING_SYNTHETIC_EVENT },
		{ "Invalid register name", FITTING_REGISTER },
		{ "Invalid $-variable specified", FITTING_VARIABLE },
		{ "Invalid field modifier", FITTING_MODIFIER },
		{ "Invalid sort modifier", FITTING_SORT },
		{ "Invalid operator", FITTING_OPERATOR },
	};

	for (size_t i = 0; i < array_size(texts); i++)
		if (text_word_is(text, texts[i].text))
			return texts[i].fitting;
	return FITTING_NONE;
}

static const char *const probe_types[] = {
	"u8",  "u16", "u32", "u64",  "s8",     "s16",     "s32",    "s64",    "x8",
	"x16", "x32", "x64", "char", "string", "ustring", "symbol", "symstr", NULL,
};

static const char *const synthetic_types[] = {
	"s64", "u64",          "s32",  "u32",           "s16",  "u16",   "s8",    "u8",     "char[N]", "unsigned char",
	"int", "unsigned int", "long", "unsigned long", "bool", "pid_t", "gfp_t", "char[]", NULL,
};

static const char *const registers[] = {
#if defined(__x86_64__)
	"di", "si",  "dx",  "cx",  "r8",  "r9",  "ax",  "bx",    "bp", "sp",
	"ip", "r10", "r11", "r12", "r13", "r14", "r15", "flags", "cs", "ss",
#elif defined(__aarch64__)
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "sp", "lr", "pc", "pstate",
#elif defined(__i386__)
	"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags",
#elif defined(__arm__)
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc", "cpsr",
#elif defined(__powerpc__)
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "nip", "msr", "ctr", "link",
#elif defined(__s390x__)
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
#elif defined(__riscv)
	"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s0", "s1", "t0", "t1", "ra", "sp", "gp", "tp", "epc",
#elif defined(__mips__)
	"r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r29", "r31",
#elif defined(__loongarch__)
	"r1", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11",
#endif
	NULL,
};

static const char *const variables[] = { "arg1", "arg2", "retval", "comm", "stack", "stack0", "stack1", NULL };

static const char *const modifiers[] = {
	"hex",          "sym",   "sym-offset", "execname", "syscall",    "log2",
	"buckets=SIZE", "usecs", "percent",    "graph",    "stacktrace", NULL,
};

static const char *const sorts[] = { "ascending", "descending", NULL };

static const char *const operators[] = { "==", "!=", "<", "<=", ">", ">=", "&", "~", NULL };

bool event_of_file(const char *file, char system[EVENT_PART_SIZE], char event[EVENT_PART_SIZE])
{
	char last[EVENT_PART_SIZE];

	*event = '\0';
	if (sscanf(file, "events/%127[^/]/%127[^/]/%127[^/]", system, event, last) == 3)
		return true;
	if (sscanf(file, "events/%127[^/]/%127[^/]", system, last) != 2)
		return false;
	*event = '\0';
	return true;
}

void functions_offer(const struct tracing *tracing, struct near *near)
{
	cleanup_buf struct buf buf = BUF_INIT;
	cleanup_free char *path = NULL;
	struct text_word line;
	const char *at;
	size_t left;

	if (asprintf(&path, "%s/available_filter_functions", tracing->dir) < 0) {
		path = NULL;
		return;
	}
	if (tracing_read_path(path, &buf, NULL))
		return;
	at = buf_str(&buf);
	left = buf.len;
	while (text_next_line(&at, &left, &line)) {
		char name[NEAR_NAME_SIZE];

		/* A line is "name [module]". */
		snprintf(name, sizeof(name), "%.*s", (int)line.len, line.at);
		name[strcspn(name, " ")] = '\0';
		near_offer(near, name);
	}
}

void functions_release(struct functions *functions)
{
	buf_release(&functions->text);
	functions->read = false;
}

static size_t count_lines(const struct buf *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n';
	return lines;
}

int function_find(struct functions *functions, const char *module, const char *name, uint64_t *ret_address)
{
	struct functions once = { .read = false };
	enum { SYMBOLS_MIN = 1000 };
	bool hidden;
	int found;

	if (!functions)
		functions = &once;
	if (!functions->read && settings_kallsyms(&functions->text, &hidden, NULL))
		buf_clear(&functions->text);
	functions->read = true;
	found = settings_symbol(&functions->text, module, name, ret_address);
	/* Without CONFIG_KALLSYMS_ALL there are fewer symbols, but never this few. */
	if (!found && count_lines(&functions->text) < SYMBOLS_MIN)
		found = -ENOENT;
	functions_release(&once);
	return found;
}

int function_exists(struct functions *functions, const char *module, const char *name)
{
	uint64_t address;

	return function_find(functions, module, name, &address);
}

/* The names of a list, as many as fit. */
struct names {
	struct near near;
	struct buf list;
	bool cut;
};

static void add_name(struct names *names, const char *name)
{
	near_offer(&names->near, name);
	if (names->list.len + strlen(name) > NAMES_SHOWN)
		names->cut = true;
	else if (!names->cut && !buf_addf(&names->list, "%s%s", names->list.len ? ", " : "", name))
		names->cut = true;
}

static void add_names(struct names *names, const char *const *list)
{
	for (; *list; list++)
		add_name(names, *list);
}

static void add_fields(struct names *names, const struct instance *instance, const char *system, const char *event)
{
	struct event_fields fields = { .nr = 0 };

	if (!system || event_fields_read(instance, system, event && *event ? event : NULL, &fields, NULL))
		return;
	/* An event's own fields come first, because they are the likely ones. */
	for (size_t i = 0; i < fields.nr; i++)
		if (strncmp(fields.fields[i].name, "common_", 7))
			add_name(names, fields.fields[i].name);
	for (size_t i = 0; i < fields.nr; i++)
		if (!strncmp(fields.fields[i].name, "common_", 7))
			add_name(names, fields.fields[i].name);
	event_fields_release(&fields);
}

static void offer_events(struct names *names, const struct instance *instance, const char *only)
{
	struct catalog *catalog = NULL;

	if (catalog_new(instance->tracing, &catalog, NULL))
		return;
	for (size_t i = 0; i < catalog->nr; i++) {
		const struct catalog_event *event = &catalog->events[i];
		char full[NEAR_NAME_SIZE];

		if (only && strcmp(event->system, only))
			continue;
		snprintf(full, sizeof(full), "%s:%s", event->system, event->name);
		near_offer_as(&names->near, event->name, only ? event->name : full);
		near_offer_as(&names->near, full, full);
	}
	catalog_free(catalog);
}

/* Sets *ret_title to the text in front of the list; NULL: no list. */
static void collect(struct names *names, enum fitting fitting, const struct instance *instance, const char *system,
		    const char *event, const char **ret_title)
{
	*ret_title = NULL;
	switch (fitting) {
	case FITTING_NONE:
		return;
	case FITTING_FIELD:
		*ret_title = "the fields are";
		add_fields(names, instance, system, event);
		return;
	case FITTING_EVENT:
		offer_events(names, instance, NULL);
		return;
	case FITTING_SYNTHETIC_EVENT:
		offer_events(names, instance, "synthetic");
		return;
	case FITTING_FUNCTION:
		functions_offer(instance->tracing, &names->near);
		return;
	case FITTING_PROBE_TYPE:
		*ret_title = "the types are";
		add_names(names, probe_types);
		return;
	case FITTING_SYNTHETIC_TYPE:
		*ret_title = "the types are";
		add_names(names, synthetic_types);
		return;
	case FITTING_REGISTER:
		*ret_title = "the registers are";
		add_names(names, registers);
		return;
	case FITTING_VARIABLE:
		*ret_title = "behind $ stand";
		add_names(names, variables);
		return;
	case FITTING_MODIFIER:
		*ret_title = "the modifiers are";
		add_names(names, modifiers);
		return;
	case FITTING_SORT:
		*ret_title = "behind the dot stands";
		add_names(names, sorts);
		return;
	case FITTING_OPERATOR:
		*ret_title = "the operators are";
		add_names(names, operators);
		return;
	}
}

bool fitting_print(enum fitting fitting, const struct instance *instance, const char *system, const char *event,
		   const char *word, struct buf *buf)
{
	struct names names = { .near = near_to(word), .list = BUF_INIT };
	char hint[NEAR_NAMES * (NEAR_NAME_SIZE + 8) + 32];
	const char *title;
	bool ok = true;

	collect(&names, fitting, instance, system, event, &title);
	near_hint(&names.near, hint, sizeof(hint));
	/* The name exists, so something else is wrong with it. */
	if (names.near.found && !names.near.names[0].distance)
		title = NULL;
	else if (names.near.found)
		ok = buf_addf(buf, "\n%s", hint);
	if (title && names.list.len)
		ok = ok && buf_addf(buf, "\n%s %s%s", title, buf_str(&names.list), names.cut ? ", ..." : "");
	buf_release(&names.list);
	return ok;
}

/* Finds the event to which a probe "e:NAME SYSTEM.EVENT FIELDS" is attached. */
static bool attached_event(const char *value, char system[EVENT_PART_SIZE], char event[EVENT_PART_SIZE])
{
	return sscanf(value, "e%*[^ ] %127[^./ ]%*1[./]%127[^ ]", system, event) == 2 ||
	       sscanf(value, "e %127[^./ ]%*1[./]%127[^ ]", system, event) == 2;
}

bool fitting_explain(const struct error_entry *entry, const struct instance *instance, const char *file,
		     const char *value, struct buf *buf)
{
	char word[EVENT_PART_SIZE], system[EVENT_PART_SIZE] = "", event[EVENT_PART_SIZE] = "";
	bool known = event_of_file(file, system, event) || attached_event(value, system, event);

	error_entry_culprit(entry, word, sizeof(word));
	return fitting_print(fitting_for(entry->text), instance, known ? system : NULL, known ? event : NULL, word,
			     buf);
}
