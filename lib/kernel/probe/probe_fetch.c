// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mirrors handle_typecast(), parse_this_cpu() and parse_probe_var_current() of the kernel's kernel/trace/trace_probe.c
 * (7.3).
 */
#include "lib/kernel/probe/probe_fetch_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/probe/btf_internal.h"
#include "lib/kernel/refusals/probe.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/memory/image/btf_types.h"

static bool in_name(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/*
 * The length of the cast "(STRUCT)" or "(STRUCT,MEMBER)" at `at`. 0: these parentheses are no cast: an offset precedes
 * them, or they contain an expression.
 */
static size_t cast_len(const char *at, const char *begin)
{
	const char *end = at + 1;

	if (*at != '(' || (at > begin && !strchr(" =()\t", at[-1])))
		return 0;
	while (in_name(*end))
		end++;
	if (end == at + 1)
		return 0;
	if (*end == ',')
		end += strcspn(end, ") \t");
	return *end == ')' ? (size_t)(end + 1 - at) : 0;
}

/* The text after the parenthesis that closes the first one. NULL: no parenthesis closes it. */
static const char *skip_group(const char *at)
{
	unsigned depth = 0;

	for (; *at && *at != ' ' && *at != '\t'; at++) {
		depth += *at == '(';
		if (*at == ')' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* Whether "->MEMBER" follows the value of a cast. `at` is the text after the cast. */
static bool has_member(const char *at)
{
	if (*at != '(' && *at != '+' && *at != '-' && strncmp(at, "this_cpu_", 9) != 0) {
		at += strcspn(at, "- \t");
	} else {
		at += strcspn(at, "( \t");
		at = *at == '(' ? skip_group(at) : at;
	}
	return at && at[0] == '-' && at[1] == '>' && in_name(at[2]);
}

/*
 * Whether the type information of any module has this name. weft does not search the types of modules, so in that case
 * the kernel has to decide.
 */
static bool in_modules(const char *name)
{
	cleanup_buf struct buf btf = BUF_INIT;
	DIR *folder = opendir(BTF_FOLDER);
	bool found = false;

	while (!found && tracing_next_btf(folder, &btf))
		found = memmem(btf.data, btf.len, name, strlen(name) + 1);
	if (folder)
		closedir(folder);
	return found;
}

static int no_structure(const char *name, struct fail *fail)
{
	cleanup_buf struct buf data = BUF_INIT;
	struct near near = near_to(name);
	struct btf btf = { .nr = 0 };
	struct btf_type type;
	bool found = tracing_read_path(BTF_FOLDER "vmlinux", &data, NULL) || btf_open(&btf, data.data, data.len, NULL);

	for (uint32_t id = 1; !found && id < btf.nr; id++) {
		const char *has;

		if (!btf_type_at(&btf, id, &type) || btf_kind(&type) != KIND_STRUCT)
			continue;
		has = btf_string(&btf, type.name);
		found = !strcmp(has, name);
		if (*has)
			near_offer(&near, has);
	}
	btf_release(&btf);
	if (found || in_modules(name))
		return 0;
	return near_fail(&near, fail, -ENOENT, "the kernel has no structure '%s'", name);
}

static int check_cast(const struct probe *probe, const char *at, size_t len, const char *readme, struct fail *fail)
{
	cleanup_free char *name = strndup(at + 1, strcspn(at + 1, ",)"));

	if (!name)
		return fail_memory(fail);
	if (!strstr(readme, "[(structname"))
		return fail_set(fail, -EOPNOTSUPP,
				"this kernel has no casts in probes, as '%.*s': they came with Linux 7.3, and need "
				"CONFIG_DEBUG_INFO_BTF; name the offset of the member, as in '+OFFSET($arg1):u32'",
				(int)len, at);
	if (probe->kind == PROBE_UPROBE || probe->kind == PROBE_URETPROBE)
		return fail_set(fail, -EOPNOTSUPP, "only probes of the kernel know casts, as '%.*s'", (int)len, at);
	if (!has_member(at + len))
		return fail_set(fail, -EINVAL,
				"the cast '%.*s' does not say which member: write it behind the value, as in "
				"'%.*sVALUE->MEMBER'",
				(int)len, at, (int)len, at);
	return no_structure(name, fail);
}

/* Checks a word that the kernel supports if its README contains `known`. */
static int check_word(const struct probe *probe, const char *word, const char *known, const char *readme,
		      struct fail *fail)
{
	if (!strstr(readme, known))
		return fail_set(fail, -EOPNOTSUPP, "this kernel does not know '%s' in probes: it came with Linux 7.3",
				word);
	if (probe->kind == PROBE_UPROBE || probe->kind == PROBE_URETPROBE)
		return fail_set(fail, -EOPNOTSUPP, "only probes of the kernel know '%s'", word);
	if (probe->kind == PROBE_EVENT)
		return fail_set(fail, -EOPNOTSUPP, "probes of events do not know '%s'", word);
	return 0;
}

static int check_at(const struct probe *probe, const char *at, const char *readme, struct fail *fail)
{
	static const char current[] = "$current";
	const char *word = !strncmp(at, "this_cpu_read(", 14) ? "this_cpu_read()" :
			   !strncmp(at, "this_cpu_ptr(", 13)  ? "this_cpu_ptr()" :
								NULL;

	if (word && (at == probe->arguments || !in_name(at[-1])))
		return check_word(probe, word, "this_cpu_read(", readme, fail);
	/* In an event probe, $current is a field of the event. */
	if (probe->kind != PROBE_EVENT && !strncmp(at, current, strlen(current)) && !in_name(at[strlen(current)]))
		return check_word(probe, current, ", $current", readme, fail);
	return 0;
}

int probe_fetch_check(const struct instance *top, const struct probe *probe, struct fail *fail)
{
	cleanup_buf struct buf readme = BUF_INIT;
	const char *at = probe->arguments ? probe->arguments : "";
	int err = 0;

	/* Without a README only the kernel can check the words. */
	if (probe->kind == PROBE_SYNTHETIC || probe->kind == PROBE_USER_EVENT || !strpbrk(at, "($") ||
	    instance_read(top, "README", &readme, NULL))
		return 0;
	while (!err && *at) {
		size_t len;

		if (*at == '"') {
			at++;
			at += strcspn(at, "\"");
			at += *at != '\0';
			continue;
		}
		/* The rest of the text is a filter. */
		if (probe->kind == PROBE_EVENT && !strncmp(at, " if ", 4))
			break;
		len = cast_len(at, probe->arguments);
		err = len ? check_cast(probe, at, len, buf_str(&readme), fail) :
			    check_at(probe, at, buf_str(&readme), fail);
		/* The parenthesis after a cast begins a value, so it is skipped. */
		at += len + (len && at[len] == '(') + !len;
	}
	return err;
}
