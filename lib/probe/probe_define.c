// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/probe/probe_define.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/probe/elf_symbol_internal.h"
#include "lib/probe/probe_argument_internal.h"
#include "lib/probe/probe_fetch_internal.h"
#include "lib/probe/probe_room_internal.h"
#include "lib/tracefs/instance.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

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

static int define_friendly(const struct instance *top, const char *text, struct probe *probe, struct fail *fail)
{
	cleanup_buf struct buf arguments = BUF_INIT;
	struct text_word word;
	int err;

	if (!text_next_word(&text, " \t\n", &word))
		return fail_set(fail, -EINVAL, "a probe without a place to attach to");
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
