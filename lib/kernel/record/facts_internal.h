/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_FACTS_INTERNAL_H
#define WEFT_KERNEL_RECORD_FACTS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/record/target.h"

struct fail;
struct ledger;
struct rig;
struct task_scan_command;
struct tracing;

/*
 * Saves in the ledger the facts about the kernel that the file must contain. Most facts are saved when the targets are
 * set up, so that the recording can be read even after a kill. Facts that change are saved again: facts_of_buffers()
 * after tracing has stopped, before the buffers are read (which changes their counters) and before settings are
 * restored; facts_of_kernel() any time after that. `mode` is weft/mode of weft-dat(5): "record" or "extract".
 */
int must_check facts_at_start(struct ledger *ledger, const char *mode, const struct tracing *tracing,
			      const struct target *targets, size_t nr, bool all_formats, struct fail *fail);
int must_check facts_of_buffers(struct ledger *ledger, struct target *targets, size_t nr, struct fail *fail);

/*
 * Names weft's own threads that run while tracing is on, so that readers of the file can leave out their events: the
 * process, its recorders, and `more` unless that is 0; with the kernel's PIDs. Where these cannot be known, it names
 * none: a PID of another namespace would name another task.
 */
int must_check facts_of_self(struct ledger *ledger, const struct rig *rig, pid_t more, struct fail *fail);

/* Saves which files all processes have open (lib/kernel/tracefs/open_files.h), and what is mounted where. */
int must_check facts_of_files(struct ledger *ledger, struct fail *fail);

/*
 * Saves which tasks and control groups there are (lib/kernel/tracefs/task_scan.h): before tracing begins, or `at_end`.
 * `command` may be NULL.
 */
int must_check facts_of_tasks(struct ledger *ledger, const struct task_scan_command *command, bool at_end,
			      struct fail *fail);
/* Saves what quotas and a hypervisor withheld so far (lib/kernel/tracefs/withheld_scan.h): then, or `at_end`. */
int must_check facts_of_withheld(struct ledger *ledger, bool at_end, struct fail *fail);
int must_check facts_of_kernel(struct ledger *ledger, const struct tracing *tracing, struct fail *fail);

/*
 * Saves the beginning of `file` (trace or snapshot) as the option latency-format prints it. From this text and the
 * pages a reader computes when the buffer was reset; no file has that time. Of a buffer that is being written a little
 * is read, and nothing if the kernel would stop tracing meanwhile. With `flip` the option is set and then restored at
 * once; without `flip` it must be set already.
 */
int must_check facts_latency_sample(struct ledger *ledger, const struct target *target, const char *file, bool flip,
				    struct fail *fail);

/*
 * Saves texts that only the kernel can make (enum texts of lib/kernel/tracefs/texts.h), and always the histograms of
 * the triggers that the setup asked for. Call it after tracing has stopped and before settings are restored.
 */
int must_check facts_of_texts(struct ledger *ledger, const struct tracing *tracing, const struct target *targets,
			      size_t nr, unsigned texts, struct fail *fail);

/* The id of this boot. "": unknown; it never equals the id of another boot. */
enum { BOOT_ID = 40 };
const char *facts_boot_id(char into[BOOT_ID]);

#endif
