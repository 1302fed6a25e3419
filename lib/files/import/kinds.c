// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/kinds_internal.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/known_internal.h"
#include "lib/files/import/names_internal.h"
#include "lib/files/import/pairs_internal.h"
#include "lib/files/import/parse_print_fmt_internal.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"
#include "lib/pages/trace/carried.h"
#include "lib/pages/trace/trace.h"

enum {
	FIRST_ID = 2000,
	KINDS_MAX = 8192,
	OF_ONE_NAME_MAX = 64,
	NAME_LEN_MAX = 100,
	RARE_MAX = 128,
	LONGER_MAX = 64,
	EXTRA_MAX = 8
};

struct kind {
	char *system, *name, *text;
	size_t len;
	uint16_t id;
	bool made;     /* the format was made by this import, from pairs or from the whole text */
	char *fields;  /* as import_kinds_make() got them; NULL: not made by it */
	uint32_t next; /* of the next kind of the same name, plus 1; 0: there is none */
	const struct format *format;
	struct parse_print_fmt *parse; /* NULL: texts of this format cannot be parsed */
	const struct program *program;
	bool looked; /* `format`, `parse` and `program` were looked up */
};

/* The function that the last text names. */
struct symbol_text {
	uint64_t address;
	const char *text;
	size_t len;
};

struct import_kinds {
	struct carried carried;
	struct kind **kinds;
	size_t nr_kinds;
	struct u64_map first; /* by the hash of the name: the number of its first kind, plus 1 */
	struct writer_format *formats;
	size_t nr_formats;
	struct schema *schema;
	struct schema_abi abi;
	uint8_t used[(1 << 16) / 8]; /* a bit for each id that is in use */
	uint32_t next_id;
	bool lazy;
	bool made_rare[RARE_MAX]; /* the formats of known_rarely() that were made */
	unsigned nr_longer;       /* formats that were made by longer_kind() */
	struct import_names *names;
	struct symbol_text symbol;
	struct out out;
};

static void kind_free(struct kind *kind)
{
	parse_print_fmt_free(kind->parse);
	free(kind->system);
	free(kind->name);
	free(kind->text);
	free(kind->fields);
	free(kind);
}

void import_kinds_free(struct import_kinds *kinds)
{
	if (!kinds)
		return;
	for (size_t i = 0; i < kinds->nr_kinds; i++)
		kind_free(kinds->kinds[i]);
	free(kinds->kinds);
	u64_map_release(&kinds->first);
	free(kinds->formats);
	carried_release(&kinds->carried);
	schema_free(kinds->schema);
	if (kinds->out.start)
		out_release(&kinds->out);
	free(kinds);
}

static uint32_t first_of(const struct import_kinds *kinds, const char *name, size_t len)
{
	const uint32_t *first = u64_map_find(&kinds->first, xxh64(name, len));

	return first ? *first : 0;
}

/* Kinds of one name are tried in their order. */
static bool link_kind(struct import_kinds *kinds, const char *name, size_t len)
{
	uint32_t nr = (uint32_t)kinds->nr_kinds, *at = u64_map_add(&kinds->first, xxh64(name, len));

	while (at && *at)
		at = &kinds->kinds[*at - 1]->next;
	if (at)
		*at = nr;
	return at;
}

static struct kind *add(struct import_kinds *kinds, const char *system, const char *name, size_t name_len,
			const char *text, size_t len)
{
	struct kind **slot = vec_push(kinds->kinds, kinds->nr_kinds);
	struct kind *kind = slot ? calloc(1, sizeof(*kind)) : NULL;
	struct writer_format *format = kind ? vec_push(kinds->formats, kinds->nr_formats) : NULL;

	if (slot && !kind)
		kinds->nr_kinds--;
	if (!kind)
		return NULL;
	*slot = kind;
	kind->system = strdup(system);
	kind->name = strndup(name, name_len);
	kind->text = strndup(text, len);
	if (!format || !kind->system || !kind->name || !kind->text || !link_kind(kinds, name, name_len))
		return NULL;
	kind->len = len;
	*format = (struct writer_format){ .system = kind->system, .text = kind->text, .len = len };
	return kind;
}

static bool is_used(const struct import_kinds *kinds, uint32_t id)
{
	return kinds->used[id / 8] >> id % 8 & 1;
}

static void use(struct import_kinds *kinds, uint32_t id)
{
	kinds->used[id / 8] |= (uint8_t)(1 << id % 8);
}

/*
 * Returns whether records of this format are made here, with the file's own format left out: kernels differ in how they
 * place these fields.
 */
static bool is_own(const struct writer_format *from)
{
	return !strcmp(from->system, "ftrace") &&
	       (!strncmp(from->text + 6, "funcgraph_", 10) || !strncmp(from->text + 6, "user_stack\n", 11));
}

/* Takes a format from the file. Its name and id are in its text. */
static bool take_format(struct import_kinds *kinds, const struct writer_format *from)
{
	const char *id = from->len ? memmem(from->text, from->len, "\nID:", 4) : NULL;
	size_t name_len = 0;
	struct kind *kind;
	unsigned long value;

	if (!id || strncmp(from->text, "name: ", 6))
		return true;
	name_len = strcspn(from->text + 6, "\n");
	value = strtoul(id + 4, NULL, 10);
	if (value >= 1 << 16 || is_used(kinds, (uint32_t)value) || kinds->nr_kinds == KINDS_MAX || is_own(from))
		return true;
	kind = add(kinds, from->system, from->text + 6, name_len, from->text, from->len);
	if (!kind)
		return false;
	kind->id = (uint16_t)value;
	use(kinds, kind->id);
	return true;
}

static int take_file(struct import_kinds *kinds, struct trace *formats, struct fail *fail)
{
	const struct trace_info *info = trace_info(formats);
	int r;

	if (info->big_endian || info->long_size != 8)
		return fail_set(fail, -ENOTSUP,
				"its kernel is big-endian or of 32 bits; only formats of little-endian "
				"kernels of 64 bits serve");
	r = carried_init(&kinds->carried, formats, fail);
	for (size_t i = 0; !r && i < kinds->carried.metadata.nr_formats; i++)
		if (!take_format(kinds, &kinds->carried.metadata.formats[i]))
			r = fail_memory(fail);
	return r;
}

static int init(struct import_kinds *kinds, struct trace *formats, struct fail *fail)
{
	const struct known *known;
	size_t nr;
	int r = 0;

	kinds->next_id = FIRST_ID;
	u64_map_init(&kinds->first, sizeof(uint32_t));
	kinds->abi = (struct schema_abi){ .swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .long_size = 8 };
	if (!out_init(&kinds->out, 4096))
		return fail_memory(fail);
	if (formats)
		r = take_file(kinds, formats, fail);
	known = known_always(&nr);
	for (size_t i = 0; !r && i < nr; i++)
		if (!import_kinds_id(kinds, known[i].system, known[i].name) &&
		    !import_kinds_make(kinds, known[i].system, known[i].name, known[i].fields, known[i].print))
			r = fail_memory(fail);
	return r ? r : schema_new(&kinds->abi, &kinds->schema, fail);
}

int import_kinds_new(struct trace *formats, bool lazy, struct import_names *names, struct import_kinds **ret,
		     struct fail *fail)
{
	struct import_kinds *kinds = calloc(1, sizeof(*kinds));
	int r;

	if (!kinds)
		return fail_memory(fail);
	kinds->lazy = lazy;
	kinds->names = names;
	r = init(kinds, formats, fail);
	if (r)
		import_kinds_free(kinds);
	else
		*ret = kinds;
	return r;
}

uint32_t import_kinds_common(const struct import_kinds *kinds)
{
	return kinds->lazy ? 12 : 8;
}

/* Returns a kind by its names: one of the file, or one that was made of these fields (or of any, with NULL). */
static const struct kind *find(const struct import_kinds *kinds, const char *system, const char *name,
			       const char *fields)
{
	for (uint32_t i = first_of(kinds, name, strlen(name)); i; i = kinds->kinds[i - 1]->next) {
		const struct kind *kind = kinds->kinds[i - 1];

		if (!strcmp(kind->name, name) && !strcmp(kind->system, system) &&
		    (!fields || !kind->fields || !strcmp(kind->fields, fields)))
			return kind;
	}
	return NULL;
}

uint16_t import_kinds_id(struct import_kinds *kinds, const char *system, const char *name)
{
	const struct kind *kind = find(kinds, system, name, NULL);

	return kind ? kind->id : 0;
}

/* Writes fields such as "char comm[16];pid_t pid" in the form of the kernel's f_show(). */
static bool put_fields(struct buf *text, const char *fields, uint32_t end)
{
	for (size_t len; *fields; fields += len + (fields[len] == ';')) {
		char field[128], *name, *array;
		uint32_t size, count = 1;

		len = strcspn(fields, ";");
		if (len >= sizeof(field))
			return false;
		memcpy(field, fields, len);
		field[len] = '\0';
		name = strrchr(field, ' ');
		size = known_size(field);
		if (!name)
			return false;
		*name++ = '\0';
		array = strchr(name, '[');
		if (!size)
			return false;
		if (array)
			count = array[1] == ']' ? 0 : (uint32_t)strtoul(array + 1, NULL, 10);
		end = (end + size - 1) / size * size;
		if (!buf_addf(text, "\tfield:%s %s;\toffset:%" PRIu32 ";\tsize:%" PRIu32 ";\tsigned:%d;\n", field, name,
			      end, size * count, *field != 'u' && *field != '_' && *field != 'c'))
			return false;
		end += size * count;
	}
	return true;
}

static struct kind *make(struct import_kinds *kinds, const char *system, const char *name, size_t name_len,
			 const char *fields, const char *print, uint32_t id)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct kind *kind = NULL;

	while ((!id || is_used(kinds, id)) && is_used(kinds, kinds->next_id) && kinds->next_id < UINT16_MAX)
		kinds->next_id++;
	if (!id || is_used(kinds, id))
		id = kinds->next_id;
	if (kinds->nr_kinds == KINDS_MAX || is_used(kinds, id))
		return NULL;
	if (buf_addf(&text,
		     "name: %.*s\nID: %" PRIu32
		     "\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n%s\n",
		     (int)name_len, name, id,
		     kinds->lazy ? "\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;\n" :
				   "") &&
	    put_fields(&text, fields, import_kinds_common(kinds)) && buf_addf(&text, "\nprint fmt: %s\n", print))
		kind = add(kinds, system, name, name_len, buf_str(&text), text.len);
	if (!kind)
		return NULL;
	kind->id = (uint16_t)id;
	use(kinds, id);
	return kind;
}

uint16_t import_kinds_make(struct import_kinds *kinds, const char *system, const char *name, const char *fields,
			   const char *print)
{
	const struct kind *has = find(kinds, system, name, fields);
	/* From kernel/trace/trace.h, enum trace_type. Programs that read files know these records by their number. */
	static const struct {
		const char *name;
		uint32_t id;
	} entries[] = {
		{ "function", 1 },         { "kernel_stack", 4 }, { "print", 5 },          { "funcgraph_exit", 10 },
		{ "funcgraph_entry", 11 }, { "user_stack", 12 },  { "context_switch", 2 }, { "wakeup", 3 }
	};
	uint32_t fixed = 0;
	struct kind *kind;

	if (has)
		return has->id;
	for (size_t i = 0; i < array_size(entries); i++)
		if (!strcmp(system, "ftrace") && !strcmp(name, entries[i].name))
			fixed = entries[i].id;
	kind = make(kinds, system, name, strlen(name), fields, print, fixed);
	if (!kind)
		return 0;
	kind->fields = strdup(fields);
	return kind->fields ? kind->id : 0;
}

static bool look(struct import_kinds *kinds, struct kind *kind)
{
	if (kind->looked)
		return kind->parse;
	kind->looked = true;
	if (schema_add(kinds->schema, kind->system, strlen(kind->system), kind->text, kind->len, NULL))
		return false;
	kind->format = schema_format(kinds->schema, kind->id, NULL);
	kind->program = kind->format ? schema_program(kinds->schema, kind->format, NULL) : NULL;
	kind->parse = kind->program ? parse_print_fmt_new(kind->format) : NULL;
	return kind->parse;
}

static uint64_t address_of(void *arg, const char *text, size_t len)
{
	struct import_kinds *kinds = arg;
	uint64_t address = kinds->names ? import_names_symbol(kinds->names, text, len) : 0;

	kinds->symbol = (struct symbol_text){ address, text, len };
	return address;
}

static bool print_symbol(const void *arg, uint64_t address, char how, struct out *out)
{
	const struct symbol_text *symbol = arg;

	if (how != 's' || !symbol->len || address != symbol->address)
		return false;
	out_mem(out, symbol->text, symbol->len);
	return true;
}

/* Returns whether printing the record gives exactly the text. */
static bool prints(struct import_kinds *kinds, const struct kind *kind, const struct buf *record, const char *text,
		   size_t len)
{
	const struct program_env env = { .arg = &kinds->symbol, .symbol = print_symbol, .machine = NULL };

	out_clear(&kinds->out);
	program_run(kind->program, &env, (const uint8_t *)record->data, record->len, &kinds->out);
	return !kinds->out.failed && out_len(&kinds->out) == len && !memcmp(kinds->out.start, text, len);
}

static bool try(struct import_kinds *kinds, struct kind *kind, const char *text, size_t len, struct buf *record)
{
	const struct parse_print_fmt_symbols symbols = { .address = address_of, .arg = kinds };
	uint16_t id = htole16(kind->id);

	kinds->symbol.len = 0;
	if (!look(kinds, kind) || !parse_print_fmt_run(kind->parse, &symbols, text, len, record) ||
	    !prints(kinds, kind, record, text, len))
		return false;
	memcpy(record->data, &id, sizeof(id));
	return true;
}

/* Makes a format for this text: from its pairs, or with the whole text as one field. */
static int make_for(struct import_kinds *kinds, const char *name, size_t name_len, const char *text, size_t len,
		    bool pairs, struct buf *record)
{
	cleanup_buf struct buf fields = BUF_INIT, print = BUF_INIT;
	struct kind *kind;

	if (pairs && !pairs_shape(text, len, &fields, &print))
		return -E2BIG;
	kind = make(kinds, "text", name, name_len, pairs ? buf_str(&fields) : "__data_loc char[] text",
		    pairs ? buf_str(&print) : "\"%s\", __get_str(text)", 0);
	if (!kind)
		return -E2BIG;
	kind->made = true;
	return try(kinds, kind, text, len, record) ? 0 : -E2BIG;
}

static bool is_whole(const struct kind *kind)
{
	return kind->made && strstr(kind->text, "__get_str(text)");
}

/* Makes the record of an event that has its format only now. Returns false if none is known that prints this text. */
static bool try_rare(struct import_kinds *kinds, const char *name, size_t name_len, const char *text, size_t len,
		     struct buf *record)
{
	size_t nr;
	const struct known *rare = known_rarely(&nr);

	for (size_t i = 0; i < nr && i < array_size(kinds->made_rare); i++, rare++) {
		const struct kind *other;
		struct kind *kind;

		if (kinds->made_rare[i] || strncmp(rare->name, name, name_len) || rare->name[name_len] ||
		    !memmem(text, len, rare->has, strlen(rare->has)))
			continue;
		other = find(kinds, rare->system, rare->name, NULL);
		if (other && !other->fields)
			return false;
		kinds->made_rare[i] = true;
		kind = make(kinds, rare->system, rare->name, name_len, rare->fields, rare->print, 0);
		if (!kind || !(kind->fields = strdup(rare->fields)))
			return false;
		if (try(kinds, kind, text, len, record))
			return true;
	}
	return false;
}

/* Makes a format of a known one and of the pairs behind what it prints. */
static struct kind *longer_kind(struct import_kinds *kinds, const struct known *known, const char *tail, size_t len)
{
	cleanup_buf struct buf fields = BUF_INIT, print = BUF_INIT;
	struct kind *kind;

	if (kinds->nr_longer == LONGER_MAX || !buf_add_str(&fields, known->fields) ||
	    !pairs_shape_behind(known->print, tail, len, &fields, &print))
		return NULL;
	kinds->nr_longer++;
	kind = make(kinds, known->system, known->name, strlen(known->name), buf_str(&fields), buf_str(&print), 0);
	if (kind)
		kind->fields = strdup(buf_str(&fields));
	return kind && kind->fields ? kind : NULL;
}

/* Vendors add fields behind those of a known event: " extra_prio=0". */
static bool try_longer(struct import_kinds *kinds, const char *name, size_t name_len, const char *text, size_t len,
		       struct buf *record)
{
	const struct known *known = known_named(name, name_len);
	struct kind *kind = NULL, *longer;
	const char *blank = text + len;

	for (uint32_t i = known ? first_of(kinds, name, name_len) : 0; i && !kind; i = kinds->kinds[i - 1]->next)
		if (kinds->kinds[i - 1]->fields && !strcmp(kinds->kinds[i - 1]->fields, known->fields))
			kind = kinds->kinds[i - 1];
	for (unsigned extra = 0; kind && extra < EXTRA_MAX; extra++) {
		blank = memrchr(text, ' ', (size_t)(blank - text));
		if (!blank)
			return false;
		if (!try(kinds, kind, text, (size_t)(blank - text), record))
			continue;
		longer = longer_kind(kinds, known, blank, (size_t)(text + len - blank));
		return longer && try(kinds, longer, text, len, record);
	}
	return false;
}

int import_kinds_record(struct import_kinds *kinds, const char *name, size_t name_len, const char *text, size_t len,
			struct buf *record, bool *ret_whole, bool *ret_known)
{
	struct kind *whole = NULL;
	size_t made = 0;

	if (!name_len || name_len > NAME_LEN_MAX || memchr(text, '\0', len))
		return -E2BIG;
	*ret_whole = *ret_known = false;
	for (uint32_t i = first_of(kinds, name, name_len); i; i = kinds->kinds[i - 1]->next) {
		struct kind *kind = kinds->kinds[i - 1];

		if (strncmp(kind->name, name, name_len) || kind->name[name_len])
			continue;
		made += kind->made;
		if (is_whole(kind))
			whole = kind;
		else if (try(kinds, kind, text, len, record))
			return *ret_known = !kind->made, 0;
	}
	if (try_rare(kinds, name, name_len, text, len, record) || try_longer(kinds, name, name_len, text, len, record))
		return *ret_known = true, 0;
	if (made < OF_ONE_NAME_MAX && pairs_are(text, len) && !make_for(kinds, name, name_len, text, len, true, record))
		return 0;
	*ret_whole = true;
	if (whole)
		return try(kinds, whole, text, len, record) ? 0 : -E2BIG;
	return make_for(kinds, name, name_len, text, len, false, record);
}

const struct writer_format *import_kinds_formats(const struct import_kinds *kinds, size_t *ret_nr)
{
	*ret_nr = kinds->nr_formats;
	return kinds->formats;
}
