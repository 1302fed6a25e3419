/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_WIRE_INTERNAL_H
#define WEFT_KERNEL_REMOTE_WIRE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * What `weft record --on` (the near side) and `weft serve` (the far side) say to one another. Each side begins with a
 * line of text, and goes on with frames: u8 type, u8 flags, u16 stream, u32 length, then the body; numbers are
 * little-endian. Frames have no addresses, names of files or offsets in them that the other side would follow.
 *
 * Invariant: a frame has at most WIRE_BODY_MAX bytes. Who does not know a type skips its frames if their flags say that
 * they are optional, and ends the connection otherwise: so either side may learn to say more.
 */
enum { WIRE_VERSION = 1, WIRE_HEAD = 8, WIRE_BODY_MAX = 1 << 20, WIRE_LINE_MAX = 256, WIRE_OPTIONAL = 1 };

enum wire_type {
	/* of the near side */
	WIRE_SETUP = 1, /* the words of a `weft record`, each with a NUL */
	WIRE_CREDIT,    /* u32: so many more bytes may be sent of the stream */
	WIRE_STOP,      /* u8: the signal with which the user ends the recording */
	WIRE_PING,      /* u64: a number; asks for the trace clock; optional */
	WIRE_RUN,       /* the words of another command, which makes no recording; in place of WIRE_SETUP */
	/* of the far side */
	WIRE_META = 16, /* bytes of the recording's metadata, in the order in which it grows: stream 0 */
	WIRE_STREAM,    /* u32 buffer, u32 CPU: from here on there are pages of it, as this stream */
	WIRE_PAGES,     /* bytes of the stream's chunks of pages, in their order */
	WIRE_STDOUT,    /* what the COMMAND printed */
	WIRE_STDERR,    /* what the recording, or the COMMAND, printed there */
	WIRE_OUTCOME,   /* what became of the recording (outcome.h) */
	WIRE_END,       /* u8: the exit status; nothing follows */
	/*
	 * The answer, optional: u64 the number of the ping, u64 at least so many ns from its arrival until the trace
	 * clock was read, u64 at least so many from then until this was sent, u64 what it showed, its name and a NUL.
	 */
	WIRE_CLOCK,
	/* of both, optional, empty: this side is there (link_say()) */
	WIRE_HERE = 32,
};

/* So much of each stream may be sent before the near side has given credit. */
enum { WIRE_CREDIT_FIRST = 4 << 20, WIRE_STREAMS_MAX = UINT16_MAX };

struct wire_frame {
	uint8_t type, flags;
	uint16_t stream;
	struct bytes body; /* borrowed; numbers in it are read as the wire has them */
};

/* Takes a whole frame. 1: it is in *ret; 0: more bytes have to come first; -EBADMSG: these bytes are no frames. */
int must_check wire_take(struct bytes *in, struct wire_frame *ret, struct fail *fail);

/* Adds a frame. False: no memory. */
bool wire_add(struct buf *to, uint8_t type, uint16_t stream, const void *body, size_t len);
/* The same of one that the other side need not know. */
bool wire_add_optional(struct buf *to, uint8_t type, const void *body, size_t len);
/* Adds a number to a body. */
bool wire_add_u32(struct buf *to, uint32_t value);
bool wire_add_u64(struct buf *to, uint64_t value);

/* Bytes with the numbers of the wire. */
struct bytes wire_bytes(const void *data, size_t len);

/* The line with which the far side begins. */
struct wire_greeting {
	unsigned version;
	bool big_endian; /* the byte order of its metadata and pages */
	char machine[32], kernel[128];
};

bool wire_greet(struct buf *to);
/* The same results as wire_take(). What is not a weft is cited in the failure. */
int must_check wire_take_greeting(struct bytes *in, struct wire_greeting *ret, struct fail *fail);

/*
 * Splits the body of WIRE_SETUP, which it ends with a NUL where it lies, into words, a NULL behind them. They borrow
 * from the body; the caller frees the array.
 */
int must_check wire_words(const struct wire_frame *setup, char ***ret, int *ret_nr, struct fail *fail);

#endif
