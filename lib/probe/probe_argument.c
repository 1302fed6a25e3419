// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/probe/probe_argument_internal.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/explain/fitting.h"
#include "lib/explain/probe.h"
#include "lib/probe/btf_internal.h"
#include "lib/probe/parameter_place_internal.h"
#include "lib/tracefs/event_fields.h"
#include "lib/tracefs/instance.h"
#include "lib/tracefs/word.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
	if (!function_exists(NULL, name))
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

int probe_argument(const struct instance *top, const struct probe *probe, struct text_word word, struct buf *buf,
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
