/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_FACTS_H
#define WEFT_RECORD_FACTS_H

#include "lib/base/cleanup.h"
#include "lib/record/target.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct ledger;
struct record_cpu;
struct tracing;

/*
 * What the kernel knows that the file must know, put into the recording's metadata: most of it once the targets are set up,
 * so that a killed recording can be read; what changes meanwhile again later: facts_of_buffers() when tracing has stopped,
 * before the stopped buffers are read (that changes their counts) and before any setting is put back;
 * facts_of_kernel() any time after that. `mode` is weft/mode of weft-dat(5): "record" or "extract".
 */
int must_check facts_at_start(struct ledger *ledger, const char *mode, const struct tracing *tracing,
			      const struct target *targets, size_t nr, bool all_formats, struct fail *fail);
int must_check facts_of_buffers(struct ledger *ledger, struct target *targets, size_t nr, struct fail *fail);

/* The PIDs of our own threads that run while it is traced, with blanks between them. */
int must_check facts_of_self(struct ledger *ledger, const char *pids, struct fail *fail);
int must_check facts_of_kernel(struct ledger *ledger, const struct tracing *tracing, struct fail *fail);

/*
 * The beginning of `file` (trace, snapshot) as the option latency-format prints it: from it and the pages the reader learns
 * when the buffer was reset, which no file tells. Only of a buffer that stands still; the option is put back at once, and
 * without `flip` it must be on already.
 */
int must_check facts_latency_sample(struct ledger *ledger, const struct target *target, const char *file, bool flip,
				    struct fail *fail);

/*
 * Texts that only the kernel can make (lib/tracefs/texts.h: enum texts), and in any case the histograms of the triggers that
 * the targets were asked for: when tracing has stopped, before any setting is put back.
 */
int must_check facts_of_texts(struct ledger *ledger, const struct tracing *tracing, const struct target *targets,
			      size_t nr, unsigned texts, struct fail *fail);

/* "" where it cannot be told: then nothing is the same boot. */
enum { BOOT_ID = 40 };
const char *facts_boot_id(char into[BOOT_ID]);

/* Also used for the instance of a dead recorder. */
int must_check facts_stats(struct ledger *ledger, const struct instance *instance, uint32_t buffer, uint32_t cpu,
			   struct fail *fail);

/*
 * Events that were taken from the kernel's buffer and then dropped for a maximal size are, to whoever reads the file,
 * overwritten ones: the CPU's stats say so. And where somebody cleared the buffer, they count what is in the file. Else it does
 * nothing.
 */
int must_check facts_dropped(struct ledger *ledger, const struct record_cpu *cpu, struct fail *fail);

#endif
