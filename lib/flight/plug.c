// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/plug_internal.h"

#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/cleanup.h"

enum { GROUP_KERNEL = 1, UEVENT_MAX = 4096 };

int plug_open(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = GROUP_KERNEL };
	cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return -1;
	return fd_take(&fd);
}

bool plug_look(int fd)
{
	/* kobject_uevent_env() of the kernel: "ACTION@PATH", and then strings */
	static const char online[] = "online@/devices/system/cpu/";
	char text[UEVENT_MAX + 1];
	bool found = false;
	ssize_t len;

	while ((len = recv(fd, text, UEVENT_MAX, 0)) > 0) {
		text[len] = '\0';
		found |= !strncmp(text, online, sizeof(online) - 1);
	}
	return found;
}
