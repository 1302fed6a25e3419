/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_PLUGIN_FOREIGN_INTERNAL_H
#define WEFT_MEANING_PLUGIN_FOREIGN_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/plugin/foreign.h"

/*
 * The memory that weft, the warden and the runner share. It has no secrets, and weft believes nothing in it: numbers
 * are checked, and bytes copied before they are looked at.
 * Weft writes a request, a sequence of items, and gives the turn to the runner, which answers items in order and gives
 * the turn back. If the runner ends, the warden counts it in `ended`, and gives the turn back instead.
 */
enum { FOREIGN_AREA = 4 << 20, FOREIGN_LIVES = 2, FOREIGN_TEXT_MAX = 16 << 10, FOREIGN_TOLD_MAX = 512 };

enum foreign_turn { FOREIGN_WEFT, FOREIGN_RUNNER, FOREIGN_END };

/* Why a runner ended, by the warden. */
enum foreign_end { FOREIGN_EXITED, FOREIGN_CRASHED, FOREIGN_TOO_LONG };

struct foreign_memory {
	_Atomic uint32_t turn;
	_Atomic uint32_t ended;  /* runners that have ended */
	_Atomic uint32_t end;    /* enum foreign_end of the last one */
	_Atomic uint32_t life;   /* the runner for which the request is */
	_Atomic uint32_t serial; /* of the request */
	_Atomic uint32_t request_len, reply_len;
	_Atomic uint32_t done;       /* items of the request that are answered */
	char told[FOREIGN_TOLD_MAX]; /* by the runner: why plugins cannot be used; "": they can */
	_Alignas(64) uint8_t request[FOREIGN_AREA];
	_Alignas(64) uint8_t reply[FOREIGN_AREA];
};

/* An item: this head, and `len` bytes, filled up to a multiple of 8. */
enum foreign_kind {
	FOREIGN_ABI,     /* struct foreign_abi; the first item */
	FOREIGN_FORMAT,  /* the system, NUL, the text of the format */
	FOREIGN_SYMBOLS, /* the next part of kallsyms */
	FOREIGN_STRINGS, /* of printk_formats */
	FOREIGN_TASKS,   /* of saved_cmdlines */
	FOREIGN_READY,   /* ends these texts; the answer is a bit for each event type that has a handler */
	FOREIGN_EVENT,   /* struct foreign_event and the record; the answer is the text */
};

struct foreign_item {
	uint32_t kind, len;
};

struct foreign_abi {
	uint32_t big_endian, long_size, page_size, unused;
};

struct foreign_event {
	uint64_t ts;
	uint32_t cpu, unused;
};

enum { FOREIGN_TYPES = 1 << 16, FOREIGN_BITS = FOREIGN_TYPES / 8, FOREIGN_ALIGN = 8 };

static inline size_t foreign_padded(size_t len)
{
	return (len + FOREIGN_ALIGN - 1) & ~(size_t)(FOREIGN_ALIGN - 1);
}

/*
 * Takes the next answer of a runner, a length and so many bytes, filled up to a multiple of 8: NULL if that is not
 * what comes. The bytes begin at a multiple of 8.
 */
const struct foreign_text *foreign_reply_next(struct bytes *reply);

/* Waits until the turn is another one than `turn`, at most about a second. */
void foreign_wait(struct foreign_memory *memory, enum foreign_turn turn);
void foreign_give(struct foreign_memory *memory, enum foreign_turn turn);

/* Whether the process that holds the other end of a pipe is gone. */
bool foreign_is_gone(int pipe);

/*
 * The processes. The warden starts runners and never returns; nor does a runner. `weft` is a pipe whose other end only
 * weft holds; the warden holds `own` open as long as it lives.
 */
void foreign_warden(const struct foreign_options *options, struct foreign_memory *memory, int weft, int own);
void foreign_run(const struct foreign_options *options, struct foreign_memory *memory, uint32_t life, int weft);

/* The names of plugins, DIR/NAME.so, of all directories. False without memory. */
bool foreign_find(const struct foreign_options *options, char ***ret, size_t *ret_nr);
void foreign_found_free(char **found, size_t nr);

#endif
