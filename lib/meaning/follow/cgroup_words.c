// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/cgroup_words_internal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"

enum { ID_LEN = 64 };

/* One element of the path. */
struct element {
	const char *at;
	size_t len;
};

static bool next_element(const char **at, struct element *ret)
{
	while (**at == '/')
		(*at)++;
	if (!**at)
		return false;
	*ret = (struct element){ *at, strcspn(*at, "/") };
	*at += ret->len;
	/* systemd writes '_' before a name that would be one of the kernel's files (cg_escape()). */
	if (ret->len > 1 && *ret->at == '_')
		*ret = (struct element){ ret->at + 1, ret->len - 1 };
	return true;
}

static bool begins(struct element element, const char *with)
{
	return element.len >= strlen(with) && !memcmp(element.at, with, strlen(with));
}

static bool ends(struct element element, const char *with)
{
	size_t len = strlen(with);

	return element.len > len && !memcmp(element.at + element.len - len, with, len);
}

static bool is(struct element element, const char *text)
{
	return element.len == strlen(text) && !memcmp(element.at, text, element.len);
}

static void set(char into[CGROUP_WORD], struct element element)
{
	snprintf(into, CGROUP_WORD, "%.*s", (int)(element.len < CGROUP_WORD ? element.len : CGROUP_WORD - 1),
		 element.at);
}

static bool is_id(const char *at, size_t len)
{
	if (len != ID_LEN)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)at[i]))
			return false;
	return true;
}

static bool is_unit(struct element element)
{
	static const char *const kinds[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

	for (size_t i = 0; i < array_size(kinds); i++)
		if (ends(element, kinds[i]))
			return true;
	return false;
}

/* The manager of a user has units of its own below its service. */
static bool is_manager(struct element element)
{
	return begins(element, "user@") && ends(element, ".service");
}

/* The first unit from the root: what is below belongs to it. */
static void find_unit(const char *path, char into[CGROUP_WORD])
{
	struct element element;

	while (next_element(&path, &element)) {
		if (!is_unit(element))
			continue;
		set(into, element);
		if (!is_manager(element))
			return;
	}
}

/* What stands between the words before and behind it. */
static bool take_between(struct element element, const char *before, const char *behind, char into[CGROUP_WORD])
{
	if (!begins(element, before) || !ends(element, behind) || element.len <= strlen(before) + strlen(behind))
		return false;
	set(into, (struct element){ element.at + strlen(before), element.len - strlen(before) - strlen(behind) });
	return true;
}

/* PREFIX-<64 hex>.scope or PREFIX-<64 hex>; the prefix is that of a runtime. */
static bool take_scope(struct element element, char into[CGROUP_WORD])
{
	static const char *const runtimes[] = { "docker-", "libpod-", "cri-containerd-", "crio-", "nerdctl-" };
	size_t tail = ends(element, ".scope") ? strlen(".scope") : 0;

	for (size_t i = 0; i < array_size(runtimes); i++) {
		size_t head = strlen(runtimes[i]);

		if (begins(element, runtimes[i]) && element.len > head + tail &&
		    is_id(element.at + head, element.len - head - tail)) {
			set(into, (struct element){ element.at + head, ID_LEN });
			return true;
		}
	}
	return false;
}

/* systemd writes "\x2d" for the '-' in the name of a machine. */
static void unescape(char text[CGROUP_WORD])
{
	char *to = text;

	for (const char *at = text; *at; to++) {
		unsigned code;
		int taken = 0;

		if (*at == '\\' && sscanf(at, "\\x%2x%n", &code, &taken) == 1 && taken == 4 && code) {
			*to = (char)code;
			at += taken;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

static bool take_machine(struct element element, char into[CGROUP_WORD])
{
	const char *name;

	if (take_between(element, "lxc.payload.", "", into) ||
	    take_between(element, "systemd-nspawn@", ".service", into)) {
		unescape(into);
		return true;
	}
	if (!take_between(element, "machine-", ".scope", into))
		return false;
	unescape(into);
	/* libvirt: machine-qemu-1-NAME.scope */
	name = strchr(into, '-');
	if (!strncmp(into, "qemu-", 5) && name && strchr(name + 1, '-')) {
		name = strchr(name + 1, '-') + 1;
		memmove(into, name, strlen(name) + 1);
	}
	return true;
}

/* The innermost container counts: one can run inside of another. */
static void find_container(const char *path, char into[CGROUP_WORD])
{
	struct element element, above = { "", 0 };
	char found[CGROUP_WORD];

	while (next_element(&path, &element)) {
		if (take_scope(element, found) || take_machine(element, found))
			memcpy(into, found, CGROUP_WORD);
		else if (is_id(element.at, element.len) || is(above, "k8s.io"))
			set(into, element);
		above = element;
	}
}

/* kubepods-burstable-pod<UID>.slice with '_' for '-', or pod<UID>. */
static void find_pod(const char *path, char into[CGROUP_WORD])
{
	struct element element;
	bool kubernetes = false;

	while (next_element(&path, &element)) {
		const char *pod = begins(element, "pod")  ? element.at :
				  ends(element, ".slice") ? memmem(element.at, element.len, "-pod", 4) :
							    NULL;

		if (kubernetes && pod) {
			pod += *pod == '-' ? 4 : 3;
			set(into, (struct element){ pod, (size_t)(element.at + element.len - pod) -
								 (ends(element, ".slice") ? strlen(".slice") : 0) });
			for (char *at = into; *at; at++)
				*at = *at == '_' ? '-' : *at;
			return;
		}
		kubernetes |= begins(element, "kubepods") || begins(element, "kubelet");
	}
}

void cgroup_word(const char *path, enum cgroup_word which, char into[CGROUP_WORD])
{
	*into = '\0';
	switch (which) {
	case CGROUP_UNIT:
		find_unit(path, into);
		break;
	case CGROUP_CONTAINER:
		find_container(path, into);
		break;
	case CGROUP_POD:
		find_pod(path, into);
		break;
	}
}
