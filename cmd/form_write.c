// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/form_write.h"

#include "cmd/form_apart.h"
#include "cmd/options/form_options.h"
#include "lib/base/destination.h"
#include "lib/base/fail.h"

static int write_here(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail),
		      void *arg, struct fail *fail)
{
	cleanup_free char *path = form_path(form, word);
	struct destination to;
	int r = path ? destination_open(path, &to, fail) : fail_memory(fail);

	if (r)
		return r;
	/* Only the name that the user wrote may name an existing file. */
	r = destination_write(&to, form->mode, *word, write, arg, fail);
	destination_release(&to);
	return r;
}

static int write_through(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail),
			 void *arg, struct fail *fail)
{
	cleanup_free char *path = form_path(form, word);
	cleanup_fd int fd = -1;
	int r = path ? form_door_file(form->door, word, &fd, fail) : fail_memory(fail);

	if (!r)
		r = fail_writing(fail, write(arg, fd, fail), path);
	return r ? r : form_door_name(form->door, fail);
}

int form_write(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail), void *arg,
	       struct fail *fail)
{
	if (form->door)
		return write_through(form, word, write, arg, fail);
	return write_here(form, word, write, arg, fail);
}
