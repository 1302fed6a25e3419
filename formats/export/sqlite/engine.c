// SPDX-License-Identifier: LGPL-2.1-or-later
#ifdef WEFT_SQLITE
#include "formats/export/sqlite/engine_internal.h"

#include "lib/base/fail.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#ifdef WEFT_STATIC

#define ENGINE_LINKED(name) .name = sqlite3_##name,

int engine_load(struct engine *ret, struct fail *fail)
{
	(void)fail;
	*ret = (struct engine){ ENGINE_FUNCTIONS(ENGINE_LINKED) };
	return 0;
}

#else

/* The name of the interface of SQLite 3, which has not changed since 2004. */
#define LIBRARY "libsqlite3.so.0"

#define ENGINE_NAME(name) "sqlite3_" #name,

int engine_load(struct engine *ret, struct fail *fail)
{
	static const char *const names[] = { ENGINE_FUNCTIONS(ENGINE_NAME) };
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *found[array_size(names)];

	_Static_assert(sizeof(*ret) == sizeof(found), "the members are the functions, in their order");
	if (!library)
		return fail_set(fail, -ENOENT, "%s: install libsqlite3-0 (Debian) or sqlite-libs (Fedora)", dlerror());
	for (size_t i = 0; i < array_size(names); i++) {
		found[i] = dlsym(library, names[i]);
		if (!found[i])
			return fail_set(fail, -ENOENT, LIBRARY " is too old: it has no %s()", names[i]);
	}
	memcpy(ret, found, sizeof(*ret));
	return 0;
}

#endif
#endif
