// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/service_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"

enum { PATIENCE_MS = 200 };

int notify_open(const char *path, uint64_t watchdog_ns, struct notify *ret, struct fail *fail)
{
	struct notify notify = { .fd = -1, .address.sun_family = AF_UNIX, .every_ns = watchdog_ns / 2 };
	const struct timeval patience = { .tv_usec = PATIENCE_MS * 1000 };
	size_t len = path ? strlen(path) : 0;

	if (!path) {
		*ret = notify;
		return 0;
	}
	if ((*path != '/' && *path != '@') || len < 2 || len >= sizeof(notify.address.sun_path))
		return fail_set(fail, -EINVAL, "NOTIFY_SOCKET: '%s' is no path of a socket", path);
	memcpy(notify.address.sun_path, path, len);
	if (*path == '@')
		notify.address.sun_path[0] = '\0';
	/* A name of the abstract namespace is as long as it is said to be. */
	notify.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (*path == '/'));
	notify.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (notify.fd < 0)
		return fail_set(fail, -errno, "cannot make a socket: %s", strerror(errno));
	(void)!setsockopt(notify.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	*ret = notify;
	return 0;
}

void notify_close(struct notify *notify)
{
	cleanup_fd_close(&notify->fd);
	notify->fd = -1;
}

void notify_say(struct notify *notify, const char *text)
{
	if (notify->fd >= 0)
		(void)!sendto(notify->fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&notify->address,
			      notify->len);
}

void notify_status(struct notify *notify, const char *format, ...)
{
	char text[512] = "STATUS=";
	size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, sizeof(text) - len, format, args);
	va_end(args);
	notify_say(notify, text);
}

void notify_reloading(struct notify *notify)
{
	char text[64];

	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_ns() / 1000);
	notify_say(notify, text);
}

int notify_alive(struct notify *notify, int most)
{
	uint64_t now = now_ns(), left;

	if (notify->fd < 0 || !notify->every_ns)
		return most;
	if (now - notify->alive_ns >= notify->every_ns) {
		notify_say(notify, "WATCHDOG=1");
		notify->alive_ns = now;
	}
	left = (notify->every_ns - (now - notify->alive_ns)) / 1000000 + 1;
	return left < (uint64_t)most ? (int)left : most;
}
