/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EXPORT_FOLDER_H
#define WEFT_CMD_EXPORT_FOLDER_H

#include "lib/base/cleanup.h"

struct destination_folder;
struct fail;

/*
 * Reads the pieces of formats/export/folder.h from a pipe and writes each into its file, until the pipe ends. The
 * pieces come from a process that has read what strangers wrote, so nothing in them is trusted: a name must be one that
 * a folder accepts.
 */
int must_check export_folder_fill(const struct destination_folder *folder, int pipe, struct fail *fail);

#endif
