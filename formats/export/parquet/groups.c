// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/parquet/groups_internal.h"

#include "formats/export/parquet/writer_internal.h"

int parquet_groups_init(struct parquet_groups *groups, struct pool *pool, struct fail *fail)
{
	unsigned threads = pool_threads(pool);
	int r = 0;

	*groups = (struct parquet_groups){ .pool = threads ? pool : NULL };
	groups->nr = threads > 1 ? PARQUET_GROUPS_MAX : threads + 1;
	for (unsigned i = 0; !r && i < groups->nr; i++)
		r = parquet_writer_new(&groups->at[i].writer, fail);
	return r;
}

void parquet_groups_release(struct parquet_groups *groups)
{
	for (unsigned i = 0; i < groups->nr; i++) {
		struct parquet_group *group = &groups->at[i];

		if (group->file) {
			pool_wait(groups->pool, &group->job);
			parquet_group_drop(group);
		}
		parquet_writer_free(group->writer);
	}
}

static void put_first(struct parquet_groups *groups, struct out *folder)
{
	struct parquet_group *group = &groups->at[groups->first];
	const struct parquet_writer *writer = group->writer;

	if (groups->pool)
		pool_wait(groups->pool, &group->job);
	if (writer->error && !groups->error) {
		groups->error = writer->error;
		groups->failure = writer->failure;
	}
	parquet_group_put(group, folder);
	groups->first = (groups->first + 1) % groups->nr;
	groups->begun--;
}

void parquet_groups_begin(struct parquet_groups *groups, struct parquet_file *file, struct out *folder)
{
	struct parquet_group *group;

	if (groups->begun == groups->nr)
		put_first(groups, folder);
	group = &groups->at[(groups->first + groups->begun) % groups->nr];
	if (!parquet_group_take(group, file))
		return;
	groups->begun++;
	if (groups->pool) {
		pool_submit_first(groups->pool, &group->job);
		return;
	}
	group->job.run(&group->job);
	put_first(groups, folder);
}

void parquet_groups_end(struct parquet_groups *groups, struct out *folder)
{
	while (groups->begun)
		put_first(groups, folder);
}
