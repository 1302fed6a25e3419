/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_STATE_VCPUS_H
#define WEFT_MEANING_STATE_VCPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct context;
struct event;
struct fail;

/*
 * What the CPUs of a guest did according to the events of its host, in one line of time with the guest's events. A CPU
 * of a guest is a thread of the host (a vCPU): of KVM with the events kvm:kvm_entry and kvm:kvm_exit, between which the
 * guest runs (virt/kvm, arch/x86/kvm/trace.h: the guest runs from kvm_entry to kvm_exit); of an emulator without. Such
 * a thread is known by its kvm_entry, which has the number of the CPU (x86), or by the name that QEMU and libvirt give
 * it: "CPU 0/KVM", "CPU 0/TCG". Memory grows with the changes of these threads.
 *
 * Invariant: each ns of a CPU is in one mode, and the modes of a span add up to it.
 */
enum vcpu_mode {
	VCPU_RAN,    /* in the guest, or emulating it */
	VCPU_WAITED, /* the thread waited for a CPU of the host */
	VCPU_EXIT,   /* the host worked for the guest, or slept while it did: between kvm_exit and kvm_entry */
	VCPU_HALTED, /* the guest had nothing to do there; without kvm events: the thread slept */
	VCPU_UNKNOWN,
	VCPU_MODES,
};

/* VCPU_REASONS: no reason, or one that there are too many others beside. */
enum { VCPU_REASONS = 255 };

struct vcpu_time {
	uint64_t in[VCPU_MODES];
	/* of their sum: so close to a change of mode that it may belong to the other side, as the clocks may err */
	uint64_t unsure;
};

struct vcpus;

struct vcpus_options {
	/* The thread of each CPU, from 0 on; none: they are found. */
	const int32_t *threads;
	size_t nr_threads;
	/* so many ns the times of both machines may be off beside each other; `exact` false: nobody knows */
	uint64_t error_ns;
	bool exact;
};

/* Copies the options. `context`: of the host's buffer; borrowed until vcpus_end(). */
int must_check vcpus_new(const struct vcpus_options *options, const struct context *context, struct vcpus **ret,
			 struct fail *fail);
void vcpus_free(struct vcpus *vcpus);

/* Each event of the host's buffer, in order. `vcpus` is a struct vcpus. */
void vcpus_see(void *vcpus, const struct event *event);
/*
 * After the last one. -ENOENT: no such thread was found; -EEXIST: several are CPU 0 or another one: of several guests.
 * Both messages say what there is.
 */
int must_check vcpus_end(struct vcpus *vcpus, struct fail *fail);

/* A number of CPUs, some of which may be unknown. */
size_t vcpus_count(const struct vcpus *vcpus);
/* The thread of a CPU, and its last name; 0 and "": it is not known. */
int32_t vcpus_thread(const struct vcpus *vcpus, uint32_t cpu);
const char *vcpus_name(const struct vcpus *vcpus, uint32_t cpu);
/* Whether there were kvm events of the threads: else no exits are known. */
bool vcpus_have_exits(const struct vcpus *vcpus);
/* False: nobody knows how exact the times are. */
bool vcpus_error(const struct vcpus *vcpus, uint64_t *ret_ns);

/* Adds what a CPU did between two times. `exits`, by reason up to VCPU_REASONS, gets times of VCPU_EXIT; or NULL. */
void vcpus_time(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to, struct vcpu_time *add,
		uint64_t *exits);
/* What a CPU did at a time: from when on, until when, and in VCPU_EXIT why. The spans of a CPU join. */
struct vcpu_span {
	uint64_t from, to; /* from 0; UINT64_MAX: to the end of time */
	enum vcpu_mode mode;
	unsigned reason;
};
struct vcpu_span vcpus_span(const struct vcpus *vcpus, uint32_t cpu, uint64_t ts);
/* How it is called where time is drawn: "ran", "exit HLT". */
enum { VCPU_SPAN_NAME = 96 };
const char *vcpu_span_name(const struct vcpus *vcpus, const struct vcpu_span *span, char text[VCPU_SPAN_NAME]);
/* The first part of a time that is unsure (vcpu_time::unsure), as a whole; false: there is none. */
bool vcpus_unsure(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to, uint64_t *ret_from,
		  uint64_t *ret_to);
/* "HLT"; "exit 48" for one that the kernel does not name; "" for VCPU_REASONS. */
const char *vcpus_reason(const struct vcpus *vcpus, unsigned reason);

#endif
