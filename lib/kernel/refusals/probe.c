// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/refusals/probe.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

static const char return_suffix[] = "%return";

static const struct {
	const char *name;
	char letter;
	bool is_return;
} kinds[PROBE_KINDS] = {
	[PROBE_KPROBE] = { "kprobe", 'p', false },
	[PROBE_KRETPROBE] = { "kretprobe", 'r', true },
	[PROBE_UPROBE] = { "uprobe", 'p', false },
	[PROBE_URETPROBE] = { "uretprobe", 'r', true },
	[PROBE_EVENT] = { "eprobe", 'e', false },
	[PROBE_FPROBE] = { "fprobe", 'f', false },
	[PROBE_FPROBE_RETURN] = { "fprobe return", 'f', true },
	[PROBE_TRACEPOINT] = { "tracepoint", 't', false },
	[PROBE_SYNTHETIC] = { "synthetic", 's', false },
	[PROBE_USER_EVENT] = { "user event", 'u', false },
};

void probe_release(struct probe *probe)
{
	free(probe->place);
	free(probe->also);
	free(probe->note);
	free(probe->arguments);
	probe->place = probe->arguments = NULL;
}

const char *probe_kind_name(enum probe_kind kind)
{
	return kinds[kind].name;
}

bool probe_is_return(enum probe_kind kind)
{
	return kinds[kind].is_return;
}

bool probe_is_kernel_syntax(const char *text)
{
	if (!strchr("prefts", *text) || !*text)
		return false;
	text++;
	text += strspn(text, "0123456789");
	return *text == ':' || isspace((unsigned char)*text);
}

/* Reads "GROUP/NAME", "GROUP.NAME", "NAME" or "GROUP/". */
static int take_names(struct text_word names, struct probe *probe, struct fail *fail)
{
	const char *slash = memchr(names.at, '/', names.len);
	size_t group, name;

	if (!slash)
		slash = memchr(names.at, '.', names.len);
	group = slash ? (size_t)(slash - names.at) : 0;
	name = slash ? names.len - group - 1 : names.len;
	if (group >= PROBE_NAME_SIZE || name >= PROBE_NAME_SIZE)
		return fail_set(fail, -EINVAL, "'%.*s' is too long for the name of an event", (int)names.len, names.at);
	memcpy(probe->group, names.at, group);
	memcpy(probe->name, names.at + names.len - name, name);
	return 0;
}

static char *rest_of(const char *at)
{
	size_t len;

	at += strspn(at, " \t\n");
	len = strlen(at);
	while (len && isspace((unsigned char)at[len - 1]))
		len--;
	return strndup(at, len);
}

/* Sets the kind: for a 'p' or an 'r' it depends on the place. */
static int settle_kind(struct probe *probe, char letter, struct fail *fail)
{
	size_t len = strlen(probe->place), suffix = strlen(return_suffix);
	bool is_return = letter == 'r', is_user = strchr(probe->place, '/');

	if (len > suffix && !strcmp(probe->place + len - suffix, return_suffix)) {
		probe->place[len - suffix] = '\0';
		is_return = true;
	}
	switch (letter) {
	case 'p':
	case 'r':
		probe->kind = is_user   ? is_return ? PROBE_URETPROBE : PROBE_UPROBE :
			      is_return ? PROBE_KRETPROBE :
					  PROBE_KPROBE;
		return 0;
	case 'f':
		probe->kind = is_return ? PROBE_FPROBE_RETURN : PROBE_FPROBE;
		return 0;
	case 'e':
		probe->kind = PROBE_EVENT;
		return 0;
	case 't':
		probe->kind = PROBE_TRACEPOINT;
		return 0;
	}
	return fail_set(fail, -EINVAL, "no kind of probe begins with '%c'", letter);
}

int probe_parse(const char *text, struct probe *ret, struct fail *fail)
{
	struct probe probe = { .max_active = 0 };
	const char *at = text;
	struct text_word head, place = { .len = 0 };
	int err = 0;
	char letter;

	if (!text_next_word(&at, " \t\n", &head) || (!probe_is_kernel_syntax(text) && head.at[0] != 'u'))
		return fail_set(fail, -EINVAL, "'%s' is not the definition of a probe", text);
	letter = *head.at++;
	head.len--;
	for (; head.len && isdigit((unsigned char)*head.at); head.at++, head.len--)
		probe.max_active =
			probe.max_active < 100000 ? probe.max_active * 10 + (unsigned)(*head.at - '0') : 100000;
	if (head.len && *head.at == ':') {
		head.at++;
		head.len--;
		err = take_names(head, &probe, fail);
	}
	if (err)
		return err;
	if (letter != 's' && letter != 'u' && !text_next_word(&at, " \t\n", &place))
		return fail_set(fail, -EINVAL, "'%s' does not name the place of the probe", text);
	probe.place = place.len ? strndup(place.at, place.len) : strdup("");
	probe.arguments = rest_of(at);
	if (!probe.place || !probe.arguments)
		err = fail_memory(fail);
	else if (letter == 's' || letter == 'u')
		probe.kind = letter == 's' ? PROBE_SYNTHETIC : PROBE_USER_EVENT;
	else
		err = settle_kind(&probe, letter, fail);
	if (err) {
		probe_release(&probe);
		return err;
	}
	*ret = probe;
	return 0;
}

bool probe_print(const struct probe *probe, struct buf *buf)
{
	bool ok = buf_addf(buf, "%c", kinds[probe->kind].letter);

	if (probe->max_active)
		ok = ok && buf_addf(buf, "%u", probe->max_active);
	ok = ok && buf_addf(buf, ":%s/%s", probe->group, probe->name);
	if (*probe->place)
		ok = ok &&
		     buf_addf(buf, " %s%s", probe->place, probe->kind == PROBE_FPROBE_RETURN ? return_suffix : "");
	if (*probe->arguments)
		ok = ok && buf_addf(buf, " %s", probe->arguments);
	return ok;
}
