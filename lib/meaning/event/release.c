// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/release.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/pages/trace/trace.h"

/*
 * The patch number of the release from the version text of Debian's kernels, because the third number of their uname -r
 * is Debian's own.
 */
static unsigned patch_of(const struct context *context, const char *uname, unsigned patch)
{
	const char *debian = uname ? strstr(uname, " Debian ") : NULL;
	unsigned major, minor, real;

	if (debian && sscanf(debian, " Debian %3u.%5u.%5u", &major, &minor, &real) == 3 &&
	    major == context->release_major && minor == context->release_minor)
		return real;
	return patch;
}

void release_read(struct context *context, const char *uname)
{
	unsigned major, minor, patch = 0;

	if (sscanf(context->release, "%3u.%5u.%5u", &major, &minor, &patch) >= 2) {
		context->release_major = major;
		context->release_minor = minor;
		context->release_patch = patch_of(context, uname, patch);
	}
	context->preempt_rt = (uname && strstr(uname, " PREEMPT_RT ")) || strstr(context->release, "-rt");
}

/*
 * Facts that only old kernels have: the common field of 4 bytes that was called common_lock_depth before 2.6.39 and
 * common_padding before 3.10 (PREEMPT_RT has another of that name, of 2 bytes), and the states of sched_switch as
 * decimal numbers, { 1, "S" }, before 4.14; { 1024, "N" } is one of 4.2 to 4.13.
 */
static bool is_old(const struct format *format)
{
	for (uint32_t i = 0; i < format->nr_common; i++)
		if (format->fields[i].size == 4 && (!strcmp(format->fields[i].name, "common_lock_depth") ||
						    !strcmp(format->fields[i].name, "common_padding")))
			return true;
	return !strcmp(format->system, "sched") && !strcmp(format->name, "sched_switch") &&
	       strstr(format->print_fmt, "{ 1, \"S\"");
}

void release_guess(struct context *context)
{
	const char *system, *name;
	const struct format *any = NULL, *one;
	int32_t id = schema_find(context->schema, "sched", "sched_switch");

	if (context->release_major)
		return;
	one = id < 0 ? NULL : schema_format(context->schema, id, NULL);
	for (size_t i = 0; !any && schema_at(context->schema, i, &id, &system, &name); i++)
		any = strcmp(system, "ftrace") != 0 ? schema_format(context->schema, id, NULL) : NULL;
	context->before_4_15 = (one && is_old(one)) || (any && is_old(any));
}

/* A stable release that is the first of its series with a commit. */
struct mended {
	unsigned major, minor, patch;
};

/* Whether the kernel lacks the commit; a series that is not in the list does. */
static bool lacks(const struct context *context, const struct mended *mended, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (context->release_major == mended[i].major && context->release_minor == mended[i].minor)
			return context->release_patch < mended[i].patch;
	return true;
}

bool release_shifts_log2(const struct context *context)
{
	/* From the changelogs of Debian's kernels; 6.12.107 lacks it, and 6.12.117 has it. */
	static const struct mended mended[] = { { 6, 1, 191 }, { 6, 12, 114 }, { 7, 2, 13 } };

	return context->release_major && !context_since(context, 7, 3) && lacks(context, mended, array_size(mended));
}

bool release_prints_more(const struct context *context)
{
	static const struct mended mended[] = { { 5, 10, 261 }, { 5, 15, 212 }, { 6, 1, 178 }, { 6, 6, 145 },
						{ 6, 12, 97 },  { 6, 18, 40 },  { 7, 1, 5 } };

	return context->release_major && !context_since(context, 7, 2) && lacks(context, mended, array_size(mended));
}

/*
 * A program whose personality is PER_LINUX32 is told another machine (UTS_MACHINE's place is taken by
 * COMPAT_UTS_MACHINE in the kernel's newuname()). The size of a long shows which kernel it was.
 */
static const char *machine_of_64_bits(const char *machine)
{
	static const struct {
		const char *told, *is;
	} names[] = {
		{ "i386", "x86_64" },     { "i486", "x86_64" },    { "i586", "x86_64" },   { "i686", "x86_64" },
		{ "armv8l", "aarch64" },  { "armv8b", "aarch64" }, { "s390", "s390x" },    { "ppc", "ppc64" },
		{ "ppcle", "ppc64le" },   { "mips", "mips64" },    { "sparc", "sparc64" }, { "parisc", "parisc64" },
		{ "riscv32", "riscv64" },
	};

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(machine, names[i].told))
			return names[i].is;
	return NULL;
}

void release_read_machine(struct context *context, struct trace_text uname)
{
	static const char system[] = "GNU/Linux";
	struct text_word word = { NULL, 0 };
	size_t end = uname.len;
	const char *wide;

	for (int tries = 0; uname.text && tries < 2; tries++) {
		size_t start;

		while (end && strchr("\n ", uname.text[end - 1]))
			end--;
		for (start = end; start && uname.text[start - 1] != ' '; start--)
			;
		word = (struct text_word){ uname.text + start, end - start };
		if (word.len != strlen(system) || memcmp(word.at, system, word.len))
			break;
		end = start;
	}
	snprintf(context->machine, sizeof(context->machine), "%.*s", (int)word.len, word.at ? word.at : "");
	wide = trace_info(context->trace)->long_size == 8 ? machine_of_64_bits(context->machine) : NULL;
	if (wide)
		snprintf(context->machine, sizeof(context->machine), "%s", wide);
}

/*
 * The chosen word "(full)" of "none voluntary (full)", a file of debugfs: the model of kernels that choose it when they
 * boot.
 */
static struct text_word chosen_model(const struct context *context)
{
	struct trace_text chosen = trace_setting(context->trace, 0, "weft/sched_preempt");
	const char *open = chosen.text ? memchr(chosen.text, '(', chosen.len) : NULL;
	const char *close = open ? memchr(open, ')', chosen.len - (size_t)(open - chosen.text)) : NULL;

	return close ? (struct text_word){ open, (size_t)(close - open) + 1 } : (struct text_word){ NULL, 0 };
}

/* preempt_model_str() */
char *release_new_model(const struct context *context)
{
	struct text_word chosen = chosen_model(context);
	char *model;

	if (!context_knows(context, 6, 15) || !chosen.at)
		return NULL;
	if (asprintf(&model, context->preempt_rt ? "PREEMPT_{RT,%.*s}" : "PREEMPT%.*s", (int)chosen.len, chosen.at) <
	    0) {
		trace_lacks_memory(context->trace);
		return NULL;
	}
	return model;
}

/* preempt_model_*() */
const char *release_model(const struct context *context, const char *uname)
{
	static const struct {
		const char *sign, *model;
	} signs[] = { { "(full)", "preempt" }, { "(voluntary)", "desktop" }, { "(none)", "server" } };
	struct text_word chosen = chosen_model(context);

	if (context_knows(context, 6, 15))
		return "unknown";
	if (context->preempt_rt)
		return "preempt_rt";
	for (size_t i = 0; i < array_size(signs); i++)
		if (chosen.len == strlen(signs[i].sign) && !memcmp(chosen.at, signs[i].sign, chosen.len))
			return signs[i].model;
	return uname && strstr(uname, " PREEMPT ") ? "preempt" : "unknown";
}
