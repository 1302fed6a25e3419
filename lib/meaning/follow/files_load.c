// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/files_load_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/follow/who.h"
#include "lib/pages/trace/trace.h"

enum {
	BATCH = 256,
	PATH_SIZE = 8192,
	/* CLONE_FILES and CLONE_THREAD of include/uapi/linux/sched.h */
	SHARES = 0x400,
	THREAD = 0x10000,
	/* CLOSE_RANGE_UNSHARE and CLOSE_RANGE_CLOEXEC of include/uapi/linux/close_range.h */
	UNSHARE = 2,
	AT_EXEC = 4,
};

enum role {
	INSTALL = 1,
	CLOSE,
	RANGE,
	NAME,
	NEWTASK,
	EXEC,
	SOCKET,
	STATE,
	LOCAL,
	RING,
	RING_FILE,
	RING_FIXED,
	RING_END,
	ROLES
};

static const struct role_name names[] = {
	{ "weft", "fd_install*", INSTALL },
	{ "weft", "do_dup2*", INSTALL },
	{ "weft", "file_close_fd*", CLOSE },
	{ "weft", "close_fd*", CLOSE },
	{ "syscalls", "sys_enter_close_range", RANGE },
	{ "weft", "getname*", NAME },
	{ "task", "task_newtask", NEWTASK },
	{ "sched", "sched_process_exec", EXEC },
	{ "weft", "sock_alloc_file*", SOCKET },
	{ "weft", "do_accept*", SOCKET },
	{ "sock", "inet_sock_set_state", STATE },
	{ "weft", "ip4_datagram_release_cb*", SOCKET },
	{ "weft", "ip6_datagram_release_cb*", SOCKET },
	{ "weft", "unix_socketpair*", LOCAL },
	{ "weft", "unix_dgram_connect*", LOCAL },
	{ "weft", "unix_bind*", LOCAL },
	{ "io_uring", "io_uring_submit_req", RING },
	{ "io_uring", "io_uring_submit_sqe", RING },
	{ "io_uring", "io_uring_file_get", RING_FILE },
	{ "weft", "io_file_get_fixed*", RING_FIXED },
	{ "io_uring", "io_uring_complete", RING_END },
	{ NULL, NULL, 0 },
};

static uint32_t add_table(struct files_load *load, uint32_t from, uint64_t since, bool executed)
{
	struct files *files = load->files;
	struct files_table *table =
		files->nr_tables < FILES_ITEMS_MAX ? vec_push(files->tables, files->nr_tables) : NULL;

	if (!table) {
		files->starved = true;
		return FILES_NO_TABLE;
	}
	*table = (struct files_table){ .from = from, .since = since, .executed = executed };
	return (uint32_t)files->nr_tables - 1;
}

static void use_table(struct files_load *load, int32_t pid, uint64_t since, uint32_t table)
{
	struct files *files = load->files;
	uint32_t *now = u64_map_add(&load->tables, (uint32_t)pid);
	struct files_user *user =
		now && files->nr_users < FILES_ITEMS_MAX ? vec_push(files->users, files->nr_users) : NULL;

	if (!user) {
		files->starved = true;
		return;
	}
	*now = table + 1;
	*user = (struct files_user){ .since = since, .pid = pid, .table = table };
}

/* The table with which a process began; FILES_NO_TABLE without memory. */
static uint32_t table_of_group(struct files_load *load, int32_t process)
{
	uint32_t *table = u64_map_add(&load->groups, (uint32_t)process);

	if (table && !*table)
		*table = add_table(load, FILES_NO_TABLE, 0, false) + 1;
	load->files->starved |= !table;
	return table ? *table - 1 : FILES_NO_TABLE;
}

/* The table of the task; one that was there at the start has that of its process. */
static uint32_t table_of(struct files_load *load, int32_t pid, uint64_t ts)
{
	uint32_t *table = u64_map_find(&load->tables, (uint32_t)pid), first;
	int32_t process;

	if (table)
		return *table - 1;
	process = who_process(load->files->context, pid, ts, NULL);
	first = table_of_group(load, process ? process : pid);
	if (first != FILES_NO_TABLE)
		use_table(load, pid, 0, first);
	return first;
}

static void say(struct files_load *load, uint32_t table, int32_t fd, uint64_t since, uint32_t file, bool closes)
{
	struct files *files = load->files;
	struct files_word *word = files->nr_words < FILES_ITEMS_MAX ? vec_push(files->words, files->nr_words) : NULL;

	if (table == FILES_NO_TABLE)
		return;
	files->starved |= !word;
	if (word)
		*word = (struct files_word){ .since = since, .table = table, .fd = fd, .file = file, .closes = closes };
}

/* Takes a word up to a blank, in which \xNN of our lists and \NNN of the kernel's are undone. */
static size_t take_text(const char **at, const char *end, char separator, char into[PATH_SIZE])
{
	size_t len = 0;

	while (*at < end && **at != separator) {
		unsigned char c = (unsigned char)*(*at)++;
		unsigned code;

		if (c == '\\' && end - *at >= 3 && **at == 'x' && sscanf(*at + 1, "%2x", &code) == 1 && code) {
			c = (unsigned char)code;
			*at += 3;
		} else if (c == '\\' && end - *at >= 3 && sscanf(*at, "%3o", &code) == 1 && code) {
			c = (unsigned char)code;
			*at += 3;
		}
		if (len < PATH_SIZE - 1)
			into[len++] = (char)c;
	}
	*at += *at < end;
	into[len] = '\0';
	return len;
}

static void keep_inode(struct files_load *load, uint32_t device, uint64_t inode, uint32_t file)
{
	uint32_t *known = u64_map_add(&load->files->inodes, files_inode_key(device, inode));

	load->files->starved |= !known;
	if (known)
		*known = file;
}

/* MKDEV() of include/linux/kdev_t.h */
static uint32_t device_of(unsigned major, unsigned minor)
{
	return major << 20 | (minor & 0xfffff);
}

/* MAJOR:MINOR:INODE. 0: the list lacks it. */
static uint64_t inode_of(const char *at, uint32_t *ret_device)
{
	unsigned major, minor;
	unsigned long long inode;

	if (sscanf(at, "%u:%u:%llu", &major, &minor, &inode) != 3)
		return 0;
	*ret_device = device_of(major, minor);
	return inode;
}

static void read_open_files(struct files_load *load)
{
	const struct context *context = load->files->context;
	struct trace_text text = own_setting(context->trace, context->buffer, "weft/open_files");
	char path[PATH_SIZE];
	struct text_word line;

	load->files->known |= text.text != NULL;
	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		const char *at = line.at, *end = line.at + line.len;
		uint64_t pid, fd, flags, inode;
		uint32_t table, file, device = 0;
		char *rest;
		size_t size;

		if (!number_u64(&at, &pid) || pid > INT32_MAX)
			continue;
		table = table_of_group(load, (int32_t)pid);
		if (table == FILES_NO_TABLE)
			return;
		load->files->tables[table].listed = true;
		if (at >= end || *at++ != ' ' || !number_u64(&at, &fd) || fd > INT32_MAX || at >= end || *at++ != ' ')
			continue;
		flags = strtoul(at, &rest, 8);
		inode = rest < end && *rest == ' ' ? inode_of(rest, &device) : 0;
		while (at < end && *at++ != '\t')
			;
		size = take_text(&at, end, '\n', path);
		file = inode && files_is_socket(path, size) ? files_list_socket(load, inode, path, size) :
							      files_of_text(load, path, size);
		if (*path == '/')
			keep_inode(load, device, inode, file);
		say(load, table, (int32_t)fd, 0, file, flags & O_CLOEXEC);
	}
}

static void read_mounts(struct files_load *load)
{
	const struct context *context = load->files->context;
	struct trace_text text = own_setting(context->trace, context->buffer, "weft/mounts");
	char word[PATH_SIZE];
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		const char *at = line.at, *end = line.at + line.len;
		struct files_mount mount = { .device = 0 };
		unsigned major, minor;

		(void)take_text(&at, end, ' ', word);
		(void)take_text(&at, end, ' ', word);
		(void)take_text(&at, end, ' ', word);
		if (sscanf(word, "%u:%u", &major, &minor) != 2)
			continue;
		mount.device = device_of(major, minor);
		(void)take_text(&at, end, ' ', word);
		mount.root = strdup(word);
		(void)take_text(&at, end, ' ', word);
		mount.place = strdup(word);
		if (mount.root && mount.place && vec_push(load->mounts, load->nr_mounts)) {
			load->mounts[load->nr_mounts - 1] = mount;
			continue;
		}
		load->files->starved = true;
		free(mount.root);
		free(mount.place);
		return;
	}
}

/* Puts the place at which the file system is mounted before a path in it. The last one that fits is on top. */
static const struct files_mount *mount_of(const struct files_load *load, uint32_t device, const char *path)
{
	const struct files_mount *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < load->nr_mounts; i++) {
		const struct files_mount *mount = &load->mounts[i];
		size_t len = strcmp(mount->root, "/") ? strlen(mount->root) : 0;

		if (mount->device != device || strncmp(path, mount->root, len) || (path[len] && path[len] != '/'))
			continue;
		/* A whole file system tells more than a part of it that is mounted elsewhere, too. */
		if (!best || len < longest) {
			best = mount;
			longest = len;
		}
	}
	return best;
}

static bool is_text(const char *text, size_t len, const char *what)
{
	return len == strlen(what) && !memcmp(text, what, len);
}

/* The path in the file system, from the names of the directories. False: there are more of them. */
static bool join_path(const struct files_places *places, const struct event *event, struct buf *into)
{
	const char *parts[FILES_LEVELS];
	size_t lens[FILES_LEVELS], nr = 0;
	bool whole = false, ok = true;

	while (nr < FILES_LEVELS && places->level[nr].field && !whole) {
		lens[nr] = files_field_text(&places->level[nr], event, &parts[nr]);
		whole = is_text(parts[nr], lens[nr], "/");
		nr += !whole;
	}
	for (size_t i = nr; ok && i-- > 0;)
		ok = buf_add_str(into, "/") && buf_add(into, parts[i], lens[i]);
	return ok && whole && (nr || buf_add_str(into, "/"));
}

/* What has no path: sockets, pipes, and what has no name in any file system. */
static bool put_nameless(const struct files_places *places, const struct event *event, struct buf *into)
{
	uint64_t mode = place_u64(&places->mode, event), ino = place_u64(&places->ino, event);
	const char *name, *above;
	size_t len = files_field_text(&places->level[0], event, &name),
	       above_len = files_field_text(&places->level[1], event, &above);
	bool alone = len == above_len && !memcmp(name, above, len) && !is_text(name, len, "/");

	/* The name of what is in the file system of sockets is that of the protocol. */
	if (places->mode.field && S_ISSOCK(mode))
		return (len ? buf_add(into, name, len) : buf_add_str(into, "socket")) &&
		       buf_addf(into, ":[%llu]", (unsigned long long)ino);
	if (places->mode.field && S_ISFIFO(mode) && !len)
		return buf_addf(into, "pipe:[%llu]", (unsigned long long)ino);
	if (!alone || !places->level[1].field)
		return false;
	if (len > 6 && !memcmp(name, "memfd:", 6))
		return buf_add_str(into, "/") && buf_add(into, name, len) && buf_add_str(into, " (deleted)");
	if (len && *name == '[')
		return buf_add_str(into, "anon_inode:") && buf_add(into, name, len);
	return buf_add(into, name, len) && (len || buf_addf(into, "anon_inode:[%llu]", (unsigned long long)ino));
}

/* The whole path that the task gave last, if this is the file that it names. */
static const char *path_given(const struct files_load *load, const struct event *event, const char *end)
{
	const uint32_t *last = u64_map_find(&load->last, (uint32_t)event->pid);
	const char *path = last ? load->files->texts.data + load->files->at[*last] : NULL;
	size_t len = path ? strlen(path) : 0, end_len = strlen(end);

	if (!path || *path != '/' || len < end_len || strcmp(path + len - end_len, end))
		return NULL;
	return path;
}

static uint32_t name_file(struct files_load *load, const struct files_places *places, const struct event *event)
{
	cleanup_buf struct buf text = BUF_INIT, cut = BUF_INIT;
	const struct files_mount *mount;
	const char *given;
	uint32_t device = (uint32_t)place_u64(&places->device, event), file;

	if (put_nameless(places, event, &text)) {
		file = files_of_text(load, text.data, text.len);
		if (places->mode.field && S_ISSOCK(place_u64(&places->mode, event)))
			files_name_socket(load, place_u64(&places->ino, event), file);
		return file;
	}
	buf_clear(&text);
	if (join_path(places, event, &text)) {
		mount = places->device.field ? mount_of(load, device, buf_str(&text)) : NULL;
		if (mount) {
			cleanup_buf struct buf whole = BUF_INIT;
			size_t root = strcmp(mount->root, "/") ? strlen(mount->root) : 0;
			const char *rest = buf_str(&text) + root;

			if (!strcmp(rest, "/") || !*rest)
				return files_of_text(load, mount->place, strlen(mount->place));
			if (buf_add_str(&whole, strcmp(mount->place, "/") ? mount->place : "") &&
			    buf_add_str(&whole, rest))
				return files_of_text(load, whole.data, whole.len);
		}
		return files_of_text(load, text.data, text.len);
	}
	if (!text.len || !strcmp(buf_str(&text), "/") || !buf_add_str(&cut, "..."))
		return FILES_UNKNOWN;
	given = path_given(load, event, buf_str(&text));
	if (given)
		return files_of_text(load, given, strlen(given));
	return buf_add_str(&cut, buf_str(&text)) ? files_of_text(load, cut.data, cut.len) : FILES_UNKNOWN;
}

static uint32_t file_at(struct files_load *load, const struct files_places *places, const struct event *event)
{
	uint32_t file = name_file(load, places, event);

	if (file != FILES_UNKNOWN && places->ino.field && places->device.field)
		keep_inode(load, (uint32_t)place_u64(&places->device, event), place_u64(&places->ino, event), file);
	return file;
}

static struct files_places *places_of(struct files_load *load, const struct event *event)
{
	const struct event_type *type = event->type;
	struct files_places *places;

	while (load->nr_places <= type->index)
		if (!vec_push(load->places, load->nr_places))
			return NULL;
	places = &load->places[type->index];
	if (places->bound)
		return places;
	places->bound = true;
	(void)place_find(&places->fd, type, "fd");
	(void)place_find(&places->ino, type, "ino");
	(void)place_find(&places->mode, type, "mode");
	(void)place_find(&places->device, type, "dev");
	(void)place_find(&places->name, type, "name");
	(void)place_find(&places->pointer, type, "from");
	(void)place_find(&places->pid, type, "pid");
	if (!place_find(&places->flags, type, "clone_flags"))
		(void)place_find(&places->flags, type, "flags");
	(void)place_find(&places->last, type, "max_fd");
	if (!place_find(&places->sock, type, "sk"))
		(void)place_find(&places->sock, type, "skaddr");
	(void)place_find(&places->state, type, "newstate");
	(void)place_find(&places->family, type, "family");
	(void)place_find(&places->port, type, "sport");
	if (!place_find(&places->peer_port, type, "peer"))
		(void)place_find(&places->peer_port, type, "dport");
	(void)place_find(&places->address, type, "saddr");
	(void)place_find(&places->peer, type, "daddr");
	(void)place_find(&places->address6, type, "saddr_v6");
	(void)place_find(&places->peer6, type, "daddr_v6");
	(void)place_find(&places->other, type, "pino");
	(void)place_find(&places->length, type, "len");
	(void)place_find(&places->request, type, "req");
	(void)place_find(&places->operation, type, "op_str");
	(void)place_find(&places->number, type, "opcode");
	(void)place_find(&places->result, type, "res");
	(void)place_find(&places->more, type, "cflags");
	(void)place_find(&places->guard, type, "socket");
	(void)place_find(&places->to, type, "to");
	(void)place_find(&places->to_socket, type, "tosk");
	(void)place_find(&places->named, type, "addr");
	(void)place_find(&places->path, type, "path");
	(void)place_find(&places->abstract, type, "abstract");
	for (unsigned i = 0; i < FILES_LEVELS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%u", i);
		(void)place_find(&places->level[i], type, name);
	}
	return places;
}

static void see_name(struct files_load *load, const struct files_places *places, const struct event *event)
{
	struct files *files = load->files;
	uint32_t *last = u64_map_add(&load->last, (uint32_t)event->pid);
	struct files_name *name;
	const char *text;
	size_t len;

	/* Of a name that could not be read there is no text. */
	if (!last || !place_string(&places->name, event, &text, &len) || is_text(text, len, "(fault)"))
		return;
	name = files->nr_names < FILES_ITEMS_MAX ? vec_push(files->names, files->nr_names) : NULL;
	files->starved |= !name;
	if (!name)
		return;
	*name = (struct files_name){ .ts = event->ts,
				     .pointer = place_u64(&places->pointer, event),
				     .pid = event->pid,
				     .file = files_of_text(load, text, len) };
	*last = name->file;
}

static void see_task(struct files_load *load, const struct files_places *places, const struct event *event)
{
	int32_t pid = (int32_t)place_u64(&places->pid, event);
	uint32_t table = table_of(load, event->pid, event->ts);

	if (table != FILES_NO_TABLE && !(place_u64(&places->flags, event) & (SHARES | THREAD)))
		table = add_table(load, table, event->ts, false);
	if (table != FILES_NO_TABLE && pid > 0)
		use_table(load, pid, event->ts, table);
}

/* __close_range() of fs/file.c, which refuses other flags and an empty range. */
static void see_range(struct files_load *load, const struct files_places *places, const struct event *event)
{
	struct files *files = load->files;
	uint32_t first = (uint32_t)place_u64(&places->fd, event), last = (uint32_t)place_u64(&places->last, event);
	uint32_t flags = (uint32_t)place_u64(&places->flags, event), table = table_of(load, event->pid, event->ts);
	struct files_range *range;

	if (first > last || (flags & ~(uint32_t)(UNSHARE | AT_EXEC)) || table == FILES_NO_TABLE)
		return;
	if (flags & UNSHARE) {
		table = add_table(load, table, event->ts, false);
		if (table == FILES_NO_TABLE)
			return;
		use_table(load, event->pid, event->ts, table);
	}
	range = files->nr_ranges < FILES_ITEMS_MAX ? vec_push(files->ranges, files->nr_ranges) : NULL;
	files->starved |= !range;
	if (range)
		*range = (struct files_range){
			.since = event->ts, .table = table, .first = first, .last = last, .at_exec = flags & AT_EXEC
		};
}

static void see(struct files_load *load, const struct event *event)
{
	struct files_places *places;
	uint32_t table;
	uint8_t role;
	bool fresh;

	if (event->kind == EVENT_LOST) {
		uint64_t *loss = event->first ? NULL : vec_push(load->files->losses, load->files->nr_losses);

		if (loss)
			*loss = event->ts;
		/* Their ends may be among the lost ones. */
		u64_map_clear(&load->rings);
		return;
	}
	role = roles_of(&load->roles, event, &fresh);
	places = role ? places_of(load, event) : NULL;
	if (!places)
		return;
	switch ((enum role)role) {
	case INSTALL:
	case CLOSE:
		say(load, table_of(load, event->pid, event->ts), (int32_t)place_u64(&places->fd, event), event->ts,
		    role == CLOSE ? FILES_CLOSED : file_at(load, places, event), false);
		return;
	case RANGE:
		see_range(load, places, event);
		return;
	case SOCKET:
	case STATE:
		files_see_socket(load, places, event);
		return;
	case LOCAL:
		files_see_local(load, places, event);
		return;
	case RING:
	case RING_FILE:
	case RING_FIXED:
	case RING_END:
		files_see_uring(load, places, event, (enum files_uring_role)(role - RING + FILES_URING_SUBMIT),
				role == RING_FIXED && places->level[0].field ? file_at(load, places, event) :
									       (uint32_t)FILES_UNKNOWN);
		return;
	case NAME:
		see_name(load, places, event);
		return;
	case NEWTASK:
		see_task(load, places, event);
		return;
	case EXEC:
		table = add_table(load, table_of(load, event->pid, event->ts), event->ts, true);
		if (table != FILES_NO_TABLE)
			use_table(load, event->pid, event->ts, table);
		return;
	case ROLES:
		return;
	}
}

static void read_buffer(struct files_load *load, const struct context *context)
{
	struct events_options options = { .until = UINT64_MAX };
	struct event *batch = calloc(BATCH, sizeof(*batch));
	struct events *events;
	int nr;

	load->files->starved |= !batch;
	if (batch && !events_open(context, &options, &events, NULL)) {
		while ((nr = events_batch(events, batch, BATCH, NULL)) > 0)
			for (int i = 0; i < nr; i++)
				see(load, &batch[i]);
		events_free(events);
	}
	free(batch);
}

static void read_events(struct files_load *load)
{
	const struct context *of = load->files->context;

	for (size_t i = 0; i < trace_buffers(of->trace); i++) {
		struct context *context;

		if (!own_buffer_is(trace_buffer(of->trace, i)->name.text, OWN_BUFFER_FILES) ||
		    context_new(of->trace, i, &context, NULL))
			continue;
		if (context_shares_times(of, context)) {
			load->files->known = true;
			read_buffer(load, context);
		}
		context_free(context);
	}
}

static int compare_users(const void *a, const void *b)
{
	const struct files_user *one = a, *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	if (one->since != other->since)
		return one->since < other->since ? -1 : 1;
	return one->table < other->table ? -1 : one->table > other->table;
}

static int compare_names(const void *a, const void *b)
{
	const struct files_name *one = a, *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return one->ts < other->ts ? -1 : one->ts > other->ts;
}

static int compare_words(const void *a, const void *b)
{
	const struct files_word *one = a, *other = b;

	if (one->table != other->table)
		return one->table < other->table ? -1 : 1;
	if (one->fd != other->fd)
		return one->fd < other->fd ? -1 : 1;
	return one->since < other->since ? -1 : one->since > other->since;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct files_range *one = a, *other = b;

	if (one->table != other->table)
		return one->table < other->table ? -1 : 1;
	return one->since < other->since ? -1 : one->since > other->since;
}

static int compare_renames(const void *a, const void *b)
{
	const struct files_rename *one = a, *other = b;

	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return one->since < other->since ? -1 : one->since > other->since;
}

static void sort(struct files *files)
{
	if (files->nr_renames)
		qsort(files->renames, files->nr_renames, sizeof(*files->renames), compare_renames);
	if (files->nr_ranges)
		qsort(files->ranges, files->nr_ranges, sizeof(*files->ranges), compare_ranges);
	if (files->nr_users)
		qsort(files->users, files->nr_users, sizeof(*files->users), compare_users);
	if (files->nr_names)
		qsort(files->names, files->nr_names, sizeof(*files->names), compare_names);
	if (files->nr_words)
		qsort(files->words, files->nr_words, sizeof(*files->words), compare_words);
}

/* Processes of the list of which no event told still have threads. */
static void add_rest(struct files_load *load)
{
	uint64_t pid;
	size_t at = 0;
	uint32_t *table;

	while ((table = u64_map_next(&load->groups, &at, &pid)))
		if (!u64_map_find(&load->tables, pid))
			use_table(load, (int32_t)pid, 0, *table - 1);
}

void files_load(struct files *files)
{
	struct files_load load = { .files = files };

	roles_init(&load.roles, names);
	u64_map_init(&load.tables, sizeof(uint32_t));
	u64_map_init(&load.groups, sizeof(uint32_t));
	u64_map_init(&load.last, sizeof(uint32_t));
	u64_map_init(&load.sockets, sizeof(struct files_socket));
	u64_map_init(&load.socks, sizeof(uint64_t));
	u64_map_init(&load.binds, sizeof(struct files_binding));
	u64_map_init(&load.rings, sizeof(uint32_t));
	u64_map_init(&load.fixed, sizeof(uint64_t));
	/* FILES_UNKNOWN and FILES_CLOSED */
	if (files_of_text(&load, "(unknown)", 9) != FILES_UNKNOWN ||
	    files_of_text(&load, "(closed)", 8) != FILES_CLOSED)
		files->starved = true;
	read_open_files(&load);
	read_mounts(&load);
	read_events(&load);
	add_rest(&load);
	sort(files);
	for (size_t i = 0; i < load.nr_mounts; i++) {
		free(load.mounts[i].root);
		free(load.mounts[i].place);
	}
	free(load.mounts);
	free(load.places);
	roles_release(&load.roles);
	u64_map_release(&load.tables);
	u64_map_release(&load.groups);
	u64_map_release(&load.last);
	u64_map_release(&load.sockets);
	u64_map_release(&load.socks);
	u64_map_release(&load.binds);
	u64_map_release(&load.rings);
	u64_map_release(&load.fixed);
}
