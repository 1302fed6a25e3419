// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/stack.h"

#include <string.h>

#include "lib/meaning/names/symbols.h"
#include "tests/unit/golden.h"
#include "tests/unit/test.h"

/*
 * Each line of the kernel's text that begins with " => " is an address of a stack; the lines are in the order of the
 * stack.
 */
static void check_file(const char *name)
{
	struct golden golden;
	struct place caller;
	struct symbol symbol;
	struct stack stack;
	struct event event;
	unsigned count = 0;
	const char *line;
	uint64_t ip;

	REQUIRE(golden_open(&golden, name));
	while (events_next(golden.events, &event, NULL) > 0) {
		if (event.kind != EVENT_RECORD || !event.type->format ||
		    strcmp(event.type->format->name, "kernel_stack"))
			continue;
		REQUIRE(place_bind(&caller, event.type->format, &golden.context->abi, "caller"));
		stack_of_kernel(&caller, &event, &stack);
		while (stack_next(&stack, &ip)) {
			line = golden_line(&golden, " => ");
			REQUIRE(line && stack_symbol(golden.context->symbols, ip, &symbol));
			CHECK_MEM(line + 4, strlen(line + 4), symbol.name, symbol.name_len);
			count++;
		}
	}
	CHECK(count > 100 && !golden_line(&golden, " => "));
	golden_close(&golden);
}

TEST(stack_has_the_addresses_whose_symbols_the_kernel_prints)
{
	check_file("6.12-event-stacktrace");
	check_file("6.1-rt-event-stacktrace");
}
