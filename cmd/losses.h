/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_LOSSES_H
#define WEFT_CMD_LOSSES_H

/* What the summaries of record and stream report besides the number of lost events. */

/* Somebody emptied the buffer of instance `name` this many times. "": the only instance. 0: prints nothing. */
void losses_cleared(const char *name, unsigned times);

/* Some hits of probes made no event (setup_probes_missed() of lib/setup/setup_probes.h). NULL: prints nothing. */
void losses_missed(const char *lines);

#endif
