// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/form_write.h"

#include "cmd/form_apart.h"
#include "cmd/form_options.h"
#include "lib/base/destination.h"
#include "lib/base/fail.h"

#include <unistd.h>

static int write_file(const struct form *form, const struct destination *to,
		      int (*write)(void *arg, int fd, struct fail *fail), void *arg, struct fail *fail)
{
	char name[DESTINATION_NAME];
	cleanup_fd int fd = -1;
	int r = destination_create(to, name, &fd, fail);

	if (r)
		return r;
	r = write(arg, fd, fail);
	if (!r)
		r = destination_place(to, to->dir, name, fd, form->mode, false, fail);
	if (r)
		unlinkat(to->dir, name, 0);
	return r;
}

static int write_here(const struct form *form, const char *path, int (*write)(void *arg, int fd, struct fail *fail),
		      void *arg, struct fail *fail)
{
	struct destination to;
	cleanup_fd int fd = -1;
	int r = destination_open(path, &to, fail);

	if (r)
		return r;
	if (to.kind == DESTINATION_FILE) {
		r = write_file(form, &to, write, arg, fail);
	} else {
		if (to.kind == DESTINATION_SPECIAL)
			r = destination_special(&to, &fd, fail);
		if (!r)
			r = write(arg, to.kind == DESTINATION_SPECIAL ? fd : STDOUT_FILENO, fail);
	}
	destination_release(&to);
	return r;
}

static int write_through(struct form_door *door, const char *word, int (*write)(void *arg, int fd, struct fail *fail),
			 void *arg, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int r = form_door_file(door, word, &fd, fail);

	if (!r)
		r = write(arg, fd, fail);
	return r ? r : form_door_name(door, fail);
}

int form_write(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail), void *arg,
	       struct fail *fail)
{
	cleanup_free char *path = NULL;

	if (form->door)
		return write_through(form->door, word, write, arg, fail);
	path = form_path(form, word);
	return path ? write_here(form, path, write, arg, fail) : fail_memory(fail);
}
