/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_POWER_INTERNAL_H
#define WEFT_ANALYSIS_POWER_INTERNAL_H

#include "lib/analysis/extreme_internal.h"
#include "lib/analysis/pass.h"
#include "lib/analysis/power.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/follow/roles.h"

/* What the analysis `power` knows, between power.c, which follows the events, and power_tables.c. */
enum { POWER_ROLES = 10, POWER_SOURCE = 48 };

struct power_cpu {
	uint64_t since; /* when the CPU entered its idle state */
	uint32_t state;
	bool idle, seen, lost;     /* lost: events were lost; the CPU may have become idle in the gap */
	bool waking;               /* the CPU left an idle state; what woke it is not known yet */
	char source[POWER_SOURCE]; /* what first hit the CPU in its idle state; "": nothing did */
	uint64_t exits, idled, too_deep, too_shallow;
	uint64_t khz_since;
	uint32_t khz;  /* 0: unknown */
	uint32_t task; /* the state's index + 1 of the task whose time was weighed there last; 0: none */
	uint64_t samples, sampled, sampled_min, sampled_max; /* from pstate_sample, in kHz */
};

struct power_state {
	struct samples lasted;
	struct extreme longest;
};

struct power_frequency {
	uint64_t times, lasted;
	struct samples stays; /* only for a comparison; so are those below */
};

struct power_waker {
	uint64_t wakeups;
	struct samples each; /* samples of length 0: they only count */
	uint32_t cpu;
	char source[POWER_SOURCE];
};

struct power_action {
	uint64_t since, times, total;
	bool open;
	struct extreme longest;
	struct samples each;
};

/*
 * How many cycles a task's CPUs made while it ran, at the frequencies that cpu_frequency tells.
 */
struct power_task {
	uint64_t known, unknown;     /* its run time at known frequencies, and at others */
	uint64_t cycles, millionths; /* of the known time; millionths of a cycle */
	uint32_t khz;                /* of the time that was weighed last; 0: unknown */
	uint64_t before;             /* the cycles when its present run began */
	/* The run times then, and the parts of all three sums in runs that a selection by name leaves out. */
	uint64_t known_before, unknown_before;
	uint64_t known_out, unknown_out, cycles_out;
	struct samples runs; /* only for a comparison */
};

struct power_analysis {
	struct pass *pass;
	struct power_options options;
	struct roles roles;
	struct power_places {
		struct place cpu, value, other;
	} places[POWER_ROLES];      /* by role */
	struct u64_map cpus;        /* by number */
	struct u64_map states;      /* by CPU << 32 | state */
	struct u64_map frequencies; /* by CPU << 32 | kHz */
	struct u64_map wakers;      /* by CPU and name */
	struct u64_map actions;     /* of suspend_resume, by the address of the action's name */
	struct power_task *tasks;   /* by the state's index */
	size_t nr_tasks;
	uint64_t seen, cut, broken, unknown; /* unknown: wakeups whose cause no event names */
};

/* Adds the time up to now to the CPU's present frequency. */
void power_settle(struct power_analysis *power, struct power_cpu *cpu, uint32_t number, uint64_t now);
/* Weighs what the CPU's task has run up to now with the CPU's present frequency. Call it before that changes. */
void power_weigh(struct power_analysis *power, struct power_cpu *cpu, uint32_t number);
void power_see_switch(struct power_analysis *power, const struct event *event);
/* Adds the table of tasks. Returns -EPROTO if its sums are wrong: that is a bug in weft. */
int must_check power_put_tasks(struct power_analysis *power, struct findings *findings, struct fail *fail);
int must_check power_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
