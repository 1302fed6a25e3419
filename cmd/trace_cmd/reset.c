// SPDX-License-Identifier: GPL-2.0-only
/* trace-cmd reset: the state at boot, of the top instance or of those that are named. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/probe/probes.h"
#include "lib/kernel/setup/boot.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

enum { ALL_KINDS = (1 << PROBE_KINDS) - 1 };

/* What happens to one instance; options behind -B and -t are for it, those behind -a for all. */
struct target {
	char *name; /* "" is the top one */
	const char *size_kb;
	bool remove;
};

struct reset {
	struct kernel kernel;
	struct target *targets;
	size_t nr, max;
	bool every;         /* the options are for all targets */
	unsigned kept;      /* kinds of dynamic events that stay */
	const char *top_kb; /* -b before any -B */
	struct fail fail;
	int err;
};

static int usage(const char *format, const char *word)
{
	struct fail fail = FAIL_INIT;

	fail_set(&fail, -EINVAL, format, word);
	command_failed(&fail);
	return -TRACE_CMD_USAGE;
}

static int add_target(const char *name, void *data)
{
	struct reset *reset = data;

	for (size_t i = 0; i < reset->nr; i++)
		if (!strcmp(reset->targets[i].name, name))
			return 0;
	if (reset->nr == reset->max) {
		size_t max = reset->max ? 2 * reset->max : 16;
		struct target *more = reallocarray(reset->targets, max, sizeof(*more));

		if (!more)
			return fail_memory(&reset->fail);
		reset->targets = more;
		reset->max = max;
	}
	reset->targets[reset->nr] = (struct target){ .name = strdup(name) };
	if (!reset->targets[reset->nr].name)
		return fail_memory(&reset->fail);
	reset->nr++;
	return 0;
}

static int keep_kind(struct reset *reset, const char *word)
{
	static const struct {
		const char *name;
		unsigned kinds;
	} known[] = {
		{ "kprobe", 1 << PROBE_KPROBE },
		{ "kretprobe", 1 << PROBE_KRETPROBE },
		{ "uprobe", 1 << PROBE_UPROBE },
		{ "uretprobe", 1 << PROBE_URETPROBE },
		{ "eprobe", 1 << PROBE_EVENT },
		{ "synth", 1 << PROBE_SYNTHETIC },
		{ "all", ALL_KINDS },
	};

	for (size_t i = 0; i < array_size(known); i++)
		if (!strcmp(known[i].name, word)) {
			reset->kept |= known[i].kinds;
			return 0;
		}
	return usage("reset -k '%s': use kprobe, kretprobe, uprobe, uretprobe, eprobe, synth or all", word);
}

static int set_size(struct reset *reset, const char *kb)
{
	if (!*kb || kb[strspn(kb, "0123456789")])
		return usage("reset -b '%s': a number of KB is needed", kb);
	if (!reset->nr)
		reset->top_kb = kb;
	for (size_t i = 0; i < reset->nr; i++)
		if (reset->every || i + 1 == reset->nr)
			reset->targets[i].size_kb = kb;
	return 0;
}

static int set_removal(struct reset *reset)
{
	bool any = false;

	for (size_t i = 0; i < reset->nr; i++) {
		if ((!reset->every && i + 1 < reset->nr) || !*reset->targets[i].name)
			continue;
		reset->targets[i].remove = any = true;
	}
	return any || reset->every ? 0 : usage("reset -d: the top instance cannot be removed; name one with -B%s", "");
}

static int parse(int argc, char **argv, struct reset *reset)
{
	int key, r = 0;

	optind = 1;
	while (!r && (key = getopt(argc, argv, "+hab:B:tdk:")) != -1) {
		switch (key) {
		case 'a':
			reset->every = true;
			r = instance_each(&reset->kernel.tracing, add_target, reset, &reset->fail);
			if (!r)
				r = add_target("", reset);
			break;
		case 'B':
		case 't':
			reset->every = false;
			r = add_target(key == 't' ? "" : optarg, reset);
			break;
		case 'b':
			r = set_size(reset, optarg);
			break;
		case 'd':
			r = set_removal(reset);
			break;
		case 'k':
			r = keep_kind(reset, optarg);
			break;
		default:
			r = -TRACE_CMD_USAGE;
		}
	}
	return r;
}

static int write_size(const struct tracing *tracing, const struct target *target, struct fail *fail)
{
	struct instance *instance;
	int err = *target->name ? instance_open(tracing, target->name, false, NULL, &instance, fail) :
				  instance_open_top(tracing, NULL, &instance, fail);

	if (err)
		return err;
	err = instance_write(instance, "buffer_size_kb", target->size_kb, fail);
	instance_close(instance, NULL);
	return err;
}

static int remove_instance(const struct tracing *tracing, const char *name, struct fail *fail)
{
	cleanup_free char *dir = NULL;
	int err;

	if (asprintf(&dir, "%s/instances/%s", tracing->dir, name) < 0) {
		dir = NULL;
		return fail_memory(fail);
	}
	err = undo_remove_instance(dir);
	return err ? fail_set(fail, err, "cannot remove the instance '%s': %s", name, strerror(-err)) : 0;
}

static int reset_target(const struct reset *reset, const struct target *target, struct fail *fail)
{
	const struct tracing *tracing = &reset->kernel.tracing;
	/* Only who resets the top instance means what belongs to all. */
	unsigned kinds = *target->name ? 0 : ALL_KINDS & ~reset->kept;
	int err;

	if (target->remove)
		return remove_instance(tracing, target->name, fail);
	err = boot_reset_one(tracing, target->name, kinds, fail);
	return !err && target->size_kb ? write_size(tracing, target, fail) : err;
}

void trace_cmd_end_events(const char *name)
{
	struct fail fail = FAIL_INIT;
	struct instance *instance;
	struct kernel kernel;
	int err = kernel_find(&kernel, &fail);

	if (!err)
		err = *name ? instance_open(&kernel.tracing, name, false, NULL, &instance, &fail) :
			      instance_open_top(&kernel.tracing, NULL, &instance, &fail);
	if (!err) {
		err = instance_write(instance, "events/enable", "0", &fail);
		instance_close(instance, NULL);
	}
	if (err)
		command_failed(&fail);
	kernel_close(&kernel);
}

int trace_cmd_reset(int argc, char **argv)
{
	struct reset reset = { .fail = FAIL_INIT };
	int r = kernel_find(&reset.kernel, &reset.fail);

	if (!r)
		r = parse(argc, argv, &reset);
	if (r == -TRACE_CMD_USAGE) {
		kernel_close(&reset.kernel);
		return TRACE_CMD_USAGE;
	}
	if (!r && !reset.nr)
		r = add_target("", &reset);
	for (size_t i = 0; i < reset.nr; i++)
		if (!*reset.targets[i].name && !reset.targets[i].size_kb)
			reset.targets[i].size_kb = reset.top_kb;
	for (size_t i = 0; i < reset.nr; i++) {
		struct fail fail = FAIL_INIT;
		int err = r == -ENOMEM ? 0 : reset_target(&reset, &reset.targets[i], &fail);

		r = fail_first(r, err, &reset.fail, &fail);
	}
	for (size_t i = 0; i < reset.nr; i++)
		free(reset.targets[i].name);
	free(reset.targets);
	kernel_close(&reset.kernel);
	return r ? trace_cmd_failed(r, &reset.fail) : EXIT_OK;
}
