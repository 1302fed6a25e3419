/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EXPORT_FOLDER_H
#define WEFT_CMD_EXPORT_FOLDER_H

#include "lib/base/cleanup.h"

struct destination_folder;
struct fail;

/*
 * The pieces of formats/export/folder.h, from a pipe into the files that they are of, until the pipe ends. They come
 * from a process that has read what others wrote: names are those that a folder takes, and nothing else is believed.
 */
int must_check export_folder_fill(const struct destination_folder *folder, int pipe, struct fail *fail);

#endif
