// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/undo/claim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/lock_file.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/undo/undo.h"
#include "lib/kernel/undo/undo_internal.h"

enum { LOOK_AGAIN_NS = 50000000, LOOKS_FOR_NAME = 20 };

static int lock_path(const char *dir, const char *instance, char **ret, struct fail *fail)
{
	if (asprintf(ret, *instance ? "%s/" CLAIM_NAMED "%.200s" : "%s/" CLAIM_TOP, dir ? dir : UNDO_DIR, instance) >=
	    0)
		return 0;
	*ret = NULL;
	return fail_memory(fail);
}

static bool find_live(const char *dir, const char *instance, struct claim *ret)
{
	cleanup_buf struct buf buf = BUF_INIT;
	cleanup_free char *path = NULL;

	return !lock_path(dir, instance, &path, NULL) && !tracing_read_path(path, &buf, NULL) &&
	       claim_parse(buf_str(&buf), ret) && (lock_file_lives_at(path) || process_lives(ret->owner));
}

static bool read_held(const struct undo_pending *pending, struct claim *ret)
{
	struct journal journal = { 0 };
	const struct journal_entry *entry;
	char boot[BOOT_ID_SIZE];
	struct process_id owner;
	cleanup_fd int fd = -1;
	bool found = false;

	if (!pending->held || undo_read_journal(pending->path, &fd, &owner, boot, &journal, NULL))
		return false;
	entry = journal_find(&journal, JOURNAL_CLAIM, "", "");
	if (entry)
		found = claim_parse(entry->text, ret);
	ret->held = true;
	journal_release(&journal);
	return found;
}

/* The latest held claim on the top instance. */
static bool find_held(const char *dir, struct claim *ret)
{
	cleanup_free struct undo_pending *items = NULL;
	struct claim one;
	bool found = false;
	size_t nr = 0;

	if (undo_list(dir, &items, &nr, NULL))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!read_held(&items[i], &one) || (found && one.boot_ns <= ret->boot_ns))
			continue;
		*ret = one;
		found = true;
	}
	return found;
}

bool claim_find(const char *dir, const char *instance, struct claim *ret)
{
	return find_live(dir, instance, ret) || (!*instance && find_held(dir, ret));
}

/* Says which process uses the instance, since when, and until when. */
static int refuse(const char *instance, const struct claim *claim, struct fail *fail)
{
	const char *before = *instance ? "instance '" : "top instance", *after = *instance ? "'" : "";
	uint64_t now = claim_now_ns();
	char time[TEXT_HUMAN];

	if (!*claim->command)
		return fail_set(fail, -EBUSY, "the %s%s%s is in use: another weft traces there", before, instance,
				after);
	text_time(time, now > claim->boot_ns ? now - claim->boot_ns : 0);
	return fail_set(fail, -EBUSY, "the %s%s%s is in use: '%s' (process %d%s) traces there for %s now%s", before,
			instance, after, claim->command, (int)claim->owner.pid, claim->held ? ", ended" : "", time,
			claim->held ? ", until 'weft reset'" : "");
}

/* Tries to take the claim once. 1: taken; 0: another process holds it, whose claim is in *ret_claim. */
static int try_once(const char *dir, const char *instance, const char *path, bool replaces, int *ret_fd,
		    struct claim *ret_claim, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int fd = -1, err = lock_file_open(path, false, &fd, fail);

	*ret_claim = (struct claim){ .held = false };
	if (err == -EWOULDBLOCK) {
		/* The holder locks the file a moment before it writes its text there. */
		for (unsigned i = 0; i < LOOKS_FOR_NAME && !find_live(dir, instance, ret_claim); i++)
			nanosleep(&(struct timespec){ .tv_nsec = LOOK_AGAIN_NS / 10 }, NULL);
		return 0;
	}
	if (err)
		return err;
	if (!*instance && find_held(dir, ret_claim) && !(replaces && claim_is_ours(ret_claim))) {
		lock_file_remove(path, &fd);
		return 0;
	}
	/* Errors are ignored, because the text is only information for other processes. */
	if (ftruncate(fd, 0) || !claim_print(&text) || pwrite(fd, buf_str(&text), text.len, 0) < 0)
		*ret_claim = (struct claim){ .held = false };
	*ret_fd = fd;
	return 1;
}

static const char *signal_that_came(void)
{
	static const struct {
		int number;
		const char *name;
	} ends[] = { { SIGINT, "INT" }, { SIGTERM, "TERM" }, { SIGHUP, "HUP" }, { SIGQUIT, "QUIT" } };
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < array_size(ends); i++)
		if (sigismember(&pending, ends[i].number) == 1)
			return ends[i].name;
	return NULL;
}

static void tell_waiting(const struct claim_manner *manner, const char *instance, const struct claim *claim)
{
	struct fail told;

	if (!manner->waiting)
		return;
	refuse(instance, claim, &told);
	manner->waiting(told.text, manner->data);
}

int claim_take(const char *dir, const char *instance, const struct claim_manner *manner, int *ret_fd, struct fail *fail)
{
	uint64_t begin = claim_now_ns();
	cleanup_free char *path = NULL;
	bool told = false;
	int r = lock_path(dir, instance, &path, fail);

	while (!r) {
		struct claim claim;
		const char *signal;

		r = try_once(dir, instance, path, manner->replaces, ret_fd, &claim, fail);
		if (r)
			break;
		if (!manner->waits)
			return refuse(instance, &claim, fail);
		if (!told)
			tell_waiting(manner, instance, &claim);
		told = true;
		signal = signal_that_came();
		if (signal)
			return fail_set(fail, -EINTR, "ended by SIG%s while it waited for %s%s%s; nothing was changed",
					signal, *instance ? "the instance '" : "the top instance", instance,
					*instance ? "'" : "");
		if (manner->wait_ns && claim_now_ns() - begin >= manner->wait_ns) {
			refuse(instance, &claim, fail);
			return fail_in(fail, -ETIMEDOUT, "timed out waiting");
		}
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_AGAIN_NS }, NULL);
	}
	return r < 0 ? r : 0;
}

void claim_release(const char *dir, const char *instance, int *fd)
{
	cleanup_free char *path = NULL;

	if (*fd < 0)
		return;
	if (lock_path(dir, instance, &path, NULL))
		cleanup_fd_close(fd);
	else
		lock_file_remove(path, fd);
	*fd = -1;
}
