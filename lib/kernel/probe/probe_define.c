// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/probe/probe_define.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/probe/btf_internal.h"
#include "lib/kernel/probe/elf_symbol_internal.h"
#include "lib/kernel/probe/parameter_place_internal.h"
#include "lib/kernel/probe/probe_fetch_internal.h"
#include "lib/kernel/probe/usdt.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/refusals/probe.h"
#include "lib/kernel/tracefs/event_fields.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/word.h"

/*
 * Twice the number of tasks, because more tasks appear while the function is traced. Each concurrent call needs some
 * hundred bytes. The kernel's limit is KRETPROBE_MAXACTIVE_MAX (kernel/trace/trace_kprobe.c).
 */
enum { TIMES_TASKS = 2, ROOM_MIN = 256, ROOM_MAX = 4096 };

/* The number of threads of all processes; 0: unknown. */
static unsigned count_tasks(void)
{
	cleanup_file FILE *file = fopen("/proc/loadavg", "re");
	unsigned tasks = 0;

	return file && fscanf(file, "%*s %*s %*s %*u/%u", &tasks) == 1 ? tasks : 0;
}

/*
 * Sets max_active of a kretprobe, the number of concurrent calls of its function that it can follow; it misses further
 * calls. The kernel's default, 10 or twice the number of CPUs, suits functions that do not sleep. Every task can be in
 * a function that sleeps. So if the user chose no number, the number of tasks is used. Other probes, and kernels that
 * do not accept a number, are left unchanged.
 */
static void probe_make_room(const struct instance *top, struct probe *probe)
{
	cleanup_buf struct buf readme = BUF_INIT;
	unsigned tasks = count_tasks(), room = ROOM_MIN;

	if (probe->kind != PROBE_KRETPROBE || probe->max_active || instance_read(top, "README", &readme, NULL) ||
	    !strstr(buf_str(&readme), "r[maxactive]"))
		return;
	while (room < ROOM_MAX && room < TIMES_TASKS * tasks)
		room *= 2;
	probe->max_active = room;
}

/* The parts of NAME=FETCH:TYPE. */
struct argument {
	char name[PROBE_NAME_SIZE]; /* "" when none is given */
	char fetch[256];
	char type[64];      /* "" when none is given */
	unsigned long_size; /* the kernel's sizeof(long) */
	bool narrow;        /* in a program of 32 bits on a kernel of 64 */
};

static int copy_part(const char *from, size_t len, char *into, size_t size, struct fail *fail)
{
	if (len >= size)
		return fail_set(fail, -EINVAL, "'%.*s' is too long in an argument of a probe", (int)len, from);
	memcpy(into, from, len);
	into[len] = '\0';
	return 0;
}

static int split(struct text_word word, struct argument *ret, struct fail *fail)
{
	const char *at = word.at, *end = at + word.len, *equals = memchr(at, '=', word.len), *colon;
	int err = 0;

	*ret = (struct argument){ .name = "" };
	if (equals) {
		err = copy_part(at, (size_t)(equals - at), ret->name, sizeof(ret->name), fail);
		at = equals + 1;
	}
	/* The type follows the last colon, unless that colon is inside parentheses or quotes. */
	colon = memrchr(at, ':', (size_t)(end - at));
	if (colon && (memchr(colon, ')', (size_t)(end - colon)) || memchr(colon, '"', (size_t)(end - colon))))
		colon = NULL;
	if (!err && colon)
		err = copy_part(colon + 1, (size_t)(end - colon - 1), ret->type, sizeof(ret->type), fail);
	return err ? err : copy_part(at, (size_t)((colon ? colon : end) - at), ret->fetch, sizeof(ret->fetch), fail);
}

/* Replaces each $argN of the text by its register. */
static int use_registers(struct argument *argument, struct fail *fail)
{
	cleanup_buf struct buf out = BUF_INIT;

	for (const char *at = argument->fetch; *at;) {
		unsigned number;
		int len = 0;
		const char *name;
		bool ok;

		if (sscanf(at, "$arg%u%n", &number, &len) != 1) {
			ok = buf_add(&out, at++, 1);
		} else {
			name = parameter_place(number, argument->long_size, argument->narrow);
			if (!name)
				return fail_set(
					fail, -EINVAL,
					"'$arg%u' is in no register that weft knows on this machine: name the register",
					number);
			ok = buf_add_str(&out, name);
			at += len;
		}
		if (!ok)
			return fail_memory(fail);
	}
	return copy_part(buf_str(&out), out.len, argument->fetch, sizeof(argument->fetch), fail);
}

static void set_fetch(struct argument *argument, const char *format, const char *what, const char *type)
{
	char fetch[sizeof(argument->fetch)];

	snprintf(fetch, sizeof(fetch), format, what);
	memcpy(argument->fetch, fetch, sizeof(fetch));
	if (!*argument->type)
		snprintf(argument->type, sizeof(argument->type), "%s", type);
}

/* A long where the function is: what it returns, if nobody knows better. */
static const char *long_type(const struct argument *argument)
{
	return argument->long_size == 4 || argument->narrow ? "s32" : "s64";
}

static int no_parameter(const char *function, const struct prototype *prototype, const char *name, struct fail *fail)
{
	struct near near = near_to(name);
	cleanup_buf struct buf all = BUF_INIT;
	struct fail words;

	for (size_t i = 0; i < prototype->nr; i++) {
		near_offer(&near, prototype->parameters[i].name);
		if (!buf_addf(&all, "%s%s", i ? ", " : "", prototype->parameters[i].name))
			return fail_memory(fail);
	}
	near_fail(&near, &words, -ENOENT, "the function '%s' has no parameter '%s'", function, name);
	return fail_set(fail, -ENOENT, "%.600s%s%.300s", words.text,
			prototype->nr ? "\n  its parameters are " : ": it has none", buf_str(&all));
}

static int no_function(const struct instance *top, const char *name, struct fail *fail)
{
	struct near near = near_to(name);

	functions_offer(top->tracing, &near);
	return near_fail(&near, fail, -ENOENT, "no function '%s'", name);
}

/* Resolves the name of a parameter, or of the return value, of a kernel function. */
static int kernel_name(const struct instance *top, const struct probe *probe, struct argument *argument,
		       struct fail *fail)
{
	const char *colon = strchr(probe->place, ':'), *function = colon ? colon + 1 : probe->place;
	cleanup_free char *name = strndup(function, strcspn(function, "+"));
	struct prototype prototype;
	const char *wide = NULL;
	char number[24];
	int found;

	if (!name)
		return fail_memory(fail);
	found = prototype_find(name, argument->long_size, &prototype, fail);
	if (found < 0)
		return found;
	if (probe_is_return(probe->kind) && (!strcmp(argument->fetch, "ret") || !strcmp(argument->fetch, "retval"))) {
		if (found && prototype.returns_nothing)
			return fail_set(fail, -EINVAL, "the function '%s' returns nothing", name);
		set_fetch(argument, "%s", "$retval", found ? prototype.value.type : long_type(argument));
		return 0;
	}
	for (size_t i = 0; found && i < prototype.nr; i++) {
		const struct prototype_value *parameter = &prototype.parameters[i];

		if (strcmp(parameter->name, argument->fetch) != 0) {
			wide = argument->long_size == 4 && strstr(parameter->type, "64") ? parameter->name : wide;
			continue;
		}
		if (wide)
			return fail_set(
				fail, -EINVAL,
				"'%s' of '%s' follows the 64-bit parameter '%s', which takes two registers on this "
				"machine: name the register, as in '%s=%%REGISTER'",
				argument->fetch, name, wide, argument->fetch);
		snprintf(number, sizeof(number), "%zu", i + 1);
		set_fetch(argument, "$arg%s", number, parameter->type);
		return 0;
	}
	if (found)
		return no_parameter(name, &prototype, argument->fetch, fail);
	if (!function_exists(NULL, NULL, name))
		return no_function(top, name, fail);
	return fail_set(fail, -ENOENT,
			"the parameters of '%s' are not known by name here (this kernel has no type information of "
			"it, CONFIG_DEBUG_INFO_BTF): say which one, as in '%s=$arg1%s%s'",
			name, argument->fetch, *argument->type ? ":" : "", argument->type);
}

/*
 * Resolves the name of a field of the event that the probe is attached to. A field that is a string gets the type
 * string.
 */
static int field_name(const struct instance *top, const struct probe *probe, struct argument *argument,
		      struct fail *fail)
{
	struct event_fields fields = { .nr = 0 };
	char system[EVENT_PART_SIZE], event[EVENT_PART_SIZE];
	const struct event_field *field = NULL;
	bool text;

	if (sscanf(probe->place, "%127[^.].%127s", system, event) == 2 &&
	    !event_fields_read(top, system, event, &fields, NULL))
		field = event_fields_find(&fields, argument->fetch);
	text = field && strstr(field->type, "char") && (field->array || strchr(field->type, '['));
	if (!field && !strcmp(argument->fetch, "comm"))
		set_fetch(argument, "%s", "$comm", "");
	else if (field && !text && (!strcmp(argument->type, "string") || !strcmp(argument->type, "ustring")))
		set_fetch(argument, "+0($%.200s)", argument->fetch, "");
	else
		set_fetch(argument, "$%.200s", argument->fetch, text ? "string" : "");
	event_fields_release(&fields);
	(void)fail;
	return 0;
}

static int resolve_name(const struct instance *top, const struct probe *probe, struct argument *argument,
			struct fail *fail)
{
	unsigned number;
	char rest;

	if (!*argument->name)
		memcpy(argument->name, argument->fetch, strnlen(argument->fetch, PROBE_NAME_SIZE - 1) + 1);
	argument->name[PROBE_NAME_SIZE - 1] = '\0';
	if (probe->kind == PROBE_EVENT)
		return field_name(top, probe, argument, fail);
	if (!strcmp(argument->fetch, "comm")) {
		set_fetch(argument, "%s", "$comm", "");
		return 0;
	}
	if (sscanf(argument->fetch, "arg%u%c", &number, &rest) == 1) {
		set_fetch(argument, "$%.200s", argument->fetch, "");
		return 0;
	}
	switch (probe->kind) {
	case PROBE_TRACEPOINT:
		/* The kernel itself resolves the names, if it can. */
		return 0;
	case PROBE_URETPROBE:
		if (!strcmp(argument->fetch, "ret") || !strcmp(argument->fetch, "retval")) {
			set_fetch(argument, "%s", "$retval", long_type(argument));
			return 0;
		}
		/* fall through */
	case PROBE_UPROBE:
		return fail_set(fail, -ENOENT,
				"the parameters of a program's function are not known by name: say which one, as in "
				"'%s=$arg1%s%s'",
				argument->fetch, *argument->type ? ":" : "", argument->type);
	default:
		return kernel_name(top, probe, argument, fail);
	}
}

/* Dereferences a pointer to a string: the user never means the string type without it, as in "$arg2:string". */
static void follow_pointer(struct argument *argument)
{
	char fetch[sizeof(argument->fetch)];

	if (strncmp(argument->type, "string", 6) != 0 && strncmp(argument->type, "ustring", 7) != 0)
		return;
	if (*argument->fetch == '%' || !strncmp(argument->fetch, "$arg", 4) || !strcmp(argument->fetch, "$retval")) {
		snprintf(fetch, sizeof(fetch), "+0(%.200s)", argument->fetch);
		memcpy(argument->fetch, fetch, sizeof(fetch));
	}
}

/*
 * Whether the README lists $arg<N> among what probes can fetch. A line about return probes has it on every kernel since
 * 6.10.
 */
static bool readme_has_arguments(const char *readme)
{
	static const char word[] = "$arg<N>", other[] = "return probes support:";

	for (const char *line = readme, *end; *line; line = *end ? end + 1 : end) {
		size_t len = strcspn(line, "\n");

		end = line + len;
		if (memmem(line, len, word, strlen(word)) && !memmem(line, len, other, strlen(other)))
			return true;
	}
	return false;
}

/*
 * Whether the kernel has no $argN (CONFIG_HAVE_FUNCTION_ARG_ACCESS_API). For a probe after the first instruction of a
 * function only the kernel can answer that.
 */
static bool lacks_arguments(const struct instance *top, const struct probe *probe)
{
	cleanup_buf struct buf readme = BUF_INIT;

	return probe->kind == PROBE_KPROBE && !strchr(probe->place, '+') &&
	       !instance_read(top, "README", &readme, NULL) && !readme_has_arguments(buf_str(&readme));
}

static bool in_narrow_program(const struct probe *probe)
{
	const char *colon = strrchr(probe->place, ':');
	cleanup_free char *path = colon ? strndup(probe->place, (size_t)(colon - probe->place)) : NULL;

	return path && program_is_narrow(path);
}

/*
 * Each step through memory takes a long of the kernel, FETCH_OP_DEREF of kernel/trace/trace_probe_tmpl.h: a pointer of
 * 32 bits that lies in memory itself, as the parameters on x86 do, is lost.
 */
static int check_narrow(struct argument *argument, struct fail *fail)
{
	const char *name = strstr(argument->fetch, "$arg");
	const char *first = parameter_place(1, argument->long_size, true);
	int len = name ? 4 + (int)strspn(name + 4, "0123456789") : 0;

	if (!name)
		return 0;
	if (first && *first == '+' && (name != argument->fetch || name[len]))
		return fail_set(
			fail, -EOPNOTSUPP,
			"'%.*s' is a pointer of a program of 32 bits, which this kernel of 64 bits cannot follow: "
			"fetch the pointer itself, as in '%.*s:x32'",
			len, name, len, name);
	if (!*argument->type)
		memcpy(argument->type, "x32", sizeof("x32"));
	return 0;
}

/*
 * Appends the kernel's form of one ARGUMENT of weft's syntax (probe_define.h). The kind and the place of the probe must
 * be known. -ENOENT: there is no such parameter or field; the text lists those that exist.
 */
static int probe_argument(const struct instance *top, const struct probe *probe, struct text_word word, struct buf *buf,
			  struct fail *fail)
{
	bool of_program = probe->kind == PROBE_UPROBE || probe->kind == PROBE_URETPROBE, ok = true;
	struct argument argument;
	int err = split(word, &argument, fail);

	argument.long_size = kernel_long_size(top);
	argument.narrow = of_program && argument.long_size == 8 && in_narrow_program(probe);
	if (!err && !*argument.fetch)
		return fail_set(fail, -EINVAL, "'%.*s' does not say what to fetch", (int)word.len, word.at);
	if (!err && text_is_name(argument.fetch, strlen(argument.fetch)))
		err = resolve_name(top, probe, &argument, fail);
	if (err)
		return err;
	if (probe->kind != PROBE_EVENT)
		follow_pointer(&argument);
	if (argument.narrow)
		err = check_narrow(&argument, fail);
	if (!err && (of_program || lacks_arguments(top, probe)))
		err = use_registers(&argument, fail);
	if (err)
		return err;
	if (*argument.name)
		ok = buf_addf(buf, "%s=", argument.name);
	ok = ok && buf_add_str(buf, argument.fetch);
	if (*argument.type)
		ok = ok && buf_addf(buf, ":%s", argument.type);
	return ok ? 0 : fail_memory(fail);
}

enum { NAMES_TRIED = 99 };

static bool is_taken(const struct instance *top, const char *group, const char *name)
{
	cleanup_free char *file = NULL;

	if (asprintf(&file, "events/%s/%s", group, name) >= 0)
		return instance_has(top, file);
	file = NULL;
	return false;
}

/*
 * Makes a name from the place: "bash_readline" of "/usr/bin/bash:readline", "vfs_read_0x10" of "vfs_read+0x10",
 * "sched_switch" of "sched.sched_switch".
 */
static void name_after(const struct probe *probe, const char *spot, char into[PROBE_NAME_SIZE])
{
	const char *slash = strrchr(spot, '/'), *dot = probe->kind == PROBE_EVENT ? strpbrk(spot, "./") : NULL;
	char name[PROBE_NAME_SIZE - 12];

	spot = slash ? slash + 1 : dot ? dot + 1 : spot;
	snprintf(name, sizeof(name), "%s%s", isdigit((unsigned char)*spot) ? "_" : "", spot);
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	snprintf(into, PROBE_NAME_SIZE, "%s%s", name, probe_is_return(probe->kind) ? "_return" : "");
}

/*
 * Sets the group and the name if the user gave none. The name must be unused, because the kernel would add the probe to
 * an existing event of that name.
 */
static int settle_name(const struct instance *top, struct probe *probe, const char *spot, struct fail *fail)
{
	char name[PROBE_NAME_SIZE], numbered[PROBE_NAME_SIZE + 16];

	if (!*probe->group)
		snprintf(probe->group, sizeof(probe->group), "%s",
			 probe->kind == PROBE_SYNTHETIC ? "synthetic" : PROBE_GROUP);
	if (*probe->name && is_taken(top, probe->group, probe->name))
		return fail_set(fail, -EEXIST, "there is an event '%s:%s' already", probe->group, probe->name);
	if (*probe->name)
		return 0;
	name_after(probe, spot, name);
	for (unsigned i = 1; i <= NAMES_TRIED; i++) {
		snprintf(numbered, sizeof(numbered), i == 1 ? "%s" : "%s_%u", name, i);
		if (strlen(numbered) < PROBE_NAME_SIZE && !is_taken(top, probe->group, numbered)) {
			memcpy(probe->name, numbered, strlen(numbered) + 1);
			return 0;
		}
	}
	return fail_set(fail, -EEXIST, "too many events are called '%s:%s' and numbered: choose another name",
			probe->group, name);
}

/* Splits "SYMBOL+OFFSET". Without an offset, the offset is 0. */
static int split_offset(char *spot, uint64_t *ret, struct fail *fail)
{
	char *plus = strchr(spot, '+');

	*ret = 0;
	if (!plus)
		return 0;
	*plus = '\0';
	return text_parse_u64(plus + 1, ret, fail);
}

/* Changes BINARY:FUNCTION+OFFSET to REALPATH:0xOFFSET. BINARY:0xOFFSET keeps its offset and the text after it. */
static int resolve_binary(struct probe *probe, struct fail *fail)
{
	char *colon = strrchr(probe->place, ':'), *place;
	char path[PATH_MAX];
	uint64_t plus, offset;
	int err;

	if (!colon || colon == probe->place || !colon[1])
		return fail_set(fail, -EINVAL,
				"'%s' does not name the place of the probe in the file: write BINARY:FUNCTION or "
				"BINARY:0xOFFSET",
				probe->place);
	*colon = '\0';
	if (!realpath(probe->place, path))
		return fail_set(fail, -errno, "cannot find '%s': %s", probe->place, strerror(errno));
	if (isdigit((unsigned char)colon[1])) {
		if (asprintf(&place, "%s:%s", path, colon + 1) < 0)
			return fail_memory(fail);
	} else {
		err = split_offset(colon + 1, &plus, fail);
		if (!err)
			err = elf_symbol_offset(path, colon + 1, plus, &offset, fail);
		if (err)
			return err;
		if (asprintf(&place, "%s:0x%" PRIx64, path, offset) < 0)
			return fail_memory(fail);
	}
	free(probe->place);
	probe->place = place;
	return 0;
}

/*
 * Whether "SYSTEM:EVENT" is an event: the kernel has a system of that name. Otherwise the text is a function of a
 * module.
 */
static bool names_event(const struct instance *top, const char *place, const char *colon)
{
	cleanup_free char *file = NULL;

	if (asprintf(&file, "events/%.*s/enable", (int)(colon - place), place) >= 0)
		return instance_has(top, file);
	file = NULL;
	return false;
}

static bool is_module(const char *place, const char *colon)
{
	cleanup_free char *path = NULL;

	if (asprintf(&path, "/sys/module/%.*s", (int)(colon - place), place) >= 0)
		return !access(path, F_OK);
	path = NULL;
	return true;
}

static bool begins(const char *text, const char *prefix, const char **ret_rest)
{
	size_t len = strlen(prefix);

	if (strncmp(text, prefix, len) != 0)
		return false;
	*ret_rest = text + len;
	return true;
}

/* Parses PLACE of weft's syntax, without %return. */
static int set_place(const struct instance *top, struct probe *probe, const char *place, bool is_return,
		     struct fail *fail)
{
	const char *colon = strchr(place, ':'), *rest = place;

	if (strchr(place, '/')) {
		probe->kind = is_return ? PROBE_URETPROBE : PROBE_UPROBE;
	} else if (begins(place, "fprobe:", &rest)) {
		probe->kind = is_return ? PROBE_FPROBE_RETURN : PROBE_FPROBE;
	} else if (begins(place, "tracepoint:", &rest)) {
		probe->kind = PROBE_TRACEPOINT;
	} else if (colon && names_event(top, place, colon)) {
		probe->kind = PROBE_EVENT;
	} else {
		probe->kind = is_return ? PROBE_KRETPROBE : PROBE_KPROBE;
	}
	if (is_return && !probe_is_return(probe->kind))
		return fail_set(fail, -EINVAL, "'%s' is not a function, so it has no return", place);
	if (!*rest)
		return fail_set(fail, -EINVAL, "'%s' does not name the place of the probe", place);
	if (colon && (probe->kind == PROBE_KPROBE || probe->kind == PROBE_KRETPROBE) && !is_module(place, colon))
		return fail_set(fail, -ENOENT,
				"there is no module and no system of events '%.*s'; a program is named by its path, "
				"as in './%s'",
				(int)(colon - place), place, place);
	probe->place = strdup(rest);
	if (!probe->place)
		return fail_memory(fail);
	if (probe->kind == PROBE_EVENT)
		probe->place[colon - place] = '.';
	return 0;
}

/* Parses the first word of weft's syntax: [NAME=]PLACE[%return]. */
static int take_place(const struct instance *top, struct probe *probe, struct text_word word, struct fail *fail)
{
	static const char suffix[] = "%return";
	const char *equals = memchr(word.at, '=', word.len), *slash;
	cleanup_free char *place = NULL;
	bool is_return = false;
	size_t len;

	if (equals) {
		len = (size_t)(equals - word.at);
		slash = memchr(word.at, '/', len);
		if (text_is_name(word.at, slash ? (size_t)(slash - word.at) : len) &&
		    (!slash || text_is_name(slash + 1, (size_t)(equals - slash - 1)))) {
			if (len >= PROBE_NAME_SIZE)
				return fail_set(fail, -EINVAL, "'%.*s' is too long for the name of an event", (int)len,
						word.at);
			if (slash)
				memcpy(probe->group, word.at, (size_t)(slash - word.at));
			memcpy(probe->name, slash ? slash + 1 : word.at,
			       (size_t)(equals - (slash ? slash + 1 : word.at)));
			word.len -= len + 1;
			word.at = equals + 1;
		}
	}
	if (word.len > strlen(suffix) && !memcmp(word.at + word.len - strlen(suffix), suffix, strlen(suffix))) {
		word.len -= strlen(suffix);
		is_return = true;
	}
	place = strndup(word.at, word.len);
	if (!place)
		return fail_memory(fail);
	return set_place(top, probe, place, is_return, fail);
}

/* Checks that the kernel supports this kind of probe. The error names the option that its build lacks. */
static int check_kind(const struct instance *top, enum probe_kind kind, struct fail *fail)
{
	static const struct {
		const char *file, *howto, *option;
	} needs[PROBE_KINDS] = {
		[PROBE_KPROBE] = { "kprobe_events", NULL, "CONFIG_KPROBE_EVENTS" },
		[PROBE_KRETPROBE] = { "kprobe_events", NULL, "CONFIG_KPROBE_EVENTS" },
		[PROBE_UPROBE] = { "uprobe_events", NULL, "CONFIG_UPROBE_EVENTS" },
		[PROBE_URETPROBE] = { "uprobe_events", NULL, "CONFIG_UPROBE_EVENTS" },
		[PROBE_FPROBE] = { "dynamic_events", "f[:", "CONFIG_FPROBE_EVENTS" },
		[PROBE_FPROBE_RETURN] = { "dynamic_events", "f[:", "CONFIG_FPROBE_EVENTS" },
		[PROBE_TRACEPOINT] = { "dynamic_events", "t[:", "CONFIG_FPROBE_EVENTS" },
		[PROBE_EVENT] = { "dynamic_events", "e[:", "CONFIG_EPROBE_EVENTS or CONFIG_KPROBE_EVENTS" },
		[PROBE_SYNTHETIC] = { "synthetic_events", NULL, "CONFIG_SYNTH_EVENTS" },
	};
	cleanup_buf struct buf readme = BUF_INIT;

	if (needs[kind].file && !instance_has(top, needs[kind].file))
		return fail_set(fail, -EOPNOTSUPP, "this kernel has no %s events: it was built without %s",
				probe_kind_name(kind), needs[kind].option);
	if (!needs[kind].howto || instance_read(top, "README", &readme, NULL) ||
	    strstr(buf_str(&readme), needs[kind].howto))
		return 0;
	return fail_set(fail, -EOPNOTSUPP, "this kernel has no %s events: it is too old or was built without %s",
			probe_kind_name(kind), needs[kind].option);
}

/* [NAME=]usdt:BINARY:PROBE */
static const char *usdt_at(struct text_word word)
{
	const char *equals = memchr(word.at, '=', word.len), *at = equals ? equals + 1 : word.at;

	return (size_t)(word.at + word.len - at) > 5 && !memcmp(at, "usdt:", 5) ? at : NULL;
}

static bool is_usdt(struct text_word word)
{
	return usdt_at(word);
}

static bool put_usdt_place(const struct usdt_place *place, const char *path, uint16_t machine,
			   const struct usdt_types *types, char **ret_place, char **ret_arguments)
{
	cleanup_buf struct buf text = BUF_INIT, arguments = BUF_INIT;

	if (!buf_addf(&text, "%s:0x%" PRIx64, path, place->offset) ||
	    (place->semaphore && !buf_addf(&text, "(0x%" PRIx64 ")", place->semaphore)) ||
	    !usdt_fetch(place->arguments, machine, types, &arguments))
		return false;
	*ret_place = buf_take(&text, NULL);
	*ret_arguments = strdup(arguments.len ? buf_str(&arguments) + 1 : "");
	return *ret_place && *ret_arguments;
}

/* Names the arguments that the event does not have. */
static bool note_left_out(struct probe *probe, const struct usdt *usdt, const struct usdt_types *types)
{
	cleanup_buf struct buf note = BUF_INIT;
	const char *text;
	size_t nr = usdt_argument(usdt->places[0].arguments, 0, &text);
	bool ok = true;

	for (size_t i = 0; ok && i < nr; i++) {
		(void)usdt_argument(usdt->places[0].arguments, i, &text);
		if (i >= USDT_ARGUMENTS_MAX || !types->size[i])
			ok = buf_addf(&note, "%sarg%zu (%.*s)", note.len ? ", " : "", i + 1, (int)strcspn(text, " "),
				      text);
	}
	if (ok && note.len) {
		probe->note = buf_take(&note, NULL);
		ok = probe->note;
	}
	return ok;
}

static int fill_usdt(struct probe *probe, const struct usdt_list *list, const struct usdt *usdt, const char *path,
		     struct fail *fail)
{
	cleanup_buf struct buf also = BUF_INIT;
	struct usdt_types types;
	bool ok;

	usdt_types(usdt, list->machine, &types);
	ok = put_usdt_place(&usdt->places[0], path, list->machine, &types, &probe->place, &probe->arguments) &&
	     note_left_out(probe, usdt, &types);
	for (size_t i = 1; ok && i < usdt->nr_places; i++) {
		cleanup_free char *place = NULL, *arguments = NULL;

		ok = put_usdt_place(&usdt->places[i], path, list->machine, &types, &place, &arguments) &&
		     buf_addf(&also, "%s%s%s\n", place, *arguments ? " " : "", arguments);
	}
	if (ok && also.len) {
		probe->also = buf_take(&also, NULL);
		ok = probe->also;
	}
	if (!*probe->name)
		snprintf(probe->name, sizeof(probe->name), "%.50s", usdt->name);
	return ok ? 0 : fail_memory(fail);
}

static int define_usdt(struct probe *probe, struct text_word word, const char *rest, struct fail *fail)
{
	const char *at = usdt_at(word);
	cleanup_free char *binary = strndup(at + 5, (size_t)(word.at + word.len - (at + 5)));
	struct usdt_list list;
	const struct usdt *usdt;
	char path[PATH_MAX], *colon;
	int err;

	if (!binary)
		return fail_memory(fail);
	probe->kind = PROBE_UPROBE;
	if (rest[strspn(rest, " \t\n")])
		return fail_set(fail, -EINVAL, "a USDT probe has the arguments that its note names: leave out '%s'",
				rest + strspn(rest, " \t\n"));
	if (at > word.at && !text_is_name(word.at, (size_t)(at - word.at - 1)))
		return fail_set(fail, -EINVAL, "'%.*s' is no name for an event", (int)(at - word.at - 1), word.at);
	snprintf(probe->name, sizeof(probe->name), "%.*s", at > word.at ? (int)(at - word.at - 1) : 0, word.at);
	colon = strchr(strrchr(binary, '/') ? strrchr(binary, '/') : binary, ':');
	if (!colon || colon == binary || !colon[1])
		return fail_set(fail, -EINVAL, "'%s' names no probe: write usdt:BINARY:NAME, or PROVIDER:NAME", binary);
	*colon = '\0';
	err = usdt_path(binary, path, fail);
	if (!err)
		err = usdt_read(path, &list, fail);
	if (err)
		return err;
	err = usdt_find(&list, path, colon + 1, &usdt, fail);
	if (!err)
		err = fill_usdt(probe, &list, usdt, path, fail);
	usdt_list_release(&list);
	return err;
}

static int define_friendly(const struct instance *top, const char *text, struct probe *probe, struct fail *fail)
{
	cleanup_buf struct buf arguments = BUF_INIT;
	struct text_word word;
	int err;

	if (!text_next_word(&text, " \t\n", &word))
		return fail_set(fail, -EINVAL, "a probe without a place to attach to");
	if (is_usdt(word))
		return define_usdt(probe, word, text, fail);
	err = take_place(top, probe, word, fail);
	if (!err)
		err = check_kind(top, probe->kind, fail);
	while (!err && text_next_word(&text, " \t\n", &word)) {
		/* The filter of an event probe goes to the kernel unchanged. */
		if (text_word_is(word, "if")) {
			if (!buf_addf(&arguments, "%sif%s", arguments.len ? " " : "", text))
				err = fail_memory(fail);
			break;
		}
		if (arguments.len && !buf_add_str(&arguments, " "))
			err = fail_memory(fail);
		if (!err)
			err = probe_argument(top, probe, word, &arguments, fail);
	}
	if (!err) {
		probe->arguments = buf_take(&arguments, NULL);
		err = probe->arguments ? 0 : fail_memory(fail);
	}
	return err;
}

/* Parses "NAME TYPE FIELD; TYPE FIELD", the kernel's own syntax for a synthetic event after "s:". */
static int define_synthetic(const char *text, struct probe *probe, struct fail *fail)
{
	cleanup_free char *kernel = NULL;
	int err;

	if (probe_is_kernel_syntax(text) && text[1] == ':') {
		err = probe_parse(text, probe, fail);
	} else {
		if (asprintf(&kernel, "s:%s", text + strspn(text, " \t")) < 0) {
			kernel = NULL;
			return fail_memory(fail);
		}
		err = probe_parse(kernel, probe, fail);
	}
	if (err)
		return err;
	if (probe->kind != PROBE_SYNTHETIC || !*probe->name)
		return fail_set(fail, -EINVAL, "'%s' is not a synthetic event: write NAME TYPE FIELD; TYPE FIELD",
				text);
	if (!*probe->arguments)
		return fail_set(fail, -EINVAL,
				"the synthetic event '%s' has no fields: write NAME TYPE FIELD; TYPE FIELD",
				probe->name);
	return 0;
}

int probe_define(const struct instance *top, const char *text, bool synthetic, struct probe *ret, struct fail *fail)
{
	struct probe probe = { .max_active = 0 };
	cleanup_free char *spot = NULL;
	int err;

	text += strspn(text, " \t\n");
	if (synthetic || !strncmp(text, "s:", 2))
		err = define_synthetic(text, &probe, fail);
	else if (probe_is_kernel_syntax(text))
		err = probe_parse(text, &probe, fail);
	else
		err = define_friendly(top, text, &probe, fail);
	if (!err)
		err = check_kind(top, probe.kind, fail);
	if (!err)
		err = probe_fetch_check(top, &probe, fail);
	if (!err)
		probe_make_room(top, &probe);
	if (!err) {
		/* The probe gets its name from the function without its offset. */
		spot = strdup(probe.place);
		err = spot ? 0 : fail_memory(fail);
	}
	if (!err && (probe.kind == PROBE_UPROBE || probe.kind == PROBE_URETPROBE))
		err = resolve_binary(&probe, fail);
	if (!err)
		err = settle_name(top, &probe, spot, fail);
	if (err) {
		probe_release(&probe);
		return err;
	}
	*ret = probe;
	return 0;
}
