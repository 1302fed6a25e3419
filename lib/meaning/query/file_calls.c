// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/file_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/inode.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/files.h"
#include "lib/meaning/query/stretches_internal.h"
#include "lib/meaning/uapi/call_argument.h"
#include "lib/meaning/uapi/descriptors.h"
#include "lib/meaning/uapi/names.h"

enum { CALLS_MAX = 1 << 24 };

/* Which events have an inode. */
struct inode_type {
	bool bound, has;
	struct inode_place place;
};

struct file_calls {
	const char *const *globs;
	size_t nr_globs;
	struct stretches stretches; /* by PID */
	struct u64_map inodes;      /* by event_type::id, which the streams of a buffer share: struct inode_type */
};

struct file_calls *file_calls_new(const char *const *globs, size_t nr_globs)
{
	struct file_calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	calls->globs = globs;
	calls->nr_globs = nr_globs;
	stretches_init(&calls->stretches);
	u64_map_init(&calls->inodes, sizeof(struct inode_type));
	return calls;
}

void file_calls_free(struct file_calls *calls)
{
	if (!calls)
		return;
	stretches_release(&calls->stretches);
	u64_map_release(&calls->inodes);
	free(calls);
}

/* What a type of event is, or of events of raw_syscalls a call. */
struct shape {
	bool bound;
	enum { NO_CALL, ENTER, EXIT } what;
	bool raw;
	struct place number, returned, args;
	struct place fds[CALL_ARGUMENTS]; /* descriptors among the arguments of an event of the system syscalls */
	unsigned nr_fds;
	uint8_t fd_mask; /* of a call of raw_syscalls: a bit for each argument that is one */
	bool returns;
};

/* The call that a thread is in, or that it has made last. */
struct call {
	uint64_t from;
	int64_t number;
	bool open, wanted, raw;
	bool ended; /* it is over, and the event of the other system that says so is still to come */
};

/* What one buffer's events are read with. */
struct reading {
	struct file_calls *into;
	const struct context *context;
	uint64_t *wanted; /* a bit for each file of the recording */
	uint32_t nr_files;
	struct shape *shapes; /* by event_type::index */
	size_t nr_shapes;
	struct u64_map raw_shapes; /* by number: struct shape */
	struct u64_map open;       /* by PID: struct call */
	bool starved, too_many;
};

/* The bit of a file is set if its name is one that is asked for. -ENODATA: none is. */
static int find_files(struct reading *reading, struct fail *fail)
{
	const struct file_calls *calls = reading->into;
	struct near near = near_to(calls->globs[0]);
	bool found = false;

	if (!files_are_known(reading->context))
		return fail_set(
			fail, -ENODATA,
			"--file: the recording does not tell which files are behind descriptors: record it with "
			"'weft record --files', on a kernel with CONFIG_KPROBE_EVENTS; on another, record the names "
			"as that says there, and choose by them: -e weft:open -f 'name ~ \"*/hosts\"'");
	reading->nr_files = files_end(reading->context);
	reading->wanted = calloc(reading->nr_files / 64 + 1, sizeof(*reading->wanted));
	if (!reading->wanted)
		return fail_memory(fail);
	for (uint32_t file = FILES_FIRST; file < reading->nr_files; file++) {
		if (files_match(reading->context, file, calls->globs, calls->nr_globs)) {
			reading->wanted[file / 64] |= UINT64_C(1) << file % 64;
			found = true;
		} else if (!found) {
			near_offer(&near, files_text(reading->context, file));
		}
	}
	return found ? 0 :
		       near_fail(&near, fail, -ENODATA, "--file: no file of the recording is called '%s'%s",
				 calls->globs[0], calls->nr_globs > 1 ? " or as another one that is asked for" : "");
}

static bool is_wanted(const struct reading *reading, uint32_t file)
{
	return file >= FILES_FIRST && file < reading->nr_files && reading->wanted[file / 64] >> file % 64 & 1;
}

static void bind_named(struct shape *shape, const struct format *format, const struct schema_abi *abi)
{
	const char *name = strchr(format->name + strlen("sys_e"), '_') + 1;

	if (format->nr_common < format->nr_fields)
		shape->number = place_of(&format->fields[format->nr_common], abi);
	(void)place_bind(&shape->returned, format, abi, "ret");
	shape->returns = descriptor_is_result(name);
	for (size_t i = format->nr_common + 1u; shape->what == ENTER && i < format->nr_fields; i++)
		if (shape->nr_fds < CALL_ARGUMENTS && !(format->fields[i].flags & FIELD_POINTER) &&
		    descriptor_is_argument(format->fields[i].name))
			shape->fds[shape->nr_fds++] = place_of(&format->fields[i], abi);
}

static void bind_raw(struct shape *shape, const struct event_type *type)
{
	shape->raw = true;
	(void)place_find(&shape->number, type, "id");
	(void)place_find(&shape->returned, type, "ret");
	(void)place_find(&shape->args, type, "args");
}

static const struct shape *shape_of(struct reading *reading, const struct event_type *type)
{
	const struct format *format = type->format;
	struct shape *shape;
	bool raw;

	if (!format)
		return NULL;
	raw = !strcmp(format->system, "raw_syscalls");
	while (reading->nr_shapes <= type->index)
		if (!vec_push(reading->shapes, reading->nr_shapes)) {
			reading->starved = true;
			return NULL;
		}
	shape = &reading->shapes[type->index];
	if (shape->bound)
		return shape;
	shape->bound = true;
	if (!raw && strcmp(format->system, "syscalls") != 0)
		return shape;
	if (!strncmp(format->name, "sys_enter", strlen("sys_enter")))
		shape->what = ENTER;
	else if (!strncmp(format->name, "sys_exit", strlen("sys_exit")))
		shape->what = EXIT;
	/* Another name may be as short as one letter. */
	if (shape->what == NO_CALL)
		return shape;
	if (raw)
		bind_raw(shape, type);
	else if (strchr(format->name + strlen("sys_e"), '_'))
		bind_named(shape, format, &reading->context->abi);
	else
		shape->what = NO_CALL;
	return shape;
}

/* What is known of the call with this number. */
static const struct shape *raw_shape_of(struct reading *reading, int64_t number)
{
	struct shape *shape = u64_map_get(&reading->raw_shapes, (uint64_t)number);
	const char *name = shape && !shape->bound ? system_call_name(reading->context->machine, number) : NULL;
	struct call_argument arguments[CALL_ARGUMENTS];
	int nr;

	if (!shape || shape->bound)
		return shape;
	shape->bound = true;
	if (!name)
		return shape;
	shape->returns = descriptor_is_result(name);
	nr = call_arguments(reading->context->machine, reading->context->abi.long_size == 8, name, arguments);
	for (int i = 0; i < nr; i++)
		if (!arguments[i].pointer && descriptor_is_argument(arguments[i].name))
			shape->fd_mask |= (uint8_t)(1U << i);
	if (nr < 0 && descriptor_is_first(name))
		shape->fd_mask = 1;
	return shape;
}

static bool is_of_wanted(const struct reading *reading, const struct event *event, uint64_t fd)
{
	/* A descriptor is an int, and what the registers have above it does not count. */
	return (int32_t)fd >= 0 && is_wanted(reading, files_is(reading->context, event->pid, (int32_t)fd, event->ts));
}

static bool takes_wanted(struct reading *reading, const struct event *event, const struct shape *shape, int64_t number)
{
	const struct shape *raw = shape->raw ? raw_shape_of(reading, number) : NULL;
	uint64_t fd;

	for (unsigned i = 0; i < shape->nr_fds; i++)
		if (is_of_wanted(reading, event, place_u64(&shape->fds[i], event)))
			return true;
	for (unsigned i = 0; raw && i < CALL_ARGUMENTS; i++)
		if (raw->fd_mask >> i & 1 && place_element(&shape->args, event, i, &fd) &&
		    is_of_wanted(reading, event, fd))
			return true;
	return false;
}

static bool names_wanted(const struct reading *reading, int32_t pid, uint64_t from, uint64_t to)
{
	const char *name;

	for (size_t i = 0; (name = files_name_in(reading->context, pid, from, to, i)); i++)
		for (size_t k = 0; k < reading->into->nr_globs; k++)
			if (text_glob(reading->into->globs[k], name))
				return true;
	return false;
}

static void add(struct reading *reading, int32_t pid, uint64_t from, uint64_t to)
{
	struct stretches *stretches = &reading->into->stretches;

	reading->too_many |= stretches->count >= CALLS_MAX;
	if (!reading->too_many && !stretches_add(stretches, (uint32_t)pid, from, to))
		reading->starved = true;
}

static void enter(struct reading *reading, const struct event *event, const struct shape *shape)
{
	int64_t number = place_s64(&shape->number, event);
	struct call *call = u64_map_get(&reading->open, (uint32_t)event->pid);
	bool wanted = takes_wanted(reading, event, shape, number);

	if (!call) {
		reading->starved = true;
		return;
	}
	/* Both systems have an event for the entry. */
	if (call->open && call->number == number && call->raw != shape->raw) {
		call->wanted |= wanted;
		return;
	}
	if (call->open && call->wanted)
		add(reading, event->pid, call->from, call->from);
	*call = (struct call){ .from = event->ts, .number = number, .open = true, .wanted = wanted, .raw = shape->raw };
}

static bool returns_wanted(struct reading *reading, const struct event *event, const struct shape *shape,
			   int64_t number)
{
	const struct shape *of = shape->raw ? raw_shape_of(reading, number) : shape;
	int64_t returned = place_s64(&shape->returned, event);

	return of && of->returns && returned >= 0 && returned <= INT32_MAX &&
	       is_of_wanted(reading, event, (uint64_t)returned);
}

static void leave(struct reading *reading, const struct event *event, const struct shape *shape)
{
	int64_t number = place_s64(&shape->number, event);
	struct call *call = u64_map_find(&reading->open, (uint32_t)event->pid);

	if (!call || call->number != number) {
		if (call)
			call->open = call->ended = false;
		return;
	}
	if (call->ended && call->raw != shape->raw)
		stretches_extend(&reading->into->stretches, (uint32_t)event->pid, event->ts);
	call->ended = false;
	if (!call->open)
		return;
	call->open = false;
	if (!call->wanted && !returns_wanted(reading, event, shape, number) &&
	    !names_wanted(reading, event->pid, call->from, event->ts))
		return;
	add(reading, event->pid, call->from, event->ts);
	call->ended = true;
	call->raw = shape->raw;
}

/* What comes after may be of another call. */
static void lose(struct reading *reading, uint64_t ts)
{
	struct call *call;
	uint64_t key;

	for (size_t at = 0; (call = u64_map_next(&reading->open, &at, &key));)
		if (call->open && (call->wanted || names_wanted(reading, (int32_t)key, call->from, ts)))
			add(reading, (int32_t)key, call->from, call->from);
	u64_map_clear(&reading->open);
}

static void end(struct reading *reading)
{
	struct call *call;
	uint64_t key;

	for (size_t at = 0; (call = u64_map_next(&reading->open, &at, &key));)
		if (call->open && (call->wanted || names_wanted(reading, (int32_t)key, call->from, UINT64_MAX)))
			add(reading, (int32_t)key, call->from, UINT64_MAX);
}

static void see(struct reading *reading, const struct event *event)
{
	const struct shape *shape;

	if (event->kind == EVENT_LOST) {
		lose(reading, event->ts);
		return;
	}
	shape = shape_of(reading, event->type);
	if (shape && shape->what == ENTER)
		enter(reading, event, shape);
	else if (shape && shape->what == EXIT)
		leave(reading, event, shape);
}

static int read_all(struct reading *reading, struct fail *fail)
{
	struct events_options options = { .until = UINT64_MAX };
	struct events *events = NULL;
	struct event event;
	int r = events_open(reading->context, &options, &events, fail);

	while (!r && (r = events_next(events, &event, fail)) > 0) {
		see(reading, &event);
		r = 0;
	}
	events_free(events);
	end(reading);
	return r;
}

int file_calls_add(struct file_calls *calls, const struct context *context, struct fail *fail)
{
	struct reading reading = { .into = calls, .context = context };
	int r;

	u64_map_init(&reading.raw_shapes, sizeof(struct shape));
	u64_map_init(&reading.open, sizeof(struct call));
	r = find_files(&reading, fail);
	if (!r)
		r = read_all(&reading, fail);
	if (!r && (reading.starved || reading.open.starved || reading.raw_shapes.starved))
		r = fail_memory(fail);
	if (!r && reading.too_many)
		r = fail_set(fail, -E2BIG, "--file: more than %d system calls are on such files", CALLS_MAX);
	free(reading.wanted);
	free(reading.shapes);
	u64_map_release(&reading.raw_shapes);
	u64_map_release(&reading.open);
	return r;
}

void file_calls_end(struct file_calls *calls)
{
	stretches_end(&calls->stretches);
}

bool file_calls_cover(const struct file_calls *calls, int32_t pid, uint64_t from, uint64_t to)
{
	return stretches_cover(&calls->stretches, (uint32_t)pid, from, to);
}

bool file_calls_names(struct file_calls *calls, const struct event *event)
{
	struct inode_type *type;
	uint32_t device;

	type = u64_map_get(&calls->inodes, (uint32_t)event->type->id);
	if (!type) {
		context_lacks_memory(event->type->context);
		return false;
	}
	if (!type->bound) {
		type->bound = true;
		type->has = inode_place_find(&type->place, event->type);
	}
	device = type->has ? inode_device(&type->place, event) : 0;
	return device && files_match(event->type->context,
				     files_with_inode(event->type->context, device, inode_of(&type->place, event)),
				     calls->globs, calls->nr_globs);
}
