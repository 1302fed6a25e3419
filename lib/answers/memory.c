// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/reader/reader.h"

enum memory_stall_kind { STALL_RECLAIM, STALL_MEMCG, STALL_NODE, STALL_COMPACTION, MEMORY_STALLS };

enum { MEMORY_ROLES = 16, MEMORY_NAMES = 4, MEMORY_ORDERS = 16, MEMORY_VICTIMS = 8 };

/* Rows; the options of memory_analysis are struct row_options. From MEMORY_BY_WHO on enum who_part, in its order. */
enum memory_by { MEMORY_BY_CALLER, MEMORY_BY_WHO };

/* A place in the kernel that allocates, identified by the function that calls the allocator; or whom the task is of. */
struct memory_site {
	uint64_t allocations, asked, given, freed, failed;
	uint64_t moved;                      /* freed on a CPU other than the one that allocated it */
	uint64_t alive, alive_bytes, oldest; /* counted at the end */
};

struct memory_alive {
	uint64_t at, bytes, site;
	uint32_t cpu;
	bool others; /* of a task or CPU that was not selected */
};

struct memory_open {
	uint64_t since, losses;
	uint64_t paid; /* what earlier intervals have of it */
	uint32_t cpu;
	bool open;
};

struct memory_stall {
	struct samples lasted;
	uint64_t total;
	uint64_t reclaimed; /* in pages */
	struct extreme longest;
};

struct memory_faults {
	uint64_t user, kernel;
	struct samples times; /* samples of length 0: they only count; only for a comparison */
};

struct memory_analysis {
	struct pass *pass;
	enum memory_by by;
	enum who_part part; /* of MEMORY_BY_WHO; then keys have whom tasks belong to instead of tasks and functions */
	struct roles roles;
	struct memory_places {
		struct place site, address, asked, given, order;
	} places[MEMORY_ROLES][MEMORY_NAMES]; /* by role, then by the event of the role */
	struct u64_map sites;                 /* by address of the function, or pass_group() */
	struct u64_map functions;             /* by address: the address of its function */
	struct u64_map alive;                 /* by address */
	struct u64_map open, stalls;          /* by kind and task; stalls or pass_group() */
	struct u64_map faults;                /* by task or pass_group() */
	uint64_t pages[MEMORY_ORDERS], pages_freed[MEMORY_ORDERS];
	struct {
		uint64_t at;
		int32_t pid;
	} victims[MEMORY_VICTIMS];
	uint64_t nr_victims;
	uint64_t others; /* how many of those alive are others' */
	uint64_t seen, cut, broken, older, doubtful, unseen, forgotten;
};

#define SITE_COLUMNS(X)                                                                    \
	X("CALLER", TEXT, NULL, SAME, put_subject, memory, key)                            \
	X("ALLOCS", COUNT, NULL, ADDS, table_cell_u64, site->allocations)                  \
	X("ASKED", SIZE, NULL, ADDS | SPARE, table_cell_u64, site->asked)                  \
	X("GIVEN", SIZE, NULL, ADDS, table_cell_u64, site->given)                          \
	X("FREED", COUNT, NULL, ADDS, table_cell_u64, site->freed)                         \
	X("ALIVE", COUNT, NULL, 0, table_cell_u64, site->alive)                            \
	X("ALIVE BYTES", SIZE, "alive_bytes", 0, table_cell_u64, site->alive_bytes)        \
	X("OLDEST", TIME, "oldest_age_ns", 0, table_cell_known, site->alive, site->oldest) \
	X("MOVED", COUNT, "freed_on_other_cpu", ADDS | SPARE, table_cell_u64, site->moved) \
	X("FAILED", COUNT, NULL, ADDS | SPARE, table_cell_u64, site->failed)

static const struct table_column site_columns[] = COLUMNS(SITE_COLUMNS);

#define FREES "kmem:kfree,kmem:kmem_cache_free"

static const struct pass_unseen site_unseen[] = {
	{ "freed", FREES },
	{ "alive", FREES },
	{ "alive_bytes", FREES },
	{ "oldest_age_ns", FREES },
	{ "freed_on_other_cpu", FREES },
};

/* Whom the key stands for. */
static void put_who(struct table *table, const struct memory_analysis *memory, uint32_t key)
{
	if (memory->by == MEMORY_BY_WHO)
		table_cell(table, pass_group_text(memory->pass, memory->part, key));
	else
		pass_put_comm(table, memory->pass, key);
}

static void put_pid(struct table *table, const struct memory_analysis *memory, uint32_t key)
{
	if (memory->by == MEMORY_BY_WHO)
		table_cell_known_s64(table, memory->part == WHO_PROCESS && key, (int64_t)key);
	else
		pass_put_pid(table, memory->pass, key);
}

static void put_subject(struct table *table, const struct memory_analysis *memory, uint64_t address)
{
	struct symbol symbol;

	if (memory->by == MEMORY_BY_WHO)
		put_who(table, memory, (uint32_t)address);
	else if (symbols_find(memory->pass->reader->buffers[0].context->symbols, address, &symbol))
		table_cell_mem(table, symbol.name, symbol.name_len);
	else
		table_cellf(table, "0x%" PRIx64, address);
}

static void count_alive(struct memory_analysis *memory)
{
	const struct memory_alive *alive;
	struct memory_site *site;
	uint64_t key;
	size_t at = 0;

	while ((alive = u64_map_next(&memory->alive, &at, &key))) {
		uint64_t age = memory->pass->state.now - alive->at;

		site = alive->others ? NULL : u64_map_find(&memory->sites, alive->site);
		if (!site)
			continue;
		site->alive++;
		site->alive_bytes += alive->bytes;
		if (age > site->oldest)
			site->oldest = age;
	}
}

/* Names the column that has tasks, if they are those whom tasks belong to. */
static void head(const struct memory_analysis *memory, struct findings *findings, size_t column)
{
	if (memory->by == MEMORY_BY_WHO)
		pass_group_head(findings, memory->part, column);
}

static void put_sites(struct memory_analysis *memory, struct findings *findings)
{
	struct table *table = findings_table(
		findings, "callers",
		memory->by == MEMORY_BY_WHO ?
			"allocations by whom the task belonged to, and how much of them is not freed at the end" :
			"allocations by the function that asked, and how much of them is not freed at the end",
		"alive_bytes", site_columns);
	const struct memory_site *site;
	uint64_t key;
	size_t at = 0;

	head(memory, findings, 0);
	count_alive(memory);
	while (table && (site = u64_map_next(&memory->sites, &at, &key))) {
		SITE_COLUMNS(CELL)
	}
	pass_forget_unseen(memory->pass, findings, site_unseen, array_size(site_unseen));
	/* Rows that are equal in the column of the order then stand by their names, and not by a hash of addresses. */
	if (table && !table_sort(table, 0))
		findings->failed = true;
}

#define PAGE_COLUMNS(X)                                                           \
	X("ORDER", NUMBER, NULL, SAME, table_cell_u64, order)                     \
	X("ALLOCATED", COUNT, NULL, ADDS, table_cell_u64, memory->pages[order])   \
	X("FREED", COUNT, NULL, ADDS, table_cell_u64, memory->pages_freed[order]) \
	X("MORE", COUNT, "difference", 0, table_cell_s64, (int64_t)(memory->pages[order] - memory->pages_freed[order]))

static const struct table_column page_columns[] = COLUMNS(PAGE_COLUMNS);

static const struct pass_unseen page_unseen[] = {
	{ "allocated", "kmem:mm_page_alloc" },
	{ "freed", "kmem:mm_page_free" },
	{ "difference", "kmem:mm_page_alloc" },
	{ "difference", "kmem:mm_page_free" },
};

static void put_pages(const struct memory_analysis *memory, struct findings *findings)
{
	struct table *table = findings_table(findings, "pages", "blocks of 2^ORDER pages", NULL, page_columns);

	for (unsigned order = 0; table && order < MEMORY_ORDERS; order++) {
		if (memory->pages[order] || memory->pages_freed[order]) {
			PAGE_COLUMNS(CELL)
		}
	}
	pass_forget_unseen(memory->pass, findings, page_unseen, array_size(page_unseen));
}

static const char *const kinds[MEMORY_STALLS] = {
	[STALL_RECLAIM] = "direct reclaim",
	[STALL_MEMCG] = "memcg reclaim",
	[STALL_NODE] = "node reclaim",
	[STALL_COMPACTION] = "compaction",
};

#define STALL_COLUMNS(X)                                                                        \
	X("STALL", TEXT, NULL, SAME, table_cell, kinds[key >> 32])                              \
	X("TASK", TEXT, "comm", SAME, put_who, memory, (uint32_t)key)                           \
	X("PID", NUMBER, NULL, SAME, put_pid, memory, (uint32_t)key)                            \
	X("COUNT", COUNT, NULL, ADDS, table_cell_u64, stall->lasted.count)                      \
	X("TOTAL", TIME, NULL, ADDS, table_cell_u64, stall->total)                              \
	SPREAD(X, "", "", 0, 0, 0, lasted)                                                      \
	X("MAX AT", NUMBER, "max_at", 0, table_cell_when, stall->longest.to)                    \
	X("CPU", NUMBER, "max_cpu", 0, table_cell_known, stall->longest.to, stall->longest.cpu) \
	X("PAGES", COUNT, NULL, ADDS, table_cell_u64, stall->reclaimed)

static const struct table_column stall_columns[] = COLUMNS(STALL_COLUMNS);

static void put_stalls(const struct memory_analysis *memory, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "stalls", "tasks that had to reclaim memory before they got some", "total",
			       stall_columns);
	struct extreme longest = { .to = 0 };
	const struct memory_stall *stall;
	uint64_t key;
	size_t at = 0;

	head(memory, findings, 1);
	while (table && (stall = u64_map_next(&memory->stalls, &at, &key))) {
		struct percentiles lasted = percentiles_of(&stall->lasted);

		table_attach(table, &stall->lasted);
		STALL_COLUMNS(CELL)
		if (stall->longest.to)
			extreme_see(&longest, &stall->longest);
	}
	extreme_tell(memory->pass, findings, "stall for memory", &longest);
}

#define FAULT_COLUMNS(X)                                             \
	X("TASK", TEXT, "comm", 0, put_who, memory, (uint32_t)key)   \
	X("PID", NUMBER, NULL, SAME, put_pid, memory, (uint32_t)key) \
	X("USER", COUNT, NULL, ADDS, table_cell_u64, faults->user)   \
	X("KERNEL", COUNT, NULL, ADDS, table_cell_u64, faults->kernel)

static const struct table_column fault_columns[] = COLUMNS(FAULT_COLUMNS);

static const struct pass_unseen fault_unseen[] = {
	{ "user", "exceptions:page_fault_user" },
	{ "kernel", "exceptions:page_fault_kernel" },
};

static void put_faults(const struct memory_analysis *memory, struct findings *findings)
{
	struct table *table = findings_table(findings, "faults", "page faults of each task", "user", fault_columns);
	const struct memory_faults *faults;
	uint64_t key;
	size_t at = 0;

	head(memory, findings, 0);
	while (table && (faults = u64_map_next(&memory->faults, &at, &key))) {
		table_attach(table, &faults->times);
		FAULT_COLUMNS(CELL)
	}
	pass_forget_unseen(memory->pass, findings, fault_unseen, array_size(fault_unseen));
}

static void put_notes(const struct memory_analysis *memory, struct findings *findings)
{
	char at[PASS_MOMENT];

	for (uint64_t i = 0; i < memory->nr_victims && i < MEMORY_VICTIMS; i++)
		findings_note(findings, "out of memory at %s: the kernel chose the process %" PRId32,
			      pass_moment(memory->pass, memory->victims[i].at, at), memory->victims[i].pid);
	if (memory->nr_victims > MEMORY_VICTIMS)
		findings_note(findings, "out of memory %s more time%s",
			      text_count((char[TEXT_HUMAN]){ 0 }, memory->nr_victims - MEMORY_VICTIMS),
			      text_plural(memory->nr_victims - MEMORY_VICTIMS));
	if (memory->unseen)
		findings_note(findings, "%s time%s an address was allocated again without an event that freed it",
			      text_count((char[TEXT_HUMAN]){ 0 }, memory->unseen), text_plural(memory->unseen));
	if (memory->forgotten)
		findings_note(findings,
			      "of %" PRIu64
			      " allocations it is not known whether they are alive: there were more than weft tracks",
			      memory->forgotten);
}

static int memory_finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct memory_analysis *memory = arg;
	const struct memory_open *open;
	uint64_t stalled = 0, key;
	size_t at = 0;

	if (!memory->seen && !memory->stalls.len && !memory->pass->filter.shape)
		return PASS_NOTHING;
	while ((open = u64_map_next(&memory->open, &at, &key)))
		stalled += open->open && open->losses == memory->pass->state.losses;
	put_sites(memory, findings);
	put_pages(memory, findings);
	put_stalls(memory, findings);
	put_faults(memory, findings);
	put_notes(memory, findings);
	findings_cut(findings, memory->older, "frees of what was allocated before the start");
	findings_cut(findings, memory->cut, "stalls that began before the start");
	findings_cut(findings, stalled, "stalls under way at the end");
	findings_broken(findings, memory->doubtful, "allocations that may be alive or not");
	findings_broken(findings, memory->broken, "stalls");
	return memory->pass->failed || memory->roles.failed ? fail_memory(fail) : 0;
}

/* The kernel's memory: what was allocated and not freed, and the tasks that had to wait for memory. */

static const struct analysis_want wants[] = {
	{ "kmem:kmalloc", "kmem:*alloc*", "what is allocated, and where" },
	{ "kmem:kfree", "kmem:*free*", "what is freed again" },
	{ "kmem:kmem_cache_alloc,kmem:kmem_cache_free", NULL, "objects of the kernel's own caches" },
	{ "kmem:mm_page_alloc,kmem:mm_page_free", NULL, "blocks of pages" },
	{ "vmscan:mm_vmscan_*_reclaim_*", NULL, "which tasks had to wait for memory" },
	{ "compaction:mm_compaction_begin,compaction:mm_compaction_end", NULL, "which tasks had to compact memory" },
	{ "exceptions:page_fault_user,exceptions:page_fault_kernel", NULL, "page faults" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

enum role {
	ALLOC = 1,
	FREE,
	PAGE_ALLOC,
	PAGE_FREE,
	BEGIN,
	END = BEGIN + MEMORY_STALLS,
	FAULT_USER = END + MEMORY_STALLS,
	FAULT_KERNEL,
	VICTIM
};
_Static_assert(VICTIM + 1 == MEMORY_ROLES, "as many as there is room for");

static const struct role_name names[] = {
	{ "kmem", "kmalloc", ALLOC },
	{ "kmem", "kmem_cache_alloc", ALLOC + MEMORY_ROLES },
	{ "kmem", "kmalloc_node", ALLOC + 2 * MEMORY_ROLES },
	{ "kmem", "kmem_cache_alloc_node", ALLOC + 3 * MEMORY_ROLES },
	{ "kmem", "kfree", FREE },
	{ "kmem", "kmem_cache_free", FREE + MEMORY_ROLES },
	{ "kmem", "mm_page_alloc", PAGE_ALLOC },
	{ "kmem", "mm_page_free", PAGE_FREE },
	{ "vmscan", "mm_vmscan_direct_reclaim_begin", BEGIN + STALL_RECLAIM },
	{ "vmscan", "mm_vmscan_direct_reclaim_end", END + STALL_RECLAIM },
	{ "vmscan", "mm_vmscan_memcg_reclaim_begin", BEGIN + STALL_MEMCG },
	{ "vmscan", "mm_vmscan_memcg_reclaim_end", END + STALL_MEMCG },
	{ "vmscan", "mm_vmscan_node_reclaim_begin", BEGIN + STALL_NODE },
	{ "vmscan", "mm_vmscan_node_reclaim_end", END + STALL_NODE },
	{ "compaction", "mm_compaction_begin", BEGIN + STALL_COMPACTION },
	{ "compaction", "mm_compaction_end", END + STALL_COMPACTION },
	{ "exceptions", "page_fault_user", FAULT_USER },
	{ "exceptions", "page_fault_kernel", FAULT_KERNEL },
	{ "oom", "mark_victim", VICTIM },
	{ NULL, NULL, 0 },
};

enum { ALIVE_MAX = 1 << 22, ORDERS_MAX = MEMORY_ORDERS - 1, ZERO_SIZE = 16 };

static bool init(void *arg, struct pass *pass, const void *options)
{
	const struct row_options *rows = options;
	struct memory_analysis *memory = arg;

	memory->by = rows && rows->by >= MEMORY_BY_WHO ? MEMORY_BY_WHO : MEMORY_BY_CALLER;
	memory->part = memory->by == MEMORY_BY_WHO ? (enum who_part)(rows->by - MEMORY_BY_WHO) : WHO_PROCESS;
	memory->pass = pass;
	roles_init(&memory->roles, names);
	u64_map_init(&memory->sites, sizeof(struct memory_site));
	u64_map_init(&memory->functions, sizeof(uint64_t));
	u64_map_init(&memory->alive, sizeof(struct memory_alive));
	u64_map_init(&memory->open, sizeof(struct memory_open));
	u64_map_init(&memory->stalls, sizeof(struct memory_stall));
	u64_map_init(&memory->faults, sizeof(struct memory_faults));
	return true;
}

static void release(void *arg)
{
	struct memory_analysis *memory = arg;
	struct memory_stall *stall;
	struct memory_faults *faults;
	size_t at = 0;
	uint64_t key;

	while ((stall = u64_map_next(&memory->stalls, &at, &key)))
		samples_release(&stall->lasted);
	at = 0;
	while ((faults = u64_map_next(&memory->faults, &at, &key)))
		samples_release(&faults->times);
	u64_map_release(&memory->sites);
	u64_map_release(&memory->functions);
	u64_map_release(&memory->alive);
	u64_map_release(&memory->open);
	u64_map_release(&memory->stalls);
	u64_map_release(&memory->faults);
	roles_release(&memory->roles);
}

static bool is_wanted(const struct memory_analysis *memory, const struct event *event, uint64_t since,
		      uint32_t *ret_task)
{
	const struct state *state = &memory->pass->state;

	*ret_task = state_acting(state, event);
	return *ret_task != STATE_NO_TASK && pass_wants_cpu(memory->pass, event->cpu) &&
	       pass_wants_since(memory->pass, &state->tasks[*ret_task], since);
}

/* Returns the start of the function that contains an address; the address itself if no symbol contains it. */
static uint64_t function_of(struct memory_analysis *memory, const struct event *event, uint64_t address)
{
	uint64_t *function = u64_map_add(&memory->functions, address);
	struct symbol symbol;

	if (!function) {
		memory->pass->failed = true;
		return address;
	}
	/* A return address lies behind the call, which may be the function's last instruction. */
	if (!*function)
		*function =
			symbols_find(event->type->context->symbols, address - 1, &symbol) ? symbol.address : address;
	return *function;
}

/* The task, or whom it belongs to now. */
static uint32_t who_of(const struct memory_analysis *memory, uint32_t task)
{
	return memory->by == MEMORY_BY_WHO ? pass_group(memory->pass, memory->part, task) : task;
}

static void keep(struct memory_analysis *memory, uint64_t address, const struct memory_alive *allocation)
{
	struct memory_alive *alive = memory->alive.len < ALIVE_MAX ? u64_map_add(&memory->alive, address) :
								     u64_map_find(&memory->alive, address);

	if (!alive) {
		memory->pass->failed |= memory->alive.len < ALIVE_MAX;
		memory->forgotten += !allocation->others;
		return;
	}
	/* The former memory at this address was freed, but no event reported it. */
	memory->unseen += alive->at != 0 && !alive->others;
	memory->others -= alive->others;
	memory->others += allocation->others;
	*alive = *allocation;
}

static void see_alloc(struct memory_analysis *memory, const struct event *event, const struct memory_places *places)
{
	uint64_t address = place_u64(&places->address, event), bytes = place_u64(&places->given, event), key;
	struct memory_alive allocation = { .at = event->ts ? event->ts : 1, .bytes = bytes, .cpu = event->cpu };
	struct memory_site *site;
	uint32_t task;

	/* What others allocate is kept, so that its free is not taken for one of older memory. */
	if (!is_wanted(memory, event, UINT64_MAX, &task)) {
		allocation.others = true;
		if (address > ZERO_SIZE)
			keep(memory, address, &allocation);
		return;
	}
	key = memory->by == MEMORY_BY_WHO ? who_of(memory, task) :
					    function_of(memory, event, place_u64(&places->site, event));
	site = u64_map_add(&memory->sites, key);
	if (!site) {
		memory->pass->failed = true;
		return;
	}
	if (address <= ZERO_SIZE) {
		site->failed += !address;
		return;
	}
	site->allocations++;
	site->asked += place_u64(&places->asked, event);
	site->given += bytes;
	allocation.site = key;
	keep(memory, address, &allocation);
}

static void see_free(struct memory_analysis *memory, const struct event *event, const struct memory_places *places)
{
	uint64_t address = place_u64(&places->address, event);
	const struct memory_alive *alive = u64_map_find(&memory->alive, address);
	struct memory_site *site = alive && !alive->others ? u64_map_find(&memory->sites, alive->site) : NULL;

	if (!alive) {
		memory->older += address > ZERO_SIZE;
		return;
	}
	if (site) {
		site->freed++;
		site->moved += alive->cpu != event->cpu;
	}
	memory->others -= alive->others;
	u64_map_remove(&memory->alive, address);
}

static void see_pages(struct memory_analysis *memory, const struct event *event, const struct memory_places *places,
		      bool freed)
{
	uint64_t order = place_u64(&places->order, event);
	uint32_t task;

	/* The kernel limits orders by its MAX_ORDER, but a damaged record can have any number. */
	if (!is_wanted(memory, event, UINT64_MAX, &task))
		return;
	order = order < ORDERS_MAX ? order : ORDERS_MAX;
	if (freed)
		memory->pages_freed[order]++;
	else
		memory->pages[order]++;
}

static uint64_t stall_key(enum memory_stall_kind kind, uint32_t task)
{
	return (uint64_t)kind << 32 | task;
}

static void begin_stall(struct memory_analysis *memory, const struct event *event, enum memory_stall_kind kind)
{
	uint32_t task = state_acting(&memory->pass->state, event);
	struct memory_open *open = task == STATE_NO_TASK ? NULL : u64_map_add(&memory->open, stall_key(kind, task));

	if (task == STATE_NO_TASK)
		return;
	if (!open)
		memory->pass->failed = true;
	else
		*open = (struct memory_open){
			.since = event->ts, .losses = memory->pass->state.losses, .cpu = event->cpu, .open = true
		};
}

static void end_stall(struct memory_analysis *memory, const struct event *event, enum memory_stall_kind kind)
{
	uint32_t task = state_acting(&memory->pass->state, event), wanted;
	struct memory_open *open = task == STATE_NO_TASK ? NULL : u64_map_find(&memory->open, stall_key(kind, task));
	struct extreme whole = { .to = event->ts, .cpu = event->cpu, .task = task };
	struct memory_stall *stall;

	if (!open || !open->open || open->losses != memory->pass->state.losses) {
		memory->broken += memory->pass->state.losses != 0;
		memory->cut += memory->pass->state.losses == 0;
		if (open)
			open->open = false;
		return;
	}
	open->open = false;
	whole.from = open->since;
	whole.lasted = event->ts - open->since;
	if (!is_wanted(memory, event, whole.from, &wanted))
		return;
	stall = u64_map_add(&memory->stalls, stall_key(kind, who_of(memory, task)));
	if (!stall) {
		memory->pass->failed = true;
		return;
	}
	samples_add(&stall->lasted, &memory->pass->budget, whole.lasted);
	stall->total += whole.lasted - open->paid;
	stall->reclaimed += kind == STALL_COMPACTION ? 0 : place_u64(&memory->places[END + kind][0].asked, event);
	extreme_see(&stall->longest, &whole);
}

static void see_fault(struct memory_analysis *memory, const struct event *event, bool user)
{
	struct memory_faults *faults;
	uint32_t task;

	if (!is_wanted(memory, event, UINT64_MAX, &task))
		return;
	faults = u64_map_add(&memory->faults, who_of(memory, task));
	if (!faults) {
		memory->pass->failed = true;
		return;
	}
	faults->user += user;
	faults->kernel += !user;
	if (pass_compares(memory->pass))
		samples_add(&faults->times, &memory->pass->budget, 0);
}

/* Any living allocation may have been freed while events were lost. */
static void see_lost(struct memory_analysis *memory)
{
	memory->doubtful += memory->alive.len - memory->others;
	memory->others = 0;
	u64_map_clear(&memory->alive);
}

static void see_victim(struct memory_analysis *memory, const struct event *event)
{
	if (memory->nr_victims < MEMORY_VICTIMS) {
		memory->victims[memory->nr_victims].at = event->ts;
		memory->victims[memory->nr_victims].pid = (int32_t)place_u64(&memory->places[VICTIM][0].order, event);
	}
	memory->nr_victims++;
}

static void bind(const struct event *event, struct memory_places *places, enum role role)
{
	(void)place_find(&places->site, event->type, "call_site");
	(void)place_find(&places->address, event->type, "ptr");
	(void)place_find(&places->asked, event->type, role >= END ? "nr_reclaimed" : "bytes_req");
	(void)place_find(&places->given, event->type, "bytes_alloc");
	(void)place_find(&places->order, event->type, role == VICTIM ? "pid" : "order");
}

/* Several events share a role, but each has places of its own. */
static struct memory_places *places_of(struct memory_analysis *memory, uint8_t number)
{
	return &memory->places[number % MEMORY_ROLES][number / MEMORY_ROLES];
}

static uint8_t look(void *arg, const struct event *event)
{
	struct memory_analysis *memory = arg;
	bool fresh;
	uint8_t number = roles_of(&memory->roles, event, &fresh);

	if (fresh)
		bind(event, places_of(memory, number), (enum role)(number % MEMORY_ROLES));
	return number;
}

static void see(void *arg, const struct event *event, uint8_t number)
{
	struct memory_analysis *memory = arg;
	enum role role = (enum role)(number % MEMORY_ROLES);
	struct memory_places *places = places_of(memory, number);

	if (event->kind == EVENT_LOST) {
		see_lost(memory);
		return;
	}
	memory->seen++;
	if (role == ALLOC)
		see_alloc(memory, event, places);
	else if (role == FREE)
		see_free(memory, event, places);
	else if (role <= PAGE_FREE)
		see_pages(memory, event, places, role == PAGE_FREE);
	else if (role < END)
		begin_stall(memory, event, (enum memory_stall_kind)(role - BEGIN));
	else if (role < FAULT_USER)
		end_stall(memory, event, (enum memory_stall_kind)(role - END));
	else if (role == VICTIM)
		see_victim(memory, event);
	else
		see_fault(memory, event, role == FAULT_USER);
}

/* A stall that the end of an interval cuts counts where it ends, its time in each interval in which it lasts. */
static void divide(void *arg)
{
	struct memory_analysis *memory = arg;
	struct state *state = &memory->pass->state;
	struct memory_stall *stall;
	struct memory_open *open;
	uint64_t key;

	for (size_t at = 0; (open = u64_map_next(&memory->open, &at, &key));) {
		const struct state_task *task = &state->tasks[(uint32_t)key];

		open->open &= open->losses == state->losses && !task->died;
		if (!open->open)
			continue;
		state_hold(state, (uint32_t)key);
		/* The CPU where it ends is not known before. */
		stall = !memory->pass->filter.cpus && pass_wants_since(memory->pass, task, open->since) ?
				u64_map_add(&memory->stalls, stall_key((enum memory_stall_kind)(key >> 32),
								       who_of(memory, (uint32_t)key))) :
				NULL;
		if (!stall)
			continue;
		stall->total += state->now - open->since - open->paid;
		open->paid = state->now - open->since;
	}
	memory->pass->failed |= memory->stalls.starved;
}

static void carry(void *arg, void *earlier)
{
	struct memory_analysis *memory = arg, *before = earlier;
	struct memory_open *open, *moved;
	uint64_t key;

	for (size_t at = 0; (open = u64_map_next(&before->open, &at, &key));) {
		uint32_t task = state_moved(&memory->pass->state, (uint32_t)key);

		if (!open->open || task == STATE_NO_TASK)
			continue;
		moved = u64_map_add(&memory->open, stall_key((enum memory_stall_kind)(key >> 32), task));
		if (!moved) {
			memory->pass->failed = true;
			return;
		}
		*moved = *open;
		moved->losses = 0;
	}
}

static const char *const by[] = { [MEMORY_BY_CALLER] = "caller", [MEMORY_BY_WHO] = WHO_WORDS, NULL };

const struct analysis_ops memory_analysis = {
	.name = "memory",
	.summary = "show what memory the kernel allocated and did not free, and which tasks waited for it",
	.columns = site_columns,
	.by = by,
	.of_tasks = true,
	.wants = wants,
	.nothing = "there are no allocations, reclaims or page faults among the events",
	.recorded_by = "-e kmem -e vmscan",
	.essential = 1,
	.size = sizeof(struct memory_analysis),
	.init = init,
	.look = look,
	.across = true,
	.see = see,
	.divide = divide,
	.carry = carry,
	.finish = memory_finish,
	.release = release,
};
