// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/undo/marker.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/number.h"

int marker_open(const struct instance *instance, bool raw, struct marker *ret, struct fail *fail)
{
	ret->instance = instance;
	return instance_open_file(instance, raw ? "trace_marker_raw" : "trace_marker", O_WRONLY, &ret->fd, fail);
}

bool marker_given(const char *number, struct marker *ret)
{
	uint32_t fd;

	if (!number_u32(&number, &fd) || *number || fd > INT32_MAX || (fcntl((int)fd, F_GETFL) & O_ACCMODE) != O_WRONLY)
		return false;
	ret->fd = fcntl((int)fd, F_DUPFD_CLOEXEC, 0);
	return ret->fd >= 0;
}

void marker_close(struct marker *marker)
{
	cleanup_fd_close(&marker->fd);
	marker->fd = -1;
}

static int refused(const struct marker *marker, int err, struct fail *fail)
{
	const char *name = marker->instance ? marker->instance->name : "";
	const char *place = *name ? name : "the top instance";

	if (err == -EBADF)
		return fail_set(fail, err, "no marker was written: tracing is off in %s%s%s (tracing_on)",
				*name ? "'" : "", place, *name ? "'" : "");
	if (err == -EINVAL)
		return fail_set(fail, err,
				"no marker was written: %s has the trace option nomarkers, or the data is too long",
				place);
	return fail_set(fail, err, "cannot write a marker: %s", strerror(-err));
}

int marker_write(struct marker *marker, const char *text, size_t len, unsigned *ret_pieces, struct fail *fail)
{
	unsigned pieces = 0;

	do {
		ssize_t done = io_again(write(marker->fd, text, len));

		if (done < 0)
			return refused(marker, -errno, fail);
		if (!done && len)
			return refused(marker, -EIO, fail);
		text += done;
		len -= (size_t)done;
		pieces++;
	} while (len);
	*ret_pieces = pieces;
	return 0;
}

int marker_write_raw(struct marker *marker, uint32_t id, const void *data, size_t len, struct fail *fail)
{
	cleanup_free char *whole = NULL;
	ssize_t done;

	if (len > MARKER_RAW_MAX)
		return fail_set(fail, -EMSGSIZE, "%zu bytes are more than one raw marker can be", len);
	whole = malloc(sizeof(id) + len);
	if (!whole)
		return fail_memory(fail);
	memcpy(whole, &id, sizeof(id));
	if (len)
		memcpy(whole + sizeof(id), data, len);
	done = io_again(write(marker->fd, whole, sizeof(id) + len));
	if (done < 0)
		return refused(marker, -errno, fail);
	if ((size_t)done < sizeof(id) + len)
		return fail_set(fail, -EMSGSIZE, "this kernel cut the raw marker to %zd of its %zu bytes",
				done - (ssize_t)sizeof(id), len);
	return 0;
}
