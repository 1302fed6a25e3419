// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/probe/probes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/undo.h"

static const char events_file[] = "dynamic_events";

void probe_list_release(struct probe_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		probe_release(&list->probes[i].probe);
	free(list->probes);
	*list = (struct probe_list){ .nr = 0 };
}

static int add_line(struct probe_list *list, struct text_word line, struct fail *fail)
{
	cleanup_free char *text = strndup(line.at, line.len);
	struct probe_state state = { .ours = false }, *added;
	int err;

	if (!text)
		return fail_memory(fail);
	err = probe_parse(text, &state.probe, NULL);
	if (err)
		return err == -ENOMEM ? fail_memory(fail) : 0;
	if (!*state.probe.group)
		snprintf(state.probe.group, sizeof(state.probe.group), "%s",
			 state.probe.kind == PROBE_USER_EVENT ? "user_events" : "?");
	added = vec_push(list->probes, list->nr);
	if (!added) {
		probe_release(&state.probe);
		return fail_memory(fail);
	}
	*added = state;
	return 0;
}

static void count(struct probe_list *list, bool user, const char *name, uint64_t hits, uint64_t missed)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct probe_state *state = &list->probes[i];
		enum probe_kind kind = state->probe.kind;
		bool is_user = kind == PROBE_UPROBE || kind == PROBE_URETPROBE;

		if ((!is_user && kind != PROBE_KPROBE && kind != PROBE_KRETPROBE) || is_user != user ||
		    strcmp(state->probe.name, name) != 0)
			continue;
		state->counted = true;
		state->hits += hits;
		state->missed += missed;
	}
}

/*
 * Reads kprobe_profile, " NAME HITS MISSED", or with `user` uprobe_profile, " PATH NAME HITS". The kernel may not have
 * these files, or not let this user read them.
 */
static int read_counts(const struct instance *top, struct probe_list *list, bool user, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err = instance_read(top, user ? "uprobe_profile" : "kprobe_profile", &buf, fail);

	if (err)
		return err == -ENOENT || err == -EACCES || err == -EPERM ? 0 : err;
	at = buf_str(&buf);
	left = buf.len;
	while (text_next_line(&at, &left, &line)) {
		cleanup_free char *text = strndup(line.at, line.len);
		uint64_t hits, missed = 0;
		char name[PROBE_NAME_SIZE];

		if (!text)
			return fail_memory(fail);
		if (user ? sscanf(text, "%*s %63s %" SCNu64, name, &hits) == 2 :
			   sscanf(text, "%63s %" SCNu64 " %" SCNu64, name, &hits, &missed) == 3)
			count(list, user, name, hits, missed);
	}
	return 0;
}

static void mark_ours(const char *name, void *data)
{
	struct probe_list *list = data;
	char full[2 * PROBE_NAME_SIZE];

	for (size_t i = 0; i < list->nr; i++) {
		snprintf(full, sizeof(full), "%s/%s", list->probes[i].probe.group, list->probes[i].probe.name);
		if (!strcmp(full, name))
			list->probes[i].ours = true;
	}
}

int probe_list_read(const struct instance *top, struct probe_list *ret, struct fail *fail)
{
	struct probe_list list = { .nr = 0 };
	cleanup_buf struct buf buf = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;
	int err;

	*ret = list;
	if (!instance_has(top, events_file))
		return 0;
	err = instance_read(top, events_file, &buf, fail);
	at = buf_str(&buf);
	left = buf.len;
	while (!err && text_next_line(&at, &left, &line))
		err = add_line(&list, line, fail);
	if (!err)
		err = read_counts(top, &list, false, fail);
	if (!err)
		err = read_counts(top, &list, true, fail);
	if (!err)
		err = undo_each_probe(NULL, mark_ours, &list, fail);
	if (err) {
		probe_list_release(&list);
		return err;
	}
	*ret = list;
	return 0;
}

/* Whoever removes the event removes it from all its places (Linux 5.4; before, an event has one). */
static int add_places(struct instance *top, const struct probe *probe, struct fail *fail)
{
	const char *at = probe->also ? probe->also : "";
	size_t left = strlen(at);
	struct text_word line;
	int err = 0;

	while (!err && text_next_line(&at, &left, &line)) {
		cleanup_free char *text = NULL;

		if (asprintf(&text, "p:%s/%s %.*s", probe->group, probe->name, (int)line.len, line.at) < 0) {
			text = NULL;
			return fail_memory(fail);
		}
		err = instance_append(top, events_file, text, fail);
	}
	return err;
}

int probe_add(struct instance *top, struct undo *undo, const struct probe *probe, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	char full[2 * PROBE_NAME_SIZE];
	int err;

	if (!instance_has(top, events_file))
		return kconfig_no_file(events_file, fail);
	if (!probe_print(probe, &text))
		return fail_memory(fail);
	snprintf(full, sizeof(full), "%s/%s", probe->group, probe->name);
	if (top->tracing->plan) {
		err = instance_append(top, events_file, buf_str(&text), fail);
		return err ? err : add_places(top, probe, fail);
	}
	err = undo_remember_probe(undo, full, fail);
	if (err)
		return err;
	err = instance_append(top, events_file, buf_str(&text), fail);
	if (err)
		undo_forget_probe(undo, full);
	if (!err)
		err = add_places(top, probe, fail);
	return err;
}

/* Collects the names of the instances in which an event is enabled. */
struct users {
	const struct tracing *tracing;
	const char *group, *name;
	struct buf names;
};

static int add_user(const char *instance, void *data)
{
	struct users *users = data;
	cleanup_free char *path = NULL;
	cleanup_buf struct buf state = BUF_INIT;

	if (asprintf(&path, "%s%s%s/events/%s/%s/enable", users->tracing->dir, *instance ? "/instances/" : "", instance,
		     users->group, users->name) < 0) {
		path = NULL;
		return 0;
	}
	if (tracing_read_path(path, &state, NULL) || !strncmp(buf_str(&state), "0\n", 2))
		return 0;
	if (!buf_addf(&users->names, "%s%s%s%s", users->names.len ? ", " : "",
		      *instance ? "instance '" : "the top instance", instance, *instance ? "'" : ""))
		return -ENOMEM;
	return 0;
}

static int in_use(const struct instance *top, const char *group, const char *name, struct fail *fail)
{
	struct users users = { .tracing = top->tracing, .group = group, .name = name, .names = BUF_INIT };
	int err = add_user("", &users);

	if (!err)
		err = instance_each(top->tracing, add_user, &users, NULL);
	if (!err && users.names.len)
		fail_set(fail, -EBUSY, "the probe '%s:%s' is in use: it is switched on, or has a trigger, in %s", group,
			 name, buf_str(&users.names));
	else
		fail_set(fail, -EBUSY, "the probe '%s:%s' is in use: by perf, by a histogram or by another event",
			 group, name);
	buf_release(&users.names);
	return -EBUSY;
}

int probe_remove(const struct instance *top, const char *group, const char *name, struct fail *fail)
{
	char text[2 * PROBE_NAME_SIZE + 4];
	int err;

	snprintf(text, sizeof(text), "-:%.63s/%.63s", group, name);
	err = instance_append(top, events_file, text, fail);
	if (err == -EBUSY)
		return in_use(top, group, name, fail);
	return err == -ENOENT ? fail_set(fail, err, "there is no probe '%s:%s'", group, name) : err;
}

static bool matches(const struct probe *probe, const char *group, const char *name)
{
	return (!group || text_glob(group, probe->group)) && text_glob(name, probe->name);
}

int probe_list_find(const struct probe_list *list, const char *text, bool *wanted, struct fail *fail)
{
	cleanup_free char *copy = strdup(text);
	char *group = NULL, *name = copy, *split, full[2 * PROBE_NAME_SIZE];
	size_t found = 0, ours = 0;
	struct near near;

	if (!copy)
		return fail_memory(fail);
	split = strpbrk(copy, ":/");
	if (split) {
		*split = '\0';
		group = copy;
		name = split + 1;
	}
	for (size_t i = 0; i < list->nr; i++) {
		found += matches(&list->probes[i].probe, group, name);
		ours += matches(&list->probes[i].probe, group, name) && list->probes[i].ours;
	}
	if (!found) {
		near = near_to(text);
		for (size_t i = 0; i < list->nr; i++) {
			snprintf(full, sizeof(full), "%s:%s", list->probes[i].probe.group, list->probes[i].probe.name);
			near_offer_as(&near, group ? full : list->probes[i].probe.name, full);
		}
		return near_fail(&near, fail, -ENOENT, "there is no probe '%s'", text);
	}
	/* A bare name means weft's own probe, if there is one. */
	if (!group && found > 1 && !ours && !text_is_glob(name))
		return fail_set(fail, -ENOTUNIQ, "several groups have a probe '%s': write GROUP:%s", text, text);
	for (size_t i = 0; i < list->nr; i++)
		if (matches(&list->probes[i].probe, group, name) && (group || !ours || list->probes[i].ours))
			wanted[i] = true;
	return 0;
}
