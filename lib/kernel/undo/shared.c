// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/undo/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/lock_file.h"
#include "lib/kernel/undo/journal.h"
#include "lib/kernel/undo/undo.h"

enum { USERS_MAX = 256, SIZE_MOST = 32768 };

struct shared {
	const struct tracing *tracing;
	char *path;
	int live_fd; /* has this user's sign of life (lock_file.h) at the place of its `slot` */
	struct user {
		struct process_id id;
		unsigned slot; /* 0: a user of an older weft, which gives no sign of life */
	} self;
	uint32_t found,
		ours; /* as noted when this user came: for a file that has been removed or cannot be understood */
};

/*
 * The content of the file: "BOOT FOUND OURS\n" and a line "PID START SLOT\n" for each user. It is read and written only
 * under its lock. Without users the numbers have no meaning.
 */
struct state {
	char boot[BOOT_ID_SIZE];
	uint32_t found; /* saved_cmdlines_size before the first user changed it */
	/* the size that resulted from weft's change, because kernels round up; 0 while weft writes it */
	uint32_t ours;
	struct user users[USERS_MAX];
	size_t nr;
};

/* Whether the file is of this boot. One that could not be read, now or when the file was written, is taken for it. */
static bool is_of_boot(const char *noted, const char *boot)
{
	return !*boot || !strcmp(noted, "-") || !strcmp(noted, boot);
}

/*
 * Reads the file. *ret_died: the file has users, but all of them have ended. A file of another boot or with unknown
 * content gives an empty state, of which `found` is 0.
 */
static int load(int fd, struct state *state, bool *ret_died, struct fail *fail)
{
	char text[64 * USERS_MAX], boot[BOOT_ID_SIZE], *line = text;
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
	struct state old = { 0 };
	bool any = false;

	*ret_died = false;
	*state = (struct state){ 0 };
	boot_id(boot);
	snprintf(state->boot, sizeof(state->boot), "%s", *boot ? boot : "-");
	if (got < 0)
		return fail_set(fail, -errno, "cannot read who uses saved_cmdlines_size: %s", strerror(errno));
	text[got] = '\0';
	if (sscanf(line, "%39s %" SCNu32 " %" SCNu32, old.boot, &old.found, &old.ours) != 3 ||
	    !is_of_boot(old.boot, boot))
		return 0;
	while ((line = strchr(line, '\n')) && *++line && old.nr < USERS_MAX - 1) {
		struct user user = { .slot = 0 };

		if (sscanf(line, "%d %" SCNu64 " %u", &user.id.pid, &user.id.start, &user.slot) < 2)
			break;
		any = true;
		if ((user.slot && lock_file_lives(fd, user.slot)) || process_lives(user.id))
			old.users[old.nr++] = user;
	}
	*ret_died = any && !old.nr;
	*state = old;
	return 0;
}

static int store_state(const char *path, int fd, const struct state *state, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	bool ok;

	/* Nobody uses the file any more. A process that waits for its lock makes a new one (lock_file.h). */
	if (!state->nr)
		return unlink(path) ? fail_set(fail, -errno, "cannot remove '%s': %s", path, strerror(errno)) : 0;
	ok = buf_addf(&buf, "%s %" PRIu32 " %" PRIu32 "\n", state->boot, state->found, state->ours);
	for (size_t i = 0; ok && i < state->nr; i++)
		ok = buf_addf(&buf, "%d %" PRIu64 " %u\n", (int)state->users[i].id.pid, state->users[i].id.start,
			      state->users[i].slot);
	if (!ok)
		return fail_memory(fail);
	errno = EIO;
	if (pwrite(fd, buf_str(&buf), buf.len, 0) != (ssize_t)buf.len || ftruncate(fd, (off_t)buf.len))
		return fail_set(fail, -errno, "cannot note who uses saved_cmdlines_size: %s", strerror(errno));
	return 0;
}

static int size_path(const struct tracing *tracing, char **ret, struct fail *fail)
{
	if (asprintf(ret, "%s/saved_cmdlines_size", tracing->dir) >= 0)
		return 0;
	*ret = NULL;
	return fail_memory(fail);
}

static int read_size(const struct tracing *tracing, uint32_t *ret, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	cleanup_free char *path = NULL;
	int err = size_path(tracing, &path, fail);

	if (!err)
		err = tracing_read_path(path, &buf, fail);
	if (!err && sscanf(buf_str(&buf), "%" SCNu32, ret) != 1)
		err = fail_set(fail, -EBADMSG, "'%s' holds no number", path);
	return err;
}

/*
 * tracing_saved_cmdlines_size_write() of kernel/trace/trace_sched_switch.c refuses more than PID_MAX_DEFAULT. Since 6.9
 * a read gives the number of names that fit into the allocated pages, which may be more. Writing the largest accepted
 * value gives the same number again.
 */
static int write_size(const struct tracing *tracing, uint32_t size, struct fail *fail)
{
	cleanup_free char *path = NULL;
	char value[16];
	int err = size_path(tracing, &path, fail);

	if (err)
		return err;
	snprintf(value, sizeof(value), "%" PRIu32, size < SIZE_MOST ? size : SIZE_MOST);
	err = control_write(path, false, value);
	return err ? tracing_refused(path, err, "write", fail) : 0;
}

/*
 * Restores the size that was found, because no user is left. It does not if somebody else has changed the size. Returns
 * 1 if it restored the size, 0 if there was nothing to do.
 */
static int put_back(const struct tracing *tracing, const struct state *state, struct fail *fail)
{
	uint32_t now;
	int err = read_size(tracing, &now, fail);

	/*
	 * It is unknown whether the present size is weft's. It is restored, because leaving it raised would do more
	 * harm.
	 */
	if (err) {
		(void)!write_size(tracing, state->found, NULL);
		return err;
	}
	if ((state->ours && now != state->ours) || now == state->found)
		return 0;
	err = write_size(tracing, state->found, fail);
	/*
	 * The write makes the kernel allocate the names anew. A second try may succeed if memory was short only for a
	 * moment. If this also fails, the next user or `weft recover` restores the size.
	 */
	if (err)
		err = write_size(tracing, state->found, fail);
	return err ? err : 1;
}

static int path_in(const char *dir, char **ret, struct fail *fail)
{
	const char *where = dir ? dir : UNDO_DIR;

	if (mkdir(where, 0700) && errno != EEXIST)
		return fail_set(fail, -errno, "cannot make the directory '%s': %s", where, strerror(errno));
	if (asprintf(ret, "%s/saved_cmdlines_size", where) >= 0)
		return 0;
	*ret = NULL;
	return fail_memory(fail);
}

/* Restores the size after it was raised less than needed. Returns `err`; its text says so if this also fails. */
static int step_back(const struct tracing *tracing, const char *path, int fd, const struct state *before, uint32_t size,
		     int err, struct fail *fail)
{
	struct fail why = FAIL_INIT;

	if (store_state(path, fd, before, &why) | write_size(tracing, size, &why))
		fail_in(fail, err, "saved_cmdlines_size is not back at %" PRIu32 " (%s)", size, why.text);
	return err;
}

/* Gives this user the first free place for its sign of life. The file is locked, so the place stays free until then. */
static int come_alive(struct shared *shared, const struct state *state, struct fail *fail)
{
	unsigned slot = 1;

	for (size_t i = 0; i < state->nr; i++)
		if (state->users[i].slot >= slot)
			slot = state->users[i].slot + 1;
	shared->live_fd = open(shared->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (shared->live_fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", shared->path, strerror(errno));
	shared->self.slot = lock_file_live(shared->live_fd, slot, false) ? slot : 0;
	return 0;
}

/* Adds this process to the users and raises the size if necessary. The file is locked. */
static int join(struct shared *shared, int fd, uint32_t entries, struct fail *fail)
{
	const struct tracing *tracing = shared->tracing;
	const char *path = shared->path;
	struct state state, before;
	bool died;
	uint32_t now;
	int err;

	err = load(fd, &state, &died, fail);
	if (err)
		return err;
	if (died)
		put_back(tracing, &state, NULL);
	err = read_size(tracing, &now, fail);
	if (err)
		return err;
	/* If another process has set the size since the first user came, that size is the one to restore. */
	if (!state.nr || (state.ours && now != state.ours))
		state.found = state.ours = now;
	before = state;
	if (entries > now)
		state.ours = 0;
	err = come_alive(shared, &state, fail);
	if (err)
		return err;
	state.users[state.nr++] = shared->self;
	shared->found = shared->ours = state.found;
	/* The state is on disk before the size changes, so that the size can be restored after a kill. */
	err = store_state(path, fd, &state, fail);
	if (err || entries <= now)
		return err;
	err = write_size(tracing, entries, fail);
	if (!err)
		err = read_size(tracing, &state.ours, fail);
	shared->ours = state.ours;
	if (!err)
		err = store_state(path, fd, &state, fail);
	return err ? step_back(tracing, path, fd, &before, now, err, fail) : 0;
}

static void shared_free(struct shared *shared)
{
	if (shared->live_fd >= 0)
		close(shared->live_fd);
	free(shared->path);
	free(shared);
}

static bool is_same(const struct user *a, const struct user *b)
{
	return a->id.pid == b->id.pid && a->id.start == b->id.start && a->slot == b->slot;
}

int shared_cmdlines_raise(const struct tracing *tracing, const char *dir, uint32_t entries, struct shared **ret,
			  struct fail *fail)
{
	struct shared *shared = calloc(1, sizeof(*shared));
	cleanup_fd int fd = -1;
	int err;

	if (!shared)
		return fail_memory(fail);
	shared->tracing = tracing;
	shared->live_fd = -1;
	shared->self.id = process_self();
	err = path_in(dir, &shared->path, fail);
	if (!err)
		err = lock_file_open(shared->path, true, &fd, fail);
	if (!err)
		err = join(shared, fd, entries, fail);
	if (err) {
		shared_free(shared);
		return err;
	}
	*ret = shared;
	return 0;
}

static int lock_and_load(const char *path, int *fd, struct state *state, bool *ret_died, struct fail *fail)
{
	int err;

	cleanup_fd_close(fd);
	*fd = -1;
	err = lock_file_open(path, true, fd, fail);
	return err ? err : load(*fd, state, ret_died, fail);
}

int shared_cmdlines_leave(struct shared *shared, struct fail *fail)
{
	cleanup_fd int fd = -1;
	struct state state;
	bool died;
	int err;

	if (!shared)
		return 0;
	err = lock_and_load(shared->path, &fd, &state, &died, fail);
	/* As for a write: what is lacking may be there a moment later, and nobody else lowers the size until then. */
	if (err)
		err = lock_and_load(shared->path, &fd, &state, &died, fail);
	if (!err) {
		for (size_t i = 0; i < state.nr; i++) {
			if (!is_same(&state.users[i], &shared->self))
				continue;
			state.users[i] = state.users[--state.nr];
			break;
		}
		if (!state.found) {
			state.found = shared->found;
			state.ours = shared->ours;
		}
		if (!state.nr)
			err = put_back(shared->tracing, &state, fail);
		if (err >= 0)
			err = store_state(shared->path, fd, &state, fail);
	}
	shared_free(shared);
	return err;
}

int shared_cmdlines_recover(const struct tracing *tracing, const char *dir, struct fail *fail)
{
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;
	struct state state;
	bool died;
	int err, done = 0;

	if (asprintf(&path, "%s/saved_cmdlines_size", dir ? dir : UNDO_DIR) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	if (access(path, F_OK))
		return 0;
	err = lock_and_load(path, &fd, &state, &died, fail);
	if (err)
		return err;
	if (!died)
		return 0;
	done = put_back(tracing, &state, fail);
	if (done < 0)
		return done;
	err = store_state(path, fd, &state, fail);
	return err ? err : done;
}
