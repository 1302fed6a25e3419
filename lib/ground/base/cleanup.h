/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_CLEANUP_H
#define WEFT_GROUND_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Resources that release themselves at the end of their scope. fd_take() and take() move them out on success. */

static inline void cleanup_fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_memory_free(void *memory)
{
	free(*(void **)memory);
}

static inline void cleanup_stdio_close(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define cleanup_fd __attribute__((cleanup(cleanup_fd_close)))
#define cleanup_free __attribute__((cleanup(cleanup_memory_free)))
#define cleanup_file __attribute__((cleanup(cleanup_stdio_close)))

static inline int fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Moves a pointer out of a cleanup variable. */
#define take(pointer)                                   \
	({                                              \
		__typeof__(pointer) taken_ = (pointer); \
		(pointer) = NULL;                       \
		taken_;                                 \
	})

#define must_check __attribute__((warn_unused_result))

#define array_size(array) (sizeof(array) / sizeof((array)[0]))

#endif
