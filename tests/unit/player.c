// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/player.h"

#include <string.h>

#include "lib/pages/stream/file_source.h"
#include "lib/pages/stream/source.h"

static int play(void *arg, size_t cpu, void *into, struct fail *fail)
{
	struct player *player = arg;
	size_t size = player->file->shape.size;
	struct block *block = player->block[cpu];

	/* The CPUs do not advance in step. */
	if (player->silent[cpu]++ < player->stutter + cpu)
		return 0;
	player->silent[cpu] = 0;
	if (block && player->at[cpu] == block->len) {
		source_release(player->file, block);
		block = NULL;
	}
	if (!block) {
		player->at[cpu] = 0;
		if (player->ended[cpu] || player->file->ops->next(player->file, cpu, &block, fail) <= 0) {
			player->left -= !player->ended[cpu];
			player->ended[cpu] = true;
			player->block[cpu] = NULL;
			return 0;
		}
	}
	player->block[cpu] = block;
	memcpy(into, block->data + player->at[cpu], size);
	player->at[cpu] += size;
	return 1;
}

bool player_new(struct player *player, struct trace *trace, unsigned stutter, size_t queue_max,
		struct live_times *times, struct source **ret)
{
	struct live_source_options options = { .feed = { .read = play, .arg = player },
					       .queue_max = queue_max,
					       .times = times };

	*player = (struct player){ .stutter = stutter };
	if (file_source_new(trace, 0, NULL, &player->file, NULL) || player->file->nr_cpus > PLAYER_CPUS)
		return false;
	player->left = options.nr_cpus = player->file->nr_cpus;
	options.shape = player->file->shape;
	options.cpus = player->file->cpus;
	return !live_source_new(&options, ret, NULL);
}

void player_release(struct player *player)
{
	for (size_t cpu = 0; cpu < PLAYER_CPUS; cpu++)
		if (player->block[cpu])
			source_release(player->file, player->block[cpu]);
	source_free(player->file);
}
