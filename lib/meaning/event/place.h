/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_PLACE_H
#define WEFT_MEANING_EVENT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/schema/format.h"

/*
 * A place is a field of an event type. It is looked up once by the field's name; then the field is read from each event
 * of the type without a search. A consumer stores the places of each type in an array of its own, at event_type::index.
 * Invariant: nothing outside the record is read. A number beyond the end of the record reads as 0, other fields as no
 * bytes. Borrows the format. All zero is the place of a field that the format does not have.
 */
struct place {
	uint32_t offset;
	uint8_t size; /* size of an integer: 1, 2, 4 or 8; 0 for any other field */
	bool is_signed;
	bool swap;                 /* the record is not in this machine's byte order */
	const struct field *field; /* NULL when the format has no such field */
};

/* False, and the place of no field, when the format has no field of this name, or is NULL. */
bool place_bind(struct place *place, const struct format *format, const struct schema_abi *abi, const char *name);

/* The same in an event type: looked up when its first event comes. */
bool place_find(struct place *place, const struct event_type *type, const char *name);

/* The place of a field of the format that is already known. */
struct place place_of(const struct field *field, const struct schema_abi *abi);

/* An integer, sign-extended to 64 bits if the field is signed. */
static inline uint64_t place_u64(const struct place *place, const struct event *event)
{
	const uint8_t *at = event->data + place->offset;
	bool swap = place->swap;

	if (__builtin_expect(place->offset > event->len || place->size > event->len - place->offset, 0))
		return 0;
	/* Most fields, in one step. */
	if (__builtin_expect(place->size == 4 && !swap, 1))
		return place->is_signed ? (uint64_t)(int64_t)(int32_t)load_u32(at, false) : load_u32(at, false);
	if (place->size == 8)
		return load_u64(at, swap);
	switch (place->size) {
	case 1:
		return place->is_signed ? (uint64_t)(int64_t)(int8_t)*at : *at;
	case 2:
		return place->is_signed ? (uint64_t)(int64_t)(int16_t)load_u16(at, swap) : load_u16(at, swap);
	case 4:
		return place->is_signed ? (uint64_t)(int64_t)(int32_t)load_u32(at, swap) : load_u32(at, swap);
	}
	return 0;
}

/*
 * The length of a record that has this number as most machines write a long: 8 bytes, in our byte order. UINT32_MAX: it
 * has none such.
 */
static inline uint32_t place_whole_long(const struct place *place)
{
	return place->size == 8 && !place->swap && place->offset < UINT16_MAX ? place->offset + 8 : UINT32_MAX;
}

/* Like place_u64(), for signed fields. */
static inline int64_t place_s64(const struct place *place, const struct event *event)
{
	return (int64_t)place_u64(place, event);
}

/*
 * The bytes of any field; for a dynamic field (__data_loc, __rel_loc) the bytes that it refers to. False when they do
 * not lie inside the record.
 */
bool place_bytes(const struct place *place, const struct event *event, const uint8_t **ret, size_t *ret_len);

/*
 * The text of a char array without its NUL: *ret is not terminated. False as for place_bytes(), and for a field that is
 * not text.
 */
bool place_string(const struct place *place, const struct event *event, const char **ret, size_t *ret_len);

/*
 * Element `index` of an array of integers, sign-extended if signed; false after the last one, and for a field that is
 * no such array.
 */
bool place_element(const struct place *place, const struct event *event, size_t index, uint64_t *ret);

#endif
