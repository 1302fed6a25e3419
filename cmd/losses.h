/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_LOSSES_H
#define WEFT_CMD_LOSSES_H

/* What the summaries of record and stream tell besides the number of lost events. */

/* Somebody emptied the buffer of instance `name` ("": the only one) so many times; 0: nothing to tell. */
void losses_cleared(const char *name, unsigned times);

/*
 * Probes that made no event of some of their hits (lib/setup/setup_probes.h: setup_probes_missed()); NULL: nothing to
 * tell.
 */
void losses_missed(const char *lines);

#endif
