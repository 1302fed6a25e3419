// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/wire_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

enum { HERE_IS_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, CITED = 60 };

static const char name[] = "weft-serve";

struct bytes wire_bytes(const void *data, size_t len)
{
	return bytes_of(data, len, HERE_IS_BIG);
}

int wire_take(struct bytes *in, struct wire_frame *ret, struct fail *fail)
{
	struct bytes at = wire_bytes(in->at, in->left);
	struct wire_frame frame;
	const uint8_t *body;
	uint32_t len;

	if (!bytes_u8(&at, &frame.type) || !bytes_u8(&at, &frame.flags) || !bytes_u16(&at, &frame.stream) ||
	    !bytes_u32(&at, &len))
		return 0;
	if (len > WIRE_BODY_MAX)
		return fail_set(fail, -EBADMSG, "a frame of type %u claims %u bytes, more than any has", frame.type,
				len);
	if (!bytes_take(&at, len, &body))
		return 0;
	frame.body = wire_bytes(body, len);
	in->at = at.at;
	in->left = at.left;
	*ret = frame;
	return 1;
}

bool wire_add_u32(struct buf *to, uint32_t value)
{
	value = load_u32(&value, HERE_IS_BIG);
	return buf_add(to, &value, sizeof(value));
}

bool wire_add_u64(struct buf *to, uint64_t value)
{
	value = load_u64(&value, HERE_IS_BIG);
	return buf_add(to, &value, sizeof(value));
}

static bool add(struct buf *to, uint8_t type, uint8_t flags, uint16_t stream, const void *body, size_t len)
{
	const uint8_t head[] = { type, flags, (uint8_t)stream, (uint8_t)(stream >> 8) };

	return buf_reserve(to, WIRE_HEAD + len) && buf_add(to, head, sizeof(head)) && wire_add_u32(to, (uint32_t)len) &&
	       buf_add(to, body, len);
}

bool wire_add(struct buf *to, uint8_t type, uint16_t stream, const void *body, size_t len)
{
	return add(to, type, 0, stream, body, len);
}

bool wire_add_optional(struct buf *to, uint8_t type, const void *body, size_t len)
{
	return add(to, type, WIRE_OPTIONAL, 0, body, len);
}

bool wire_greet(struct buf *to)
{
	struct utsname here;

	return !uname(&here) && buf_addf(to, "%s %d %.31s %s %ld %.100s\n", name, WIRE_VERSION, here.machine,
					 HERE_IS_BIG ? "big" : "little", sysconf(_SC_PAGESIZE), here.release);
}

/* Shows the beginning of what came instead of a greeting, which may be anything. */
static int not_weft(const struct bytes *in, struct fail *fail)
{
	char cited[CITED + 1];
	size_t len = in->left < CITED ? in->left : CITED;

	for (size_t i = 0; i < len; i++)
		cited[i] = in->at[i] >= ' ' && in->at[i] < 127 ? (char)in->at[i] : '.';
	cited[len] = '\0';
	return fail_set(fail, -EBADMSG,
			"what answers is not 'weft serve': it begins with '%s'; "
			"a shell that prints something when it starts does this, too",
			cited);
}

int wire_take_greeting(struct bytes *in, struct wire_greeting *ret, struct fail *fail)
{
	const uint8_t *end = memchr(in->at, '\n', in->left < WIRE_LINE_MAX ? in->left : WIRE_LINE_MAX);
	struct wire_greeting greeting;
	char line[WIRE_LINE_MAX], endian[8];
	size_t len = end ? (size_t)(end - in->at) : in->left;
	long page;

	if (!end && in->left < WIRE_LINE_MAX &&
	    !memcmp(in->at, name, in->left < strlen(name) ? in->left : strlen(name)))
		return 0;
	if (!end)
		return not_weft(in, fail);
	memcpy(line, in->at, len);
	line[len] = '\0';
	if (sscanf(line, "weft-serve %u %31s %7s %ld %127s", &greeting.version, greeting.machine, endian, &page,
		   greeting.kernel) != 5 ||
	    (strcmp(endian, "little") != 0 && strcmp(endian, "big") != 0))
		return not_weft(in, fail);
	if (greeting.version != WIRE_VERSION)
		return fail_set(
			fail, -EPROTONOSUPPORT,
			"its weft speaks version %u of 'weft serve', this one version %d: use the same weft on both",
			greeting.version, WIRE_VERSION);
	greeting.big_endian = !strcmp(endian, "big");
	in->at = end + 1;
	in->left -= len + 1;
	*ret = greeting;
	return 1;
}

int wire_words(const struct wire_frame *setup, char ***ret, int *ret_nr, struct fail *fail)
{
	struct bytes body = setup->body;
	cleanup_free char **words = NULL;
	size_t nr = 0, len;
	const char *word;
	char **added;

	while (bytes_cstr(&body, &word, &len)) {
		added = vec_push(words, nr);
		if (!added)
			return fail_memory(fail);
		*added = (char *)(uintptr_t)word;
	}
	if (body.left || !nr)
		return fail_set(fail, -EBADMSG, "the options of the recording are damaged");
	added = vec_push(words, nr);
	if (!added)
		return fail_memory(fail);
	*ret = take(words);
	*ret_nr = (int)nr - 1;
	return 0;
}
