// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

struct scene {
	struct fake fake;
	struct undo *undo;
	struct instance *top;
	struct fail fail;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .fail = FAIL_INIT };
	if (!CHECK(fake_new(&scene->fake)))
		return false;
	fake_write(&scene->fake, "available_filter_functions",
		   "a1\na2\nb1\nb2 [loom]\nc1\nc2\nc3\nc4\nd1\nd2\nvfs_read\n");
	fake_write(&scene->fake, "set_ftrace_filter", "#### all functions enabled ####\n");
	fake_write(&scene->fake, "set_ftrace_notrace", "#### no functions disabled ####\n");
	fake_write(&scene->fake, "trace", "");
	return CHECK(!undo_new(&scene->fake.tracing, scene->fake.journals, &scene->undo, NULL) &&
		     !instance_open_top(&scene->fake.tracing, scene->undo, &scene->top, NULL));
}

static void end(struct scene *scene)
{
	if (scene->top)
		instance_close(scene->top, NULL);
	undo_free(scene->undo);
	fake_free(&scene->fake);
}

static const char *const few[] = { "vfs_read", "c*" };
static const char *const many[] = { "a1", "a2", "b1", "b2", "c?", "d1", "d2", "vfs_*" };
static const char *const with_wrong[] = { "a1", "a2", "b1", "b2", "c?", "d1", "d2", "vfs_raed" };
static const char *const with_odd[] = { "a1", "a2", "b1", "b2", "c?", "d1", "d2", "none_like_it" };
static const char *const with_glob[] = { "a1", "a2", "b1", "b2", "c?", "d1", "d2", "x*" };
static const char *const with_module[] = { "a1", "a2", "b1", "b2", "c1", "d1", "d2", "*:mod:loom" };

TEST(functions_are_written_by_name_when_they_are_few)
{
	struct scene scene;

	if (begin(&scene)) {
		CHECK(!tracer_functions(scene.top, FUNCTIONS_TRACE, few, array_size(few), false, &scene.fail));
		CHECK(fake_holds(&scene.fake, "set_ftrace_filter", "vfs_read\nc*\n"));
		CHECK(!tracer_functions(scene.top, FUNCTIONS_NOTRACE, with_module, array_size(with_module), false,
					&scene.fail));
		CHECK(fake_holds(&scene.fake, "set_ftrace_notrace", "a1\na2\nb1\nb2\nc1\nd1\nd2\n*:mod:loom\n"));
	}
	end(&scene);
}

/*
 * A kernel with these indexes would show names. This kernel does not, so weft assumes that the indexes have moved and
 * writes the names.
 */
TEST(functions_whose_indexes_have_moved_are_written_by_name)
{
	struct scene scene;

	if (begin(&scene)) {
		CHECK(!tracer_functions(scene.top, FUNCTIONS_TRACE, many, array_size(many), false, &scene.fail));
		CHECK(fake_holds(&scene.fake, "set_ftrace_filter", "a1\na2\nb1\nb2\nc?\nd1\nd2\nvfs_*\n"));
	}
	end(&scene);
}

TEST(functions_that_the_kernel_does_not_have_are_named)
{
	struct scene scene;

	if (begin(&scene)) {
		CHECK(tracer_functions(scene.top, FUNCTIONS_TRACE, with_wrong, array_size(with_wrong), false,
				       &scene.fail) == -ENOENT);
		CHECK_STR(scene.fail.text, "no function 'vfs_raed' that can be traced; did you mean 'vfs_read'?");
		CHECK(tracer_functions(scene.top, FUNCTIONS_TRACE, with_glob, array_size(with_glob), false,
				       &scene.fail) == -ENOENT);
		CHECK_STR(scene.fail.text,
			  "no function that can be traced matches 'x*'; 'weft list functions' has the names");
		CHECK(tracer_functions(scene.top, FUNCTIONS_TRACE, with_odd, array_size(with_odd), false,
				       &scene.fail) == -ENOENT);
		CHECK_STR(scene.fail.text,
			  "no function 'none_like_it' that can be traced; 'weft list functions' has the names");
		CHECK(fake_holds(&scene.fake, "set_ftrace_filter", "#### all functions enabled ####\n"));
		CHECK(tracer_functions(scene.top, FUNCTIONS_GRAPH, few, array_size(few), false, &scene.fail) ==
		      -EOPNOTSUPP);
		CHECK(strstr(scene.fail.text, "set_graph_function"));
	}
	end(&scene);
}

TEST(function_commands_are_added_and_wrong_ones_named)
{
	static const struct {
		const char *command, *said;
	} table[] = {
		{ "vfs_read:traceof",
		  "'vfs_read:traceof': there is no function command 'traceof'; did you mean 'traceon' or 'traceoff'?" },
		{ "vfs_read:enable_event:sched",
		  "enable_event takes an event, FUNCTION:enable_event:SYSTEM:EVENT[:COUNT]" },
		{ "vfs_read:disable_event", "disable_event takes an event" },
	};
	struct scene scene;

	CHECK(tracer_is_function_command("vfs_read:traceoff") && !tracer_is_function_command("vfs_read"));
	CHECK(!tracer_is_function_command("vfs_*:mod:ext4"));
	if (begin(&scene)) {
		fake_write(&scene.fake, "set_ftrace_filter", "");
		CHECK(!tracer_function_command(scene.top, "vfs_read:traceoff:5", NULL, &scene.fail));
		CHECK(!tracer_function_command(scene.top, "vfs_read:enable_event:sched:sched_switch", NULL,
					       &scene.fail));
		CHECK(fake_holds(&scene.fake, "set_ftrace_filter",
				 "vfs_read:traceoff:5\nvfs_read:enable_event:sched:sched_switch\n"));
		for (size_t i = 0; i < array_size(table); i++) {
			CHECK(tracer_function_command(scene.top, table[i].command, NULL, &scene.fail) == -EINVAL);
			if (!CHECK(strstr(scene.fail.text, table[i].said)))
				fprintf(stderr, "said: %s\n", scene.fail.text);
		}
	}
	end(&scene);
}
