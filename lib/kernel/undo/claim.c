// SPDX-License-Identifier: LGPL-2.1-or-later
/* A claim as text: of this process, and read. */
#include "lib/kernel/undo/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/number.h"
#include "lib/kernel/tracefs/tracing.h"

uint64_t claim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The command line of this process. The program's name is without its directory. */
static void own_command(char *into, size_t size)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *words, *slash;
	size_t len;

	if (tracing_read_path("/proc/self/cmdline", &buf, NULL) || !buf.len) {
		snprintf(into, size, "weft");
		return;
	}
	words = buf_str(&buf);
	slash = strrchr(words, '/');
	words = slash ? slash + 1 : words;
	len = (size_t)(buf.data + buf.len - words);
	len = len < size ? len : size;
	for (size_t i = 0; i + 1 < len; i++)
		into[i] = (unsigned char)words[i] < ' ' || words[i] == 127 ? ' ' : words[i];
	into[len - 1] = '\0';
}

/*
 * Finds the login of this process as the kernel's audit knows it (sudo does not change it), or the session if audit
 * knows no login. False: the leader of the session has ended, so no other process can be shown to belong to the same
 * session.
 */
static bool find_session(struct process_id *ret)
{
	cleanup_buf struct buf buf = BUF_INIT;
	uint64_t login = UINT32_MAX;

	if (!tracing_read_path("/proc/self/sessionid", &buf, NULL) && buf.len)
		login = number_of(buf_str(&buf), UINT32_MAX);
	if (login < INT32_MAX) {
		*ret = (struct process_id){ .pid = (pid_t)login, .start = UINT64_MAX };
		return true;
	}
	/* getsid() is 0 for processes that the first process of a PID namespace has started. */
	*ret = (struct process_id){ .pid = getsid(0) };
	return !ret->pid || process_find(ret->pid, ret);
}

bool claim_print(struct buf *buf)
{
	struct claim claim = { .owner = process_self(), .boot_ns = claim_now_ns() };

	if (!find_session(&claim.session))
		claim.session = claim.owner;
	own_command(claim.command, sizeof(claim.command));
	return buf_addf(buf, "%d %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %s", (int)claim.owner.pid, claim.owner.start,
			(int)claim.session.pid, claim.session.start, claim.boot_ns, claim.command);
}

bool claim_parse(const char *text, struct claim *ret)
{
	struct claim claim = { .held = false };
	int at = 0;

	if (sscanf(text, "%d %" SCNu64 " %d %" SCNu64 " %" SCNu64 " %n", &claim.owner.pid, &claim.owner.start,
		   &claim.session.pid, &claim.session.start, &claim.boot_ns, &at) != 5)
		return false;
	snprintf(claim.command, sizeof(claim.command), "%.*s", (int)strcspn(text + at, "\n"), text + at);
	*ret = claim;
	return true;
}

bool claim_is_ours(const struct claim *claim)
{
	struct process_id session;

	return find_session(&session) && session.pid == claim->session.pid && session.start == claim->session.start;
}
