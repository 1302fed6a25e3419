// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/door.h"

#include <errno.h>
#include <linux/vm_sockets.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

static const char unix_door[] = "unix:", vsock_door[] = "vsock:";

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

bool door_is(const char *name)
{
	return begins(name, unix_door) || begins(name, vsock_door);
}

union address {
	struct sockaddr any;
	struct sockaddr_un path;
	struct sockaddr_vm vm;
};

static int parse_unix(const char *path, union address *ret, socklen_t *ret_len, struct fail *fail)
{
	if (!*path || strlen(path) >= sizeof(ret->path.sun_path))
		return fail_set(fail, -EINVAL, "'%s' is no path of a socket", path);
	ret->path.sun_family = AF_UNIX;
	memcpy(ret->path.sun_path, path, strlen(path) + 1);
	*ret_len = sizeof(ret->path);
	return 0;
}

static int parse_vsock(const char *text, union address *ret, socklen_t *ret_len, struct fail *fail)
{
	const char *colon = strchr(text, ':');
	char cid[16] = "";
	uint64_t id, port;

	if (!colon || (size_t)(colon - text) >= sizeof(cid))
		return fail_set(fail, -EINVAL, "'%s' is not CID:PORT of a guest", text);
	memcpy(cid, text, (size_t)(colon - text));
	if (text_parse_range(cid, 0, UINT32_MAX - 1, &id, fail) ||
	    text_parse_range(colon + 1, 0, UINT32_MAX - 1, &port, fail))
		return -EINVAL;
	ret->vm.svm_family = AF_VSOCK;
	ret->vm.svm_cid = (unsigned)id;
	ret->vm.svm_port = (unsigned)port;
	*ret_len = sizeof(ret->vm);
	return 0;
}

int door_open(const char *name, int *ret_fd, struct fail *fail)
{
	bool is_unix = begins(name, unix_door);
	union address address;
	cleanup_fd int fd = -1;
	socklen_t len;
	int err;

	memset(&address, 0, sizeof(address));
	err = is_unix ? parse_unix(name + strlen(unix_door), &address, &len, fail) :
			parse_vsock(name + strlen(vsock_door), &address, &len, fail);
	if (err)
		return err;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, &address.any, len))
		return fail_set(fail, -errno, "cannot connect to it: %s", strerror(errno));
	*ret_fd = fd_take(&fd);
	return 0;
}
