// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/persistent.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/undo/instance_open.h"

static const char info[] = "last_boot_info";

struct search {
	const struct tracing *tracing;
	struct near near;
	struct buf names; /* of those that survive a reset, with ", " between them */
	unsigned nr;
	bool found; /* that of the wanted name */
};

static int look(const char *name, void *data)
{
	struct search *search = data;
	struct instance *instance;
	bool survives;

	if (instance_open(search->tracing, name, false, NULL, &instance, NULL))
		return 0;
	survives = instance_has(instance, info);
	instance_close(instance, NULL);
	if (!survives)
		return 0;
	near_offer(&search->near, name);
	search->found |= !strcmp(search->near.word, name);
	search->nr++;
	return buf_addf(&search->names, "%s%s", search->nr > 1 ? ", " : "", name) ? 0 : -ENOMEM;
}

static int check(const struct search *search, struct fail *fail)
{
	if (!search->nr)
		return fail_set(fail, -ENOENT,
				"no instance is in memory that survives a reset: 'reserve_mem=64M:4096:weft "
				"trace_instance=weft^traceoff@weft' on the kernel's command line makes one (Linux 6.12 "
				"and later)");
	if (*search->near.word && !search->found)
		return near_fail(&search->near, fail, -ENOENT, "no instance '%s' survives a reset, but: %s",
				 search->near.word, buf_str((struct buf *)&search->names));
	if (!*search->near.word && search->nr > 1)
		return fail_set(fail, -ENOTUNIQ, "several instances survive a reset, which persistent:NAME chooses: %s",
				buf_str((struct buf *)&search->names));
	return 0;
}

static int measure(const struct tracing *tracing, struct persistent *persistent, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct instance *instance;
	struct cpus cpus;
	int err = tracing_possible_cpus(&cpus, fail);

	if (!err)
		err = instance_open(tracing, persistent->name, false, NULL, &instance, fail);
	if (err)
		return err;
	for (int cpu = cpus_next(&cpus, 0); cpu >= 0; cpu = cpus_next(&cpus, cpu + 1))
		persistent->size += ring_buffer_cpu_size(instance, (uint32_t)cpu);
	persistent->current = !instance_read(instance, info, &text, NULL) && !strncmp(buf_str(&text), "# Current", 9);
	instance_close(instance, NULL);
	return 0;
}

int persistent_find(const char *name, struct persistent *ret, struct fail *fail)
{
	struct persistent persistent = { .name = NULL };
	struct tracing tracing;
	struct search search = { .tracing = &tracing, .near = near_to(name), .names = BUF_INIT };
	int err = tracing_find(&tracing, fail);

	if (err)
		return err;
	err = instance_each(&tracing, look, &search, fail);
	if (!err)
		err = check(&search, fail);
	if (!err) {
		persistent.name = strdup(*name ? name : buf_str(&search.names));
		err = persistent.name ? measure(&tracing, &persistent, fail) : fail_memory(fail);
	}
	buf_release(&search.names);
	tracing_release(&tracing);
	if (err)
		persistent_release(&persistent);
	else
		*ret = persistent;
	return err;
}
