// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/agentless.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/remote/agentless_internal.h"
#include "lib/kernel/remote/answers_internal.h"
#include "lib/kernel/remote/orders_internal.h"
#include "lib/kernel/remote/receiver_internal.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/plan.h"

enum {
	TEXT_MAX = 64 << 20,  /* the symbols of a large kernel are 20 MB */
	EVENTS_MAX = 4 << 20, /* of available_events, whose lines become orders */
	NOTE_MAX = 1 << 12,
	NOTES_MAX = 100,
	NAME_DIGITS = 12,
};

enum phase { PHASE_HELLO, PHASE_FACTS, PHASE_SETUP, PHASE_BEGIN, PHASE_RUN, PHASE_END };

struct agentless {
	const struct agentless_options *options;
	struct receiver *receiver;
	char token[ANSWER_TOKEN + 1];
	struct answers answers;
	enum phase phase;
	struct plain *plain;
	struct catalog *catalog;
	struct buf text; /* the beginning of a frame */
	uint64_t began_ns;
	unsigned notes;
};

static int make_token(char token[ANSWER_TOKEN + 1], struct fail *fail)
{
	uint8_t random[ANSWER_TOKEN / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return fail_set(fail, -errno, "cannot get a random number from the kernel: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int agentless_new(const struct agentless_options *options, struct receiver *receiver, struct agentless **ret,
		  struct fail *fail)
{
	struct agentless *agentless = calloc(1, sizeof(*agentless));
	int err = agentless ? make_token(agentless->token, fail) : fail_memory(fail);

	if (!err)
		err = plain_new(receiver->arrival, &options->file, &agentless->plain, fail);
	if (err) {
		free(agentless);
		return err;
	}
	agentless->options = options;
	agentless->receiver = receiver;
	answers_init(&agentless->answers, agentless->token);
	*ret = agentless;
	return 0;
}

void agentless_free(struct agentless *agentless)
{
	if (!agentless)
		return;
	plain_free(agentless->plain);
	catalog_free(agentless->catalog);
	buf_release(&agentless->text);
	free(agentless);
}

/* The process that becomes the command names itself to the kernel, and turns tracing on. */
static bool put_launch(const struct agentless *agentless, struct buf *to)
{
	static const char turns[] =
		"[ -z \"$1\" ] || echo $$ > \"$1\" || exit 125; echo 1 > \"$2\"; shift 2; exec \"$@\"";
	char *const *word = agentless->options->argv;
	bool ok = buf_add_str(to, "launch() { exec sh -c ") && plan_quote(to, turns) &&
		  buf_addf(to, " sh %s \"$own/tracing_on\"",
			   agentless->options->setup->only_command ? "\"$own/set_event_pid\"" : "''");

	for (; ok && *word; word++)
		ok = buf_add_str(to, " ") && plan_quote(to, *word);
	return ok && buf_add_str(to, "; }\n");
}

bool agentless_greet(const struct agentless *agentless, struct buf *to)
{
	return buf_addf(to, "token=%s own_name=weft-agentless-%.*s command=%s\n", agentless->token, NAME_DIGITS,
			agentless->token + ANSWER_TOKEN - NAME_DIGITS, agentless->options->argv ? "1" : "") &&
	       (!agentless->options->argv || put_launch(agentless, to)) &&
	       buf_add_str(to, agentless->options->script) && buf_add_str(to, "main\n");
}

bool agentless_stop(struct buf *to)
{
	return buf_add_str(to, "stop\n");
}

bool agentless_say(struct buf *to)
{
	return buf_add_str(to, "here\n");
}

uint64_t agentless_due(const struct agentless *agentless)
{
	uint64_t duration = agentless->options->duration_ns;

	return agentless->phase != PHASE_RUN || !duration ? UINT64_MAX : agentless->began_ns + duration;
}

static int out_of_turn(const struct answers *answers, struct fail *fail)
{
	return fail_set(fail, -EBADMSG, "it sends a frame '%c' where none can be", answers->kind);
}

/* The program may be of 32 bits on a kernel of 64 bits; both have the same byte order. */
static int take_hello(struct agentless *agentless, struct fail *fail)
{
	const struct buf *head = &agentless->text;
	struct buf *to = agentless->receiver->answers;

	if (strcmp(agentless->answers.name, "1") != 0)
		return fail_set(fail, -EPROTO, "the script there is of another version");
	if (head->len <= EI_DATA || memcmp(head->data, ELFMAG, SELFMAG) != 0 ||
	    (head->data[EI_DATA] != ELFDATA2LSB && head->data[EI_DATA] != ELFDATA2MSB))
		return fail_set(fail, -EBADMSG, "it does not show in which order its bytes are");
	plain_order(agentless->plain, head->data[EI_DATA] == ELFDATA2MSB);
	agentless->receiver->greeted = true;
	agentless->phase = PHASE_FACTS;
	return orders_facts(to) ? 0 : fail_memory(fail);
}

static int take_text(struct agentless *agentless, struct fail *fail)
{
	const char *name = agentless->answers.name;
	struct buf *text = &agentless->text;

	if (agentless->phase == PHASE_HELLO)
		return out_of_turn(&agentless->answers, fail);
	if (strcmp(name, "available_events") != 0)
		return plain_text(agentless->plain, name, text->data, text->len, fail);
	if (agentless->catalog || text->len > EVENTS_MAX)
		return fail_set(fail, -EBADMSG, "its list of events cannot be right");
	return catalog_of(buf_str(text), &agentless->catalog, fail);
}

static int take_done(struct agentless *agentless, struct fail *fail)
{
	const struct agentless_options *options = agentless->options;
	struct buf *to = agentless->receiver->answers;
	uint32_t page;
	int err;

	if (agentless->phase == PHASE_FACTS && agentless->catalog) {
		agentless->phase = PHASE_SETUP;
		return orders_setup(options->setup, agentless->catalog, options->all_formats, to, fail);
	}
	if (agentless->phase != PHASE_SETUP)
		return out_of_turn(&agentless->answers, fail);
	agentless->phase = PHASE_BEGIN;
	err = plain_begin(agentless->plain, &page, fail);
	return err ? err : orders_begin(page, to) ? 0 : fail_memory(fail);
}

static int take_begun(struct agentless *agentless, struct fail *fail)
{
	if (agentless->phase != PHASE_BEGIN)
		return out_of_turn(&agentless->answers, fail);
	agentless->phase = PHASE_RUN;
	agentless->began_ns = now_ns();
	agentless->receiver->result->ran = true;
	return 0;
}

/* The shell's ear ends when it is told that there is nothing more to hear. */
static int take_empty(struct agentless *agentless, struct fail *fail)
{
	struct buf *to = agentless->receiver->answers;

	if (agentless->phase != PHASE_RUN)
		return out_of_turn(&agentless->answers, fail);
	agentless->phase = PHASE_END;
	agentless->receiver->result->time_ns = now_ns() - agentless->began_ns;
	return agentless_stop(to) && orders_end(to) ? 0 : fail_memory(fail);
}

static int take_note(struct agentless *agentless, struct fail *fail)
{
	cleanup_buf struct buf line = BUF_INIT;
	struct receiver *receiver = agentless->receiver;
	const struct buf *text = &agentless->text;
	size_t len = text->len && text->data[text->len - 1] == '\n' ? text->len - 1 : text->len;
	int err;

	if (++agentless->notes > NOTES_MAX)
		return 0;
	if (!buf_add_str(&line, "weft: note: ") || !buf_add(&line, text->data, len) || !buf_add(&line, "\n", 1))
		return fail_memory(fail);
	err = receiver->print(receiver->arg, true, line.data, line.len);
	return err ? fail_set(fail, err, "cannot write what it prints: %s", strerror(-err)) : 0;
}

static int take_end(struct agentless *agentless, struct fail *fail)
{
	struct record_result *result = agentless->receiver->result;
	uint64_t status;
	int err = text_parse_range(agentless->answers.name, 0, UINT8_MAX, &status, fail);

	if (agentless->phase != PHASE_END)
		return out_of_turn(&agentless->answers, fail);
	if (!err)
		err = plain_count(agentless->plain, result, fail);
	if (err)
		return err;
	result->has_status = agentless->options->argv != NULL;
	result->status = result->has_status ? (int)status : 0;
	agentless->receiver->told = agentless->receiver->ended = true;
	return 0;
}

/* Its first line, which may be any bytes. */
static int take_error(const struct agentless *agentless, struct fail *fail)
{
	const struct buf *text = &agentless->text;
	char line[ANSWER_LINE_MAX];
	size_t len = 0;

	for (; len < text->len && len + 1 < sizeof(line) && text->data[len] && text->data[len] != '\n'; len++)
		line[len] = (unsigned char)text->data[len] < ' ' || text->data[len] == 0x7f ? '.' : text->data[len];
	line[len] = '\0';
	return fail_set(fail, -EREMOTEIO, "%s", len ? line : "it has failed");
}

static int take_whole(struct agentless *agentless, struct fail *fail)
{
	switch (agentless->answers.kind) {
	case ANSWER_HELLO:
		return agentless->phase == PHASE_HELLO ? take_hello(agentless, fail) :
							 out_of_turn(&agentless->answers, fail);
	case ANSWER_TEXT:
		return take_text(agentless, fail);
	case ANSWER_DONE:
		return take_done(agentless, fail);
	case ANSWER_BEGUN:
		return take_begun(agentless, fail);
	case ANSWER_EMPTY:
		return take_empty(agentless, fail);
	case ANSWER_NOTE:
		return take_note(agentless, fail);
	case ANSWER_ERROR:
		return take_error(agentless, fail);
	case ANSWER_END:
		return take_end(agentless, fail);
	case ANSWER_HERE:
	case ANSWER_PAGES:
		break;
	}
	return 0;
}

static int take_pages(struct agentless *agentless, const struct answer *answer, struct fail *fail)
{
	const char *name = agentless->answers.name;
	uint64_t cpu;
	int err = 0;

	if (agentless->phase != PHASE_RUN)
		err = out_of_turn(&agentless->answers, fail);
	else if (text_parse_range(name, 0, UINT32_MAX, &cpu, NULL))
		err = fail_set(fail, -EBADMSG, "'%.64s' is not a CPU", name);
	if (!err)
		err = plain_pages(agentless->plain, (uint32_t)cpu, answer->data.at, answer->data.left, fail);
	return err || !answer->ends ? err : plain_pages_end(agentless->plain, fail);
}

static int take_piece(struct agentless *agentless, const struct answer *answer, struct fail *fail)
{
	struct buf *text = &agentless->text;
	size_t most = agentless->answers.kind == ANSWER_TEXT ? TEXT_MAX : NOTE_MAX;
	int err;

	if (agentless->answers.kind == ANSWER_PAGES)
		return take_pages(agentless, answer, fail);
	if (answer->data.left > most - text->len)
		return fail_set(fail, -EFBIG, "it sends '%.64s' without an end", agentless->answers.name);
	if (!buf_add(text, answer->data.at, answer->data.left))
		return fail_memory(fail);
	if (!answer->ends)
		return 0;
	err = take_whole(agentless, fail);
	/* Most texts are small, and one is not. */
	if (text->size > NOTE_MAX)
		buf_release(text);
	buf_clear(text);
	return err;
}

int agentless_take(struct agentless *agentless, struct bytes *in, struct fail *fail)
{
	struct answer answer;
	int r = 1, err = 0;

	while (!err && r > 0 && !agentless->receiver->ended) {
		r = answers_take(&agentless->answers, in, &answer, fail);
		err = r > 0 ? take_piece(agentless, &answer, fail) : 0;
	}
	return err ? err : r < 0 ? r : 0;
}
