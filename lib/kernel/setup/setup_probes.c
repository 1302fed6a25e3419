// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/setup_probes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/probe/probe_define.h"
#include "lib/kernel/probe/probes.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/instance_open.h"

struct setup_probe {
	const struct setup_event *event;
	char pattern[2 * PROBE_NAME_SIZE];
};

void setup_probes_release(struct setup_probes *probes)
{
	free(probes->probes);
	*probes = (struct setup_probes){ .nr = 0 };
}

static int make_one(struct instance *top, struct undo *undo, const struct setup_event *event, bool own,
		    struct setup_probes *probes, struct fail *fail)
{
	struct setup_probe *made;
	struct probe probe;
	int err = probe_define(top, event->probe, false, &probe, fail);

	if (err == -EOPNOTSUPP && !own)
		(void)fail_hint(fail, err, ": leave out this --probe");
	if (err)
		return fail_in(fail, err, "%s '%.200s'", own ? "weft's own probe" : "--probe", event->probe);
	made = vec_push(probes->probes, probes->nr);
	err = made ? probe_add(top, undo, &probe, fail) : fail_memory(fail);
	if (!err) {
		made->event = event;
		snprintf(made->pattern, sizeof(made->pattern), "%s:%s", probe.group, probe.name);
	} else if (made) {
		probes->nr--;
	}
	probe_release(&probe);
	return err;
}

int setup_probes_make(const struct tracing *tracing, struct undo *undo, const struct setup *setup,
		      struct setup_probes *ret, struct fail *fail)
{
	struct instance *top = NULL;
	int err = 0;

	for (size_t i = 0; !err && i < setup->nr_instances; i++)
		for (size_t j = 0; !err && j < setup->instances[i].nr_events; j++) {
			const struct setup_event *event = &setup->instances[i].events[j];

			if (!event->probe)
				continue;
			err = top ? 0 : instance_open_top(tracing, undo, &top, fail);
			if (err)
				continue;
			/* The kernel may not let a function be probed that it has (notrace). */
			if (event->optional)
				(void)!make_one(top, undo, event, true, ret, NULL);
			else
				err = make_one(top, undo, event, setup->instances[i].own, ret, fail);
		}
	instance_close(top, NULL);
	return err;
}

/* Whether "GROUP:NAME" is the event of this probe. */
static bool is_of(const char *pattern, const struct probe *probe)
{
	size_t group = strlen(probe->group);

	return !strncmp(pattern, probe->group, group) && pattern[group] == ':' &&
	       !strcmp(pattern + group + 1, probe->name);
}

static int add_missed(const struct setup_probes *probes, const struct probe_state *state, struct buf *lines,
		      uint64_t *missed, struct fail *fail)
{
	for (size_t i = 0; state->missed && i < probes->nr; i++) {
		if (!is_of(probes->probes[i].pattern, &state->probe))
			continue;
		*missed += state->missed;
		if (!buf_addf(lines, "%s %" PRIu64 " %" PRIu64 "\n", probes->probes[i].pattern, state->hits,
			      state->missed))
			return fail_memory(fail);
	}
	return 0;
}

int setup_probes_missed(const struct tracing *tracing, const struct setup_probes *probes, struct buf *lines,
			uint64_t *ret_missed, struct fail *fail)
{
	struct instance top = instance_top(tracing);
	struct probe_list list;
	uint64_t missed = 0;
	int err = 0;

	if (probes->nr) {
		err = probe_list_read(&top, &list, fail);
		for (size_t i = 0; !err && i < list.nr; i++)
			err = add_missed(probes, &list.probes[i], lines, &missed, fail);
		probe_list_release(&list);
	}
	*ret_missed = missed;
	return err;
}

const char *setup_probes_pattern(const struct setup_probes *probes, const struct setup_event *event)
{
	if (!event->probe)
		return event->pattern;
	for (size_t i = 0; probes && i < probes->nr; i++)
		if (probes->probes[i].event == event)
			return probes->probes[i].pattern;
	return NULL;
}
