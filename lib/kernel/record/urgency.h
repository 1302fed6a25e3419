/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_URGENCY_H
#define WEFT_KERNEL_RECORD_URGENCY_H

/*
 * How much sooner than the workload a thread gets the CPU, in steps of nice. A recorder runs only for a short time, but
 * while it waits for the CPU the buffer fills. What notices a trigger runs for a shorter time still, and may not wait
 * for recorders that compress.
 */
enum { URGENCY_RECORDER = 10, URGENCY_TRIGGER = 15 };

/*
 * Lowers the nice value of this thread, once; threads and processes that it starts from now on have none below 0.
 * Without the privilege it is scheduled like any other thread.
 */
void urgency_raise(int steps);

#endif
