/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_STATE_CAUSES_H
#define WEFT_MEANING_STATE_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/softirqs.h"

/*
 * Whose work is done in an interrupt or a softirq. common_pid is then a bystander: the task that was interrupted. What
 * acts is the cause of the interrupt's work: the disk's request that was completed, the task that sent the packet, set
 * the timer, raised the softirq or sent the interrupt to this CPU. The causes follow from where each CPU is, by the
 * events that enter and leave interrupts, and from who began what they complete. Nothing is guessed: without the events
 * that tell, a cause is the name of the interrupt, or nothing.
 * Memory is bounded: what never ends is forgotten, and so are old causes.
 */
enum cause_kind {
	CAUSE_UNKNOWN,
	CAUSE_WORK,      /* a work item; the task `then` is its worker */
	CAUSE_REQUEST,   /* a disk's request was completed */
	CAUSE_PACKET,    /* a packet was received */
	CAUSE_TIMER,     /* a timer expired */
	CAUSE_SOFTIRQ,   /* a softirq, of which only is known who raised it */
	CAUSE_IPI,       /* an interrupt that another CPU sent */
	CAUSE_INTERRUPT, /* an interrupt or softirq, of which only the name is known */
};

/* Who did something, and when. */
struct cause_act {
	uint64_t at;    /* 0: not known */
	int32_t pid;    /* of the task; 0: none, or not known */
	uint32_t cause; /* if it was done in an interrupt: the number of its cause; 0: not known */
};

struct cause {
	struct cause_act by;   /* who queued, sent, set or raised it */
	struct cause_act then; /* WORK: who executes it, and since when. REQUEST: who issued it */
	uint64_t due;          /* REQUEST: when the device was done. TIMER: when it was due. 0: not known */
	uint64_t raised;       /* with `thread`: when the softirq was raised; 0: not known */
	int32_t thread;        /* the task in which the softirq runs: ksoftirqd, or any on PREEMPT_RT; 0: none */
	uint32_t name;         /* of the interrupt, of the timer's function: causes_name() */
	uint32_t device;       /* REQUEST: the kernel's dev_t */
	char rwbs[8];          /* REQUEST */
	uint8_t kind;          /* enum cause_kind */
	uint8_t vec;           /* SOFTIRQ; UINT8_MAX: in none */
	bool own;              /* TIMER: its function wakes the task that set it, and does nothing else */
	bool flush;            /* REQUEST: to write out what the disk has cached */
};

/* Who woke a task, as tables show it. */
struct waker {
	int32_t pid;   /* the task that did it, or for which an interrupt did; 0: none, or not known; -1: nobody did */
	uint32_t name; /* without a task: causes_name(); 0: nothing is known of the interrupt */
};
#define WAKER_NONE        \
	{                 \
		.pid = -1 \
	}

enum { CAUSES_MAX = 1 << 16, CAUSES_NESTED = 8, CAUSES_OPEN_MAX = 1 << 16 };

/* An interrupt, softirq or timer that a CPU is in. */
struct cause_frame {
	uint64_t key;    /* of a timer: its address */
	uint32_t name;   /* of the interrupt or softirq */
	uint32_t number; /* of the cause among those that are kept; 0: it is not yet one of them */
	uint8_t kind;    /* private to causes.c */
	bool hard;       /* in a hard interrupt */
	struct cause cause;
};

struct cause_frames {
	struct cause_frame at[CAUSES_NESTED];
	unsigned nr;
};

struct causes {
	struct labels names;
	struct cause *kept; /* by (number - 1) % cap */
	size_t room, cap;
	uint32_t nr; /* number of the last one */
	struct causes_cpu {
		struct cause_frames frames;
		struct cause_act raised[SOFTIRQS]; /* since its softirq began last; `at` 0: it was not */
		struct cause_act sent;             /* the last interrupt that another CPU sent to it */
	} * cpus;
	size_t nr_cpus;
	struct cause_places {
		struct place id, value, name, other;
	} * places;                  /* by role */
	uint32_t softirqs[SOFTIRQS]; /* their names; 0: not yet looked up */
	struct u64_map types;        /* of entries of interrupts, by buffer and type: struct cause_type */
	struct u64_map functions;    /* by address and buffer: struct cause_function */
	/* What is open, by address: struct cause_timer, cause_act of packets and of work items that wait. */
	struct u64_map timers, packets, works;
	struct u64_map bios;     /* by major number and sector: struct cause_act */
	struct u64_map requests; /* by device and sector: struct cause_request */
	struct u64_map working;  /* by PID: struct cause_work, the item that it executes */
	struct u64_map handlers; /* by PID of a thread that handles an interrupt: struct cause_handler */
	struct u64_map away;     /* PREEMPT_RT, by PID: struct cause_frames of a softirq that lost its CPU */
	struct cause_disk {
		const struct context *context;
		uint32_t device, name; /* 0: of none */
	} disk;                        /* the last one that was named */
	struct cause done;  /* the request that the last block_rq_complete ended; by.at 0: nothing tells of it */
	uint64_t forgotten; /* what was open for too long */
	bool preempt_rt, failed;
};

void causes_init(struct causes *causes, bool preempt_rt);
void causes_release(struct causes *causes);

/* NULL: 0, or it is forgotten. Valid until the next event. */
const struct cause *causes_get(const struct causes *causes, uint32_t number);
/* The name with a number that a cause or a waker has: "softirq:RCU"; "" for 0. */
const char *causes_name(const struct causes *causes, uint32_t name);
/* The name of an interrupt of this cause: "irq:virtio0-req.0", "softirq:RCU", "timer:tcp_delack_timer". */
uint32_t causes_name_of(struct causes *causes, const struct cause *cause);

/* How many interrupts and softirqs a CPU is in, as far as the events tell, and the name of the innermost. */
uint32_t causes_where(const struct causes *causes, uint32_t cpu, uint32_t *ret_name);

/*
 * The task that set the timer, sent the interrupt or raised the softirq, or for which an interrupt did; without a task
 * the innermost interrupt.
 */
struct waker causes_actor(struct causes *causes, const struct cause *cause);
/* The number of the cause of what happens at this event; 0: it is the task's own act, or nothing is known. */
uint32_t causes_now(struct causes *causes, const struct event *event, int32_t thread);

/* The rest is for lib/meaning/state. `thread`: the task in which softirqs run at this event; 0: they interrupt one. */

/* Call it with the first event of each type that has such a role. */
void causes_bind(struct causes *causes, const struct event *event, uint8_t role);
void causes_see(struct causes *causes, const struct event *event, uint8_t role, int32_t thread);
/* causes_now() of the wakeup of the thread that runs softirqs: the softirq that waits on this CPU. */
uint32_t causes_of_thread(struct causes *causes, const struct event *event);
/* Who woke the task `pid`. */
struct waker causes_waker(struct causes *causes, const struct event *event, uint32_t number, int32_t pid);
/* An interrupt wakes the thread `pid` that handles it. */
void causes_wake_handler(struct causes *causes, const struct event *event, int32_t pid);
/* Another task has the CPU. */
void causes_switch(struct causes *causes, const struct event *event, int32_t prev, int32_t next);
/* Events of a CPU were lost. */
void causes_lose(struct causes *causes, uint32_t cpu);

#endif
