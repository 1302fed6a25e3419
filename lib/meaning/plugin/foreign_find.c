// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/plugin/foreign_internal.h"

static int is_object(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), end = strlen(".so");

	return len > end && !strcmp(entry->d_name + len - end, ".so");
}

void foreign_found_free(char **found, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(found[i]);
	free(found);
}

/* Adds the plugins of one directory by name, so that a later one replaces the handler of an earlier one each time. */
static bool find(const char *dir, char ***found, size_t *nr)
{
	struct dirent **entries = NULL;
	int count = scandir(dir, &entries, is_object, alphasort);
	bool ok = true;

	for (int i = 0; i < count; i++) {
		char **path = ok ? vec_push(*found, *nr) : NULL;

		ok = path && asprintf(path, "%s/%s", dir, entries[i]->d_name) >= 0;
		if (path && !ok)
			(*nr)--;
		free(entries[i]);
	}
	free(entries);
	return ok;
}

bool foreign_find(const struct foreign_options *options, char ***ret, size_t *ret_nr)
{
	char **found = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < options->nr_dirs; i++)
		if (!find(options->dirs[i], &found, &nr)) {
			foreign_found_free(found, nr);
			return false;
		}
	*ret = found;
	*ret_nr = nr;
	return true;
}

bool foreign_any(const struct foreign_options *options)
{
	char **found = NULL;
	size_t nr = 0;
	bool any = foreign_find(options, &found, &nr) && nr;

	foreign_found_free(found, nr);
	return any;
}
