// SPDX-License-Identifier: GPL-2.0-only
#include "lib/probe/probe_argument.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/explain/fitting.h"
#include "lib/explain/probe.h"
#include "lib/probe/btf.h"
#include "lib/tracefs/event_fields.h"
#include "lib/tracefs/instance.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* NAME=FETCH:TYPE in its parts. */
struct argument {
	char name[PROBE_NAME_SIZE]; /* "" where none is said */
	char fetch[256];
	char type[64]; /* "" where none is said */
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
	/* A type stands behind the last colon, unless that is in parentheses or quotes. */
	colon = memrchr(at, ':', (size_t)(end - at));
	if (colon && (memchr(colon, ')', (size_t)(end - colon)) || memchr(colon, '"', (size_t)(end - colon))))
		colon = NULL;
	if (!err && colon)
		err = copy_part(colon + 1, (size_t)(end - colon - 1), ret->type, sizeof(ret->type), fail);
	return err ? err : copy_part(at, (size_t)((colon ? colon : end) - at), ret->fetch, sizeof(ret->fetch), fail);
}

/*
 * Where a program's function has its parameters when it begins, by the calling convention of this machine and by the names that
 * regs_query_register_offset() of arch/X/kernel/ptrace.c knows: uprobes know no $argN.
 */
static const char *argument_register(unsigned number)
{
	static const char *const names[] = {
#if defined(__x86_64__)
		"%di",
		"%si",
		"%dx",
		"%cx",
		"%r8",
		"%r9",
#elif defined(__aarch64__)
		"%x0",
		"%x1",
		"%x2",
		"%x3",
		"%x4",
		"%x5",
		"%x6",
		"%x7",
#elif defined(__arm__)
		"%r0",
		"%r1",
		"%r2",
		"%r3",
#elif defined(__powerpc64__)
		"%r3",
		"%r4",
		"%r5",
		"%r6",
		"%r7",
		"%r8",
		"%r9",
		"%r10",
#elif defined(__s390x__)
		"%r2",
		"%r3",
		"%r4",
		"%r5",
		"%r6",
#elif defined(__riscv)
		"%a0",
		"%a1",
		"%a2",
		"%a3",
		"%a4",
		"%a5",
		"%a6",
		"%a7",
#elif defined(__i386__)
		"$stack1",
		"$stack2",
		"$stack3",
		"$stack4",
		"$stack5",
		"$stack6",
#endif
		NULL,
	};

	return number && number < array_size(names) ? names[number - 1] : NULL;
}

/* Each $argN of the text by its register. */
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
			name = argument_register(number);
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

/* A parameter, or the value, of a function of the kernel by name. */
static int kernel_name(const struct instance *top, const struct probe *probe, struct argument *argument,
		       struct fail *fail)
{
	const char *colon = strchr(probe->place, ':'), *function = colon ? colon + 1 : probe->place;
	cleanup_free char *name = strndup(function, strcspn(function, "+"));
	struct prototype prototype;
	char number[24];
	int found;

	if (!name)
		return fail_memory(fail);
	found = prototype_find(name, &prototype, fail);
	if (found < 0)
		return found;
	if (probe_is_return(probe->kind) && (!strcmp(argument->fetch, "ret") || !strcmp(argument->fetch, "retval"))) {
		if (found && prototype.returns_nothing)
			return fail_set(fail, -EINVAL, "the function '%s' returns nothing", name);
		set_fetch(argument, "%s", "$retval", found ? prototype.value.type : "s64");
		return 0;
	}
	for (size_t i = 0; found && i < prototype.nr; i++) {
		if (strcmp(prototype.parameters[i].name, argument->fetch) != 0)
			continue;
		snprintf(number, sizeof(number), "%zu", i + 1);
		set_fetch(argument, "$arg%s", number, prototype.parameters[i].type);
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

/* A field of the event that the probe is on; strings are printed as such. */
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
		/* The kernel knows them itself, where it knows them at all. */
		return 0;
	case PROBE_URETPROBE:
		if (!strcmp(argument->fetch, "ret") || !strcmp(argument->fetch, "retval")) {
			set_fetch(argument, "%s", "$retval", "s64");
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

/* A string is where the pointer points to: "$arg2:string" is never what is meant. */
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

int probe_argument(const struct instance *top, const struct probe *probe, struct text_word word, struct buf *buf,
		   struct fail *fail)
{
	struct argument argument;
	int err = split(word, &argument, fail);
	bool ok = true;

	if (!err && !*argument.fetch)
		return fail_set(fail, -EINVAL, "'%.*s' does not say what to fetch", (int)word.len, word.at);
	if (!err && text_is_name(argument.fetch, strlen(argument.fetch)))
		err = resolve_name(top, probe, &argument, fail);
	if (err)
		return err;
	if (probe->kind != PROBE_EVENT)
		follow_pointer(&argument);
	if (probe->kind == PROBE_UPROBE || probe->kind == PROBE_URETPROBE)
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
