// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/remote/answers_internal.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

/* Takes what comes in steps of so many bytes; returns all pieces as text: "KIND NAME:DATA." */
static int take_in_steps(const char *all, size_t len, size_t step, struct buf *ret, struct fail *fail)
{
	struct answers answers;
	struct answer answer;
	size_t taken = 0;
	int r = 0;

	answers_init(&answers, TOKEN);
	for (size_t there = 0; r >= 0 && there < len;) {
		there = there + step < len ? there + step : len;
		do {
			struct bytes in = bytes_of(all + taken, there - taken, false);

			r = answers_take(&answers, &in, &answer, fail);
			taken = there - in.left;
			if (r > 0 && ((answer.begins && !buf_addf(ret, "%c %s:", answers.kind, answers.name)) ||
				      !buf_add(ret, answer.data.at, answer.data.left) ||
				      (answer.ends && !buf_add_str(ret, "."))))
				return -ENOMEM;
		} while (r > 0);
	}
	return r;
}

TEST(answers_are_the_same_however_they_are_cut)
{
	static const char all[] =
		"P 3\nab\n\n" TOKEN "\nT a b\n\n" TOKEN "\nN -\n\n" TOKEN "x\n0123\n" TOKEN "\nT c\nrest";

	for (size_t step = 1; step < sizeof(all); step++) {
		cleanup_buf struct buf got = BUF_INIT;
		struct fail fail = FAIL_INIT;

		CHECK(!take_in_steps(all, strlen(all), step, &got, &fail));
		CHECK(!strcmp(buf_str(&got), "P 3:ab\n.T a b:.N -:\n" TOKEN "x\n0123.T c:"));
	}
}

TEST(answers_give_what_has_come_of_a_frame_without_an_end)
{
	cleanup_buf struct buf all = BUF_INIT, got = BUF_INIT;
	struct fail fail = FAIL_INIT;

	CHECK(buf_add_str(&all, "P 0\n"));
	for (int i = 0; i < 1000; i++)
		CHECK(buf_add_str(&all, "pages"));
	CHECK(!take_in_steps(all.data, all.len, all.len, &got, &fail));
	/* what may be the beginning of the token waits */
	CHECK(got.len == 4 + 5000 - (ANSWER_TOKEN + 1));
}

TEST(answers_refuse_what_is_no_frame)
{
	static const char *const lines[] = { "Welcome\n", "H\n", "Q 1\n", "H \n", "T\ta\n" };
	char endless[2 * ANSWER_LINE_MAX];

	for (size_t i = 0; i < array_size(lines); i++) {
		cleanup_buf struct buf got = BUF_INIT;
		struct fail fail = FAIL_INIT;

		CHECK(take_in_steps(lines[i], strlen(lines[i]), 1, &got, &fail) == -EBADMSG);
		CHECK(strstr(fail.text, "something else than weft's script answers there: '"));
	}
	memset(endless, 'T', sizeof(endless));
	for (size_t step = 1; step < sizeof(endless); step *= 2) {
		cleanup_buf struct buf got = BUF_INIT;
		struct fail fail = FAIL_INIT;

		CHECK(take_in_steps(endless, sizeof(endless), step, &got, &fail) == -EBADMSG);
	}
}
