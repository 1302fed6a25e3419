// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/memory_internal.h"

#include "lib/analysis/sorts.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/names/symbols.h"

#include <string.h>

/* The kernel's memory: what was allocated and not freed, and the tasks that had to wait for memory. */

static const struct analysis_want wants[] = {
	{ "kmem:kmalloc", "kmem:*alloc*", "what is allocated, and where" },
	{ "kmem:kfree", "kmem:*free*", "what is freed again" },
	{ "kmem:kmem_cache_alloc,kmem:kmem_cache_free", NULL, "objects of the kernel's own caches" },
	{ "kmem:mm_page_alloc,kmem:mm_page_free", NULL, "blocks of pages" },
	{ "vmscan:mm_vmscan_*_reclaim_*", NULL, "which tasks had to wait for memory" },
	{ "compaction:mm_compaction_begin,compaction:mm_compaction_end", NULL, "which tasks had to compact memory" },
	{ "exceptions:page_fault_user,exceptions:page_fault_kernel", NULL, "page faults" },
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
	struct memory_analysis *memory = arg;

	(void)options;
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
	key = function_of(memory, event, place_u64(&places->site, event));
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
	stall = u64_map_add(&memory->stalls, stall_key(kind, task));
	if (!stall) {
		memory->pass->failed = true;
		return;
	}
	samples_add(&stall->lasted, &memory->pass->budget, whole.lasted);
	stall->reclaimed += kind == STALL_COMPACTION ? 0 : place_u64(&memory->places[END + kind][0].asked, event);
	extreme_see(&stall->longest, &whole);
}

static void see_fault(struct memory_analysis *memory, const struct event *event, bool user)
{
	struct memory_faults *faults;
	uint32_t task;

	if (!is_wanted(memory, event, UINT64_MAX, &task))
		return;
	faults = u64_map_add(&memory->faults, task);
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

const struct analysis_ops memory_analysis = {
	.name = "memory",
	.summary = "show what memory the kernel allocated and did not free, and which tasks waited for it",
	.sorts = &memory_sorts,
	.wants = wants,
	.essential = 1,
	.size = sizeof(struct memory_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = memory_finish,
	.release = release,
};
