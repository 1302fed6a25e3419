/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_SETUP_SCENE_H
#define WEFT_TESTS_UNIT_SETUP_SCENE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/event_select.h"
#include "tests/unit/fake_tracefs.h"

struct fail;

/* A fake tracefs with a setup in its top instance, and the wanted setup. */
struct setup_scene {
	struct fake fake;
	struct undo *undo;
	struct instance *top;
	struct catalog *catalog;
	struct setup setup;
	struct setup_instance *wanted;
	struct event_set events;
	bool begins;     /* as weft start, which replaces a setup; else as weft set, which changes one */
	char told[1024]; /* the last warning */
};

struct setup_text {
	const char *file, *text;
};

/* A failure fails the test. The caller ends the scene in that case, too. */
bool setup_scene_begin(struct setup_scene *scene, const struct setup_text *files, size_t nr);
int setup_scene_apply(struct setup_scene *scene, struct fail *fail);
void setup_scene_end(struct setup_scene *scene);

/* Whether the file has this text; prints the file's text if not. */
bool setup_scene_holds(const struct setup_scene *scene, const char *file, const char *text);

#endif
