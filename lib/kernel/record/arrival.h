/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_ARRIVAL_H
#define WEFT_KERNEL_RECORD_ARRIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct ledger_item;
struct parts_file;
struct ping;

/*
 * The parts (parts.h) of a recording that another machine makes, filled with what arrives from it: `weft recover` makes
 * a file of them at any moment. Every byte may be hostile. Metadata is taken apart and added item by item; what says
 * where things are on a machine is left out or made here, and pages are stored unread. recovery_run() reads them in a
 * sandbox.
 */
struct arrival;

struct arrival_options {
	const char *output, *temp_dir; /* as of record_options */
	const char *host;              /* the machine; not empty */
};

int must_check arrival_new(const struct arrival_options *options, struct arrival **ret, struct fail *fail);
/* The parts stay. */
void arrival_free(struct arrival *arrival);
const char *arrival_path(const struct arrival *arrival);
/* Before anything arrives: whether that machine has another byte order than this one. */
void arrival_swaps(struct arrival *arrival, bool swap);
/* Whether enough has arrived for recovery_run() to make a file of it. */
bool arrival_has_begun(const struct arrival *arrival);
/* Removes the parts. */
int must_check arrival_remove(struct arrival *arrival, struct fail *fail);

/* The next bytes of the metadata. -EBADMSG: they are damaged. */
int must_check arrival_meta(struct arrival *arrival, const void *data, size_t len, struct fail *fail);
/*
 * The same of an item that was taken apart already, and in the place of the one about the file: what this side knows of
 * it.
 */
int must_check arrival_item(struct arrival *arrival, const struct ledger_item *item, struct fail *fail);
int must_check arrival_describe(struct arrival *arrival, const struct parts_file *file, struct fail *fail);
/* Pages of this CPU of a buffer will arrive, under a number of the sender's: those that were used before count on. */
int must_check arrival_stream(struct arrival *arrival, uint32_t stream, uint32_t buffer, uint32_t cpu,
			      struct fail *fail);
int must_check arrival_pages(struct arrival *arrival, uint32_t stream, const void *data, size_t len, struct fail *fail);

/* Adds what a ping has told of the recording's clock. */
int must_check arrival_ping(struct arrival *arrival, const struct ping *ping, struct fail *fail);

#endif
