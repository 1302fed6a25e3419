// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/setup.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

bool setup_list_add(struct setup_list *list, const char *item)
{
	const char **added = vec_push(list->items, list->nr);

	if (added)
		*added = item;
	return added;
}

bool setup_list_remove(struct setup_list *list, const char *item)
{
	const char **added = vec_push(list->gone, list->nr_gone);

	if (added)
		*added = item;
	return added;
}

static void list_release(struct setup_list *list)
{
	free(list->items);
	free(list->gone);
}

struct setup_instance *setup_add_instance(struct setup *setup, const char *name)
{
	struct setup_instance *wanted = vec_push(setup->instances, setup->nr_instances);

	if (wanted)
		wanted->name = name;
	return wanted;
}

struct setup_event *setup_add_event(struct setup_instance *wanted, const char *pattern)
{
	struct setup_event *event = vec_push(wanted->events, wanted->nr_events);

	if (event)
		event->pattern = pattern;
	return event;
}

bool setup_want_event(struct setup_instance *wanted, const char *pattern, const char *instead, const char *what_for,
		      bool essential)
{
	struct setup_event *event;

	for (size_t i = 0; i < wanted->nr_events; i++) {
		if (wanted->events[i].what_for && !strcmp(wanted->events[i].pattern, pattern)) {
			wanted->events[i].optional &= !essential;
			return true;
		}
	}
	event = setup_add_event(wanted, pattern);
	if (!event)
		return false;
	event->instead = instead;
	event->what_for = what_for;
	event->optional = !essential;
	return true;
}

bool setup_want_who(struct setup_instance *wanted)
{
	return setup_want_event(wanted, "task:task_newtask", NULL, "which process a thread belongs to", false) &&
	       setup_want_event(wanted, "sched:sched_process_exec", NULL, "which program a process runs", false) &&
	       setup_want_event(wanted, "cgroup:cgroup_attach_task", NULL, "which control group a task is in", false) &&
	       setup_want_event(wanted, "cgroup:cgroup_mkdir", NULL, "which control groups there are", false);
}

static bool push_pid(pid_t **pids, size_t *nr, pid_t pid)
{
	pid_t *added = vec_push(*pids, *nr);

	if (added)
		*added = pid;
	return added;
}

bool setup_add_pid(struct setup *setup, pid_t pid)
{
	return push_pid(&setup->pids, &setup->nr_pids, pid);
}

bool setup_add_notrace_pid(struct setup *setup, pid_t pid)
{
	return push_pid(&setup->notrace_pids, &setup->nr_notrace_pids, pid);
}

bool setup_remove_pid(struct setup *setup, pid_t pid)
{
	return push_pid(&setup->gone_pids, &setup->nr_gone_pids, pid);
}

bool setup_remove_notrace_pid(struct setup *setup, pid_t pid)
{
	return push_pid(&setup->gone_notrace_pids, &setup->nr_gone_notrace_pids, pid);
}

bool setup_add_cpu_size(struct setup_instance *wanted, const struct cpus *cpus, uint64_t size)
{
	struct setup_cpu_size *added = vec_push(wanted->cpu_sizes, wanted->nr_cpu_sizes);

	if (added)
		*added = (struct setup_cpu_size){ .cpus = *cpus, .size = size };
	return added;
}

bool setup_add_file(struct setup_instance *wanted, const struct setup_file *file)
{
	struct setup_file *added = vec_push(wanted->files, wanted->nr_files);

	if (added)
		*added = *file;
	return added;
}

static void instance_release(struct setup_instance *wanted)
{
	for (size_t i = 0; i < wanted->nr_events; i++)
		free(wanted->events[i].triggers.items);
	free(wanted->events);
	list_release(&wanted->functions);
	list_release(&wanted->notrace);
	list_release(&wanted->graph);
	list_release(&wanted->graph_notrace);
	list_release(&wanted->commands);
	free(wanted->options.items);
	free(wanted->wishes.items);
	free(wanted->files);
	free(wanted->cpu_sizes);
}

void setup_warn(const struct setup *setup, const struct fail *fail)
{
	if (setup->warn)
		setup->warn(fail->text, setup->warn_data);
}

void setup_step(const struct setup *setup, const char *what)
{
	if (setup->step)
		setup->step(what);
}

void setup_release(struct setup *setup)
{
	for (size_t i = 0; i < setup->nr_instances; i++)
		instance_release(&setup->instances[i]);
	free(setup->instances);
	free(setup->pids);
	free(setup->notrace_pids);
	free(setup->gone_pids);
	free(setup->gone_notrace_pids);
	pid_list_release(&setup->processes);
	free(setup->groups);
	functions_release(&setup->functions);
	*setup = (struct setup){ .nr_instances = 0 };
}

bool setup_add_group(struct setup *setup, enum who_part part, const char *word)
{
	struct who_want *added = vec_push(setup->groups, setup->nr_groups);

	if (added)
		*added = (struct who_want){ .part = part, .word = word };
	return added;
}

bool setup_chooses_tasks(const struct setup *setup)
{
	return setup->nr_pids || setup->processes.nr || setup->nr_groups;
}

int setup_last_tasks(const struct setup *setup, struct pid_list *into, struct fail *fail)
{
	bool ok = true;

	/* A service has no end that its tasks of now know. */
	if (setup->nr_groups)
		return 0;
	for (size_t i = 0; ok && !setup->follow && i < setup->nr_pids; i++)
		ok = pid_list_add(into, setup->pids[i]);
	for (size_t i = 0; ok && !setup->follow && i < setup->processes.nr; i++)
		ok = pid_list_add(into, setup->processes.pids[i]);
	return ok ? 0 : fail_memory(fail);
}

bool setup_wants(const struct setup_instance *wanted)
{
	return wanted->nr_events || wanted->tracer || wanted->commands.nr;
}

bool setup_uses(const struct setup *setup, size_t index)
{
	return index || setup->nr_instances == 1 || setup_wants(&setup->instances[index]);
}

bool setup_has_own(const struct setup *setup, const char *name)
{
	for (size_t i = 0; i < setup->nr_instances; i++)
		if (setup->instances[i].own && !strcmp(setup->instances[i].name, name))
			return true;
	return false;
}
