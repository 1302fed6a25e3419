// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/loom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"
#include "tests/unit/test.h"

enum {
	HEAD = 16,  /* head of a sub-buffer: time, commit */
	COMMON = 8, /* common fields of a record: type, flags, preempt count, pid */
	RECORD_MAX = 512,
	FIRST_ID = 300,
	SMALL_MAX = 28 * 4, /* bytes of a record whose length is in its head */
	TIME_EXTEND = 30,
	DELTA_BITS = 27,
};

static const uint64_t missed_events = UINT64_C(1) << 31, missed_stored = UINT64_C(1) << 30;

static const struct {
	const char *system, *name, *fields, *print;
} known[] = {
	{ "sched", "sched_switch",
	  "char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; "
	  "char next_comm[16]; pid_t next_pid; int next_prio",
	  "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%ld ==> next_comm=%s next_pid=%d next_prio=%d\", "
	  "REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state, REC->next_comm, REC->next_pid, "
	  "REC->next_prio" },
	{ "sched", "sched_waking", "char comm[16]; pid_t pid; int prio; int target_cpu",
	  "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu" },
	{ "sched", "sched_wakeup", "char comm[16]; pid_t pid; int prio; int target_cpu",
	  "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu" },
	{ "sched", "sched_process_fork", "char parent_comm[16]; pid_t parent_pid; char child_comm[16]; pid_t child_pid",
	  "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, REC->parent_pid, REC->child_comm, "
	  "REC->child_pid" },
	{ "irq", "irq_handler_entry", "int irq; __data_loc char[] name",
	  "\"irq=%d name=%s\", REC->irq, __get_str(name)" },
	{ "irq", "irq_handler_exit", "int irq; int ret",
	  "\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\"" },
};

/* A field in the list from which a type is made. */
struct field {
	char type[24], name[32];
	unsigned size, offset, array; /* array: its length, or 0 */
	bool dynamic;
};

static unsigned size_of(const char *type)
{
	static const struct {
		const char *name;
		unsigned size;
	} sizes[] = { { "char", 1 }, { "u8", 1 },    { "u16", 2 },  { "int", 4 },
		      { "u32", 4 },  { "pid_t", 4 }, { "long", 8 }, { "u64", 8 } };

	for (size_t i = 0; i < array_size(sizes); i++)
		if (!strcmp(sizes[i].name, type))
			return sizes[i].size;
	return 0;
}

/* The next field of the list, *end bytes behind the record's start. False at the end of the list. */
static bool next_field(const char **at, unsigned *end, struct field *ret)
{
	struct field field = { .size = 0 };
	int len = 0;

	*at += strspn(*at, "; ");
	if (!**at)
		return false;
	if (sscanf(*at, "__data_loc %23[a-z_][] %31[a-z_0-9]%n", field.type, field.name, &len) == 2 && len) {
		field.dynamic = true;
		field.size = 4;
	} else if (sscanf(*at, "%23s %31[a-z_0-9]%n[%u]%n", field.type, field.name, &len, &field.array, &len) >= 2) {
		field.size = size_of(field.type);
		CHECK(field.size);
	}
	if (!CHECK(len > 0))
		return false;
	field.offset = (*end + field.size - 1) / field.size * field.size;
	field.size *= field.array ? field.array : 1;
	*end = field.offset + field.size;
	*at += len;
	*ret = field;
	return true;
}

/* Makes the text of the format as the kernel's f_show() does. */
static void make_format(struct loom_type *type)
{
	const char *at = type->fields;
	unsigned end = COMMON;
	struct field field;

	buf_addf(&type->format,
		 "name: %s\nID: %u\nformat:\n"
		 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		 "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		 "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		 type->name, type->id);
	while (next_field(&at, &end, &field)) {
		if (field.dynamic)
			buf_addf(&type->format, "\tfield:__data_loc %s[] %s;", field.type, field.name);
		else if (field.array)
			buf_addf(&type->format, "\tfield:%s %s[%u];", field.type, field.name, field.array);
		else
			buf_addf(&type->format, "\tfield:%s %s;", field.type, field.name);
		buf_addf(&type->format, "\toffset:%u;\tsize:%u;\tsigned:%d;\n", field.offset, field.size,
			 *field.type != 'u' && *field.type != 'c' && !field.dynamic);
	}
	buf_addf(&type->format, "\nprint fmt: %s\n", type->print);
}

void loom_type(struct loom *loom, const char *system, const char *name, const char *fields, const char *print)
{
	struct loom_type *type = &loom->types[loom->nr_types];

	REQUIRE(loom->nr_types < LOOM_TYPES);
	*type = (struct loom_type){ .system = system,
				    .name = name,
				    .fields = fields,
				    .print = print,
				    .id = (uint16_t)(FIRST_ID + loom->nr_types) };
	make_format(type);
	loom->nr_types++;
}

void loom_graph(struct loom *loom)
{
	loom_type(loom, "ftrace", "funcgraph_entry", "long func; int depth", "\"\"");
	loom_type(loom, "ftrace", "funcgraph_exit", "long func; int depth; u64 calltime; u64 rettime; long retval",
		  "\"\"");
}

void loom_init(struct loom *loom)
{
	*loom = (struct loom){ .clock = "local", .uname = "Linux loom 6.12.0", .version = 7 };
	for (size_t i = 0; i < array_size(known); i++)
		loom_type(loom, known[i].system, known[i].name, known[i].fields, known[i].print);
}

void loom_release(struct loom *loom)
{
	for (size_t i = 0; i < loom->nr_types; i++)
		buf_release(&loom->types[i].format);
	for (size_t i = 0; i < 2 * LOOM_CPUS; i++)
		buf_release(&loom->cpus[i].pages);
	buf_release(&loom->names);
}

void loom_setting(struct loom *loom, const char *name, const char *text)
{
	REQUIRE(loom->nr_settings < LOOM_SETTINGS);
	loom->settings[loom->nr_settings++] = (struct loom_setting){ name, text };
}

void loom_task(struct loom *loom, int pid, const char *comm)
{
	CHECK(buf_addf(&loom->names, "%d %s\n", pid, comm));
}

static uint64_t *commit_of(struct loom_cpu *cpu)
{
	return (uint64_t *)(void *)(cpu->pages.data + cpu->pages.len - LOOM_PAGE + 8);
}

static uint64_t in_order(bool swap, uint64_t value)
{
	return swap ? __builtin_bswap64(value) : value;
}

static void put_u32(struct loom_cpu *cpu, uint32_t word)
{
	uint64_t *commit = commit_of(cpu);

	word = cpu->swap ? __builtin_bswap32(word) : word;
	memcpy(cpu->pages.data + cpu->pages.len - LOOM_PAGE + HEAD + *commit, &word, sizeof(word));
	*commit += sizeof(word);
}

/* A record's head is two bit fields of one word: their order is that of the bytes. */
static void put_head(struct loom_cpu *cpu, uint32_t type_len, uint32_t delta)
{
	put_u32(cpu, HOST_BIG_ENDIAN != cpu->swap ? type_len << 27 | delta : delta << 5 | type_len);
}

/* The number of events lost before the open page. */
static uint64_t take_lost(struct loom_cpu *cpu)
{
	uint64_t lost = cpu->lost;

	cpu->lost = 0;
	return lost;
}

/* The number of lost events follows the data of the next sub-buffer, as ring_buffer_read_page() puts it there. */
static void close_page(struct loom_cpu *cpu)
{
	uint64_t *commit = commit_of(cpu), used = *commit, lost = take_lost(cpu), number = in_order(cpu->swap, lost);

	if (lost) {
		memcpy(cpu->pages.data + cpu->pages.len - LOOM_PAGE + HEAD + used, &number, sizeof(number));
		*commit |= missed_events | missed_stored;
	}
	*commit = in_order(cpu->swap, *commit);
	cpu->open = false;
}

static void open_page(struct loom_cpu *cpu, uint64_t ts)
{
	static const char zeros[LOOM_PAGE];
	uint64_t head[2] = { in_order(cpu->swap, ts), 0 };

	REQUIRE(buf_add(&cpu->pages, zeros, sizeof(zeros)));
	memcpy(cpu->pages.data + cpu->pages.len - LOOM_PAGE, head, sizeof(head));
	cpu->ts = ts;
	cpu->open = true;
}

static void add_record(struct loom_cpu *cpu, uint64_t ts, const uint8_t *record, size_t len)
{
	size_t words = (len + 3) / 4, need = 8 + 4 + 4 + words * 4 + 8;
	uint64_t delta;

	if (cpu->open && *commit_of(cpu) + need > LOOM_PAGE - HEAD)
		close_page(cpu);
	if (!cpu->open)
		open_page(cpu, ts);
	delta = ts - cpu->ts;
	if (delta >> DELTA_BITS) {
		put_head(cpu, TIME_EXTEND, (uint32_t)(delta & ((1u << DELTA_BITS) - 1)));
		put_u32(cpu, (uint32_t)(delta >> DELTA_BITS));
		delta = 0;
	}
	if (words * 4 <= SMALL_MAX) {
		put_head(cpu, (uint32_t)words, (uint32_t)delta);
	} else {
		put_head(cpu, 0, (uint32_t)delta);
		put_u32(cpu, (uint32_t)(words + 1) * 4);
	}
	for (size_t i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, record + i * 4, sizeof(word));
		put_u32(cpu, cpu->swap ? __builtin_bswap32(word) : word);
	}
	cpu->ts = ts;
}

static const struct loom_type *find_type(const struct loom *loom, const char *name)
{
	for (size_t i = 0; i < loom->nr_types; i++)
		if (!strcmp(loom->types[i].name, name))
			return &loom->types[i];
	return NULL;
}

/* Writes a number as this machine does, or one of the other byte order. */
static void put_number(bool swap, uint8_t *at, size_t size, uint64_t value)
{
	value = swap ? __builtin_bswap64(value) >> (64 - 8 * size) : value;

	uint32_t word = (uint32_t)value;
	uint16_t half = (uint16_t)value;
	uint8_t byte = (uint8_t)value;
	const void *from = size == 8 ? (void *)&value : size == 4 ? (void *)&word : size == 2 ? (void *)&half : &byte;

	memcpy(at, from, size);
}

/* "5", or the first ones of an array: "5,-6". */
static void put_numbers(bool swap, uint8_t *at, size_t size, const char *value)
{
	for (; value; at += size) {
		put_number(swap, at, size,
			   *value == '-' ? (uint64_t)strtoll(value, NULL, 0) : strtoull(value, NULL, 0));
		value = strchr(value, ',');
		if (value)
			value++;
	}
}

static bool set_field(const struct loom_type *type, bool swap, uint8_t *record, size_t *len, const char *name,
		      const char *value)
{
	const char *at = type->fields;
	unsigned end = COMMON;
	struct field field;

	while (next_field(&at, &end, &field)) {
		size_t size = strlen(value) + 1;

		if (strcmp(field.name, name))
			continue;
		if (field.dynamic) {
			put_number(swap, record + field.offset, 4, size << 16 | *len);
			memcpy(record + *len, value, size);
			*len += size;
		} else if (!strcmp(field.type, "char") && field.array) {
			memcpy(record + field.offset, value, size < field.array ? size : field.array - 1);
		} else {
			put_numbers(swap, record + field.offset, field.size / (field.array ? field.array : 1), value);
		}
		return true;
	}
	return false;
}

static void play_event(struct loom *loom, struct loom_cpu *cpu, uint64_t ts, int32_t pid, char *text)
{
	uint8_t record[RECORD_MAX] = { 0 };
	char *save = NULL, *name = strtok_r(text, " ", &save);
	const struct loom_type *type = name ? find_type(loom, name) : NULL;
	const char *at = type ? type->fields : "";
	unsigned end = COMMON;
	struct field field;
	size_t len;

	REQUIRE(type != NULL);
	REQUIRE(ts >= cpu->ts);
	while (next_field(&at, &end, &field))
		;
	len = end;
	cpu->swap = loom->swap;
	put_number(loom->swap, record, sizeof(type->id), type->id);
	put_number(loom->swap, record + 4, sizeof(pid), (uint32_t)pid);
	for (char *word; (word = strtok_r(NULL, " ", &save));) {
		char *value = strchr(word, '=');

		REQUIRE(value != NULL);
		*value++ = '\0';
		if (!strcmp(word, "common_flags") || !strcmp(word, "common_preempt_count")) {
			record[word[7] == 'f' ? 2 : 3] = (uint8_t)strtoul(value, NULL, 0);
			continue;
		}
		REQUIRE(len + strlen(value) < RECORD_MAX);
		REQUIRE(set_field(type, loom->swap, record, &len, word, value));
	}
	add_record(cpu, ts, record, len);
}

static void play_line(struct loom *loom, char *line)
{
	unsigned cpu, other = *line == '+' ? LOOM_CPUS : 0;
	uint64_t ts, lost;
	int32_t pid;
	int end = 0;

	line += other ? 1 : 0;
	if (sscanf(line, "%u lost %" SCNu64, &cpu, &lost) == 2) {
		REQUIRE(cpu < LOOM_CPUS);
		if (loom->cpus[other + cpu].open)
			close_page(&loom->cpus[other + cpu]);
		loom->cpus[other + cpu].lost = lost;
		return;
	}
	REQUIRE(sscanf(line, "%u %" SCNu64 " %" SCNd32 " %n", &cpu, &ts, &pid, &end) == 3 && end);
	REQUIRE(cpu < LOOM_CPUS);
	play_event(loom, &loom->cpus[other + cpu], ts, pid, line + end);
}

void loom_play(struct loom *loom, const char *script)
{
	cleanup_free char *copy = strdup(script);
	char *save = NULL;

	REQUIRE(copy != NULL);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		play_line(loom, line);
}

static int write_buffer(struct loom *loom, size_t first, struct part *part, struct writer *writer, struct fail *fail)
{
	int r = writer_buffer(writer, first ? loom->other : "", loom->clock, LOOM_PAGE, fail);

	for (uint32_t i = 0; !r && i < LOOM_CPUS; i++) {
		struct loom_cpu *cpu = &loom->cpus[first + i];

		if (cpu->open)
			close_page(cpu);
		if (cpu->pages.len)
			r = part_add(part, cpu->pages.data, cpu->pages.len, LOOM_PAGE, fail);
		r = r ? r : part_write(part, writer, i, fail);
	}
	return r;
}

static int write_buffers(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct loom *loom = arg;
	int r = write_buffer(loom, 0, part, writer, fail);

	return r || !loom->other ? r : write_buffer(loom, LOOM_CPUS, part, writer, fail);
}

static int write_trace(struct loom *loom, int fd, struct fail *fail)
{
	static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
					  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
					  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
					  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	const struct writer_options options = { .version = (unsigned)loom->version,
						.compress = loom->version == 7,
						.level = 1,
						.big_endian = HOST_BIG_ENDIAN != loom->swap,
						.long_size = 8,
						.page_size = LOOM_PAGE };
	struct writer_format formats[LOOM_TYPES];
	struct writer_setting settings[LOOM_SETTINGS];
	const struct writer_metadata metadata = {
		.header_page = header_page,
		.header_event = "",
		.formats = formats,
		.nr_formats = loom->nr_types,
		.cmdlines = buf_str(&loom->names),
		.cmdlines_len = loom->names.len,
		.uname = loom->uname,
		.version = "loom",
		.clock = "[local]",
		.cpu_count = LOOM_CPUS,
		.settings = settings,
		.nr_settings = loom->nr_settings,
		.kallsyms = loom->kallsyms,
		.kallsyms_len = loom->kallsyms ? strlen(loom->kallsyms) : 0,
		.printk = loom->printk,
		.printk_len = loom->printk ? strlen(loom->printk) : 0,
	};
	uint64_t size;

	for (size_t i = 0; i < loom->nr_settings; i++) {
		const char *name = loom->settings[i].name, *text = loom->settings[i].text;

		settings[i] = (struct writer_setting){ *name == '+', name + (*name == '+'), text, strlen(text) };
	}
	for (size_t i = 0; i < loom->nr_types; i++)
		formats[i] = (struct writer_format){ loom->types[i].system, buf_str(&loom->types[i].format),
						     loom->types[i].format.len };
	return made_file_write(fd, &options, &metadata, write_buffers, loom, &size, fail);
}

bool loom_write(struct loom *loom, int fd)
{
	struct fail fail = FAIL_INIT;
	bool ok = CHECK(!write_trace(loom, fd, &fail));

	if (!ok)
		fprintf(stderr, "loom: %s\n", fail.text);
	return ok;
}

struct trace *loom_trace(struct loom *loom)
{
	cleanup_fd int fd = memfd_create("loom", MFD_CLOEXEC);
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;

	if (!CHECK(fd >= 0) || !loom_write(loom, fd))
		return NULL;
	if (!CHECK(!trace_open_fd(fd, "loom", &trace, &fail)))
		fprintf(stderr, "loom: %s\n", fail.text);
	return trace;
}
