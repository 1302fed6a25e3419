// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/setup_scene.h"

#include <stdio.h>

#include "lib/ground/base/buf.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/test.h"

static void note(const char *text, void *data)
{
	struct setup_scene *scene = data;

	snprintf(scene->told, sizeof(scene->told), "%s", text);
}

bool setup_scene_begin(struct setup_scene *scene, const struct setup_text *files, size_t nr)
{
	*scene = (struct setup_scene){ .undo = NULL };
	if (!CHECK(fake_new(&scene->fake)))
		return false;
	for (size_t i = 0; i < nr; i++)
		fake_write(&scene->fake, files[i].file, files[i].text);
	scene->setup.warn = note;
	scene->setup.warn_data = scene;
	scene->wanted = setup_add_instance(&scene->setup, NULL);
	return CHECK(scene->wanted && !undo_new(&scene->fake.tracing, scene->fake.journals, &scene->undo, NULL) &&
		     !instance_open_top(&scene->fake.tracing, scene->undo, &scene->top, NULL) &&
		     !catalog_new(&scene->fake.tracing, &scene->catalog, NULL));
}

int setup_scene_apply(struct setup_scene *scene, struct fail *fail)
{
	struct setup_context context = { .tracing = &scene->fake.tracing,
					 .undo = scene->undo,
					 .catalog = scene->catalog,
					 .setup = &scene->setup,
					 .manner = scene->begins ? SETUP_TOP : SETUP_CHANGE };

	return setup_apply(&context, scene->wanted, scene->top, &scene->events, fail);
}

void setup_scene_end(struct setup_scene *scene)
{
	event_set_release(&scene->events);
	catalog_free(scene->catalog);
	if (scene->top)
		instance_close(scene->top, NULL);
	undo_free(scene->undo);
	setup_release(&scene->setup);
	fake_free(&scene->fake);
}

bool setup_scene_holds(const struct setup_scene *scene, const char *file, const char *text)
{
	cleanup_buf struct buf buf = BUF_INIT;
	char path[FAKE_PATH];

	if (fake_holds(&scene->fake, file, text))
		return true;
	if (!tracing_read_path(fake_path(&scene->fake, file, path), &buf, NULL))
		fprintf(stderr, "%s: %s\n", file, buf_str(&buf));
	return false;
}
