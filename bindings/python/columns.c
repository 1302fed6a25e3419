// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The events of a query as columns. Each use reads the file anew, so that the object can be used several times. */

enum { NAMES_MAX = 256 };

struct columns {
	PyObject_HEAD;
	struct trace *trace;
	weft_query *query;
	PyObject *bytes[NAMES_MAX]; /* the names */
	size_t nr;
	/* A stream that nobody has used yet, with its reader: making it found the errors. */
	struct ArrowArrayStream stream;
	weft_reader *reader;
};

static void columns_dealloc(PyObject *self)
{
	struct columns *columns = (struct columns *)self;

	if (columns->stream.release)
		columns->stream.release(&columns->stream);
	weft_reader_free(columns->reader);
	weft_query_free(columns->query);
	for (size_t i = 0; i < columns->nr; i++)
		Py_DECREF(columns->bytes[i]);
	Py_DECREF((PyObject *)columns->trace);
	object_end(self);
}

/* Makes the stream; with `takes_reader` it lives on its own. */
static bool make_stream(struct columns *columns, bool takes_reader, struct ArrowArrayStream *ret,
			weft_reader **ret_reader)
{
	const struct weft_reader_options start = { .size = sizeof(start), .threads = 1 };
	/* What to_dict() copies should still be in the processor's cache. */
	const struct weft_arrow_options options = { .size = sizeof(options),
						    .rows = takes_reader ? 0 : 8192,
						    .takes_reader = takes_reader };
	weft_reader *reader = weft_reader_new();
	const char *names[NAMES_MAX];
	struct weft_error error;
	int r;

	if (!reader) {
		PyErr_NoMemory();
		return false;
	}
	for (size_t i = 0; i < columns->nr; i++)
		names[i] = PyBytes_AsString(columns->bytes[i]);
	r = weft_reader_add(reader, columns->trace->file, columns->query, &error);
	if (!r) {
		Py_BEGIN_ALLOW_THREADS;
		r = weft_reader_start(reader, &start, &error);
		if (!r)
			r = weft_reader_arrow(reader, names, columns->nr, &options, ret, &error);
		Py_END_ALLOW_THREADS;
	}
	if (r) {
		weft_reader_free(reader);
		raise_error(&error);
		return false;
	}
	*ret_reader = takes_reader ? NULL : reader;
	return true;
}

static bool add_name(struct columns *columns, PyObject *name)
{
	PyObject *bytes;

	if (columns->nr == NAMES_MAX) {
		PyErr_Format(PyExc_ValueError, "more than %d columns", NAMES_MAX);
		return false;
	}
	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "the name of a column is a text");
		return false;
	}
	bytes = PyUnicode_AsUTF8String(name);
	if (bytes)
		columns->bytes[columns->nr++] = bytes;
	return bytes;
}

/* "ts cpu pid", with blanks or commas, or a list of names. */
static bool add_names(struct columns *columns, PyObject *names)
{
	PyObject *blanks = NULL, *list = NULL, *items = NULL;
	bool ok;

	if (PyUnicode_Check(names)) {
		blanks = PyObject_CallMethod(names, "replace", "ss", ",", " ");
		list = blanks ? PyObject_CallMethod(blanks, "split", NULL) : NULL;
	} else {
		list = names;
		Py_INCREF(list);
	}
	items = list ? PySequence_Tuple(list) : NULL;
	ok = items;
	for (Py_ssize_t i = 0; ok && i < PyTuple_Size(items); i++)
		ok = add_name(columns, PyTuple_GetItem(items, i));
	Py_XDECREF(items);
	Py_XDECREF(list);
	Py_XDECREF(blanks);
	return ok;
}

PyObject *columns_new(struct trace *trace, PyObject *names, weft_query *query)
{
	struct columns *columns = PyObject_New(struct columns, python_weft.columns);

	if (!columns) {
		weft_query_free(query);
		return NULL;
	}
	memset((char *)columns + sizeof(PyObject), 0, sizeof(*columns) - sizeof(PyObject));
	Py_INCREF((PyObject *)trace);
	columns->trace = trace;
	columns->query = query;
	if (add_names(columns, names) && make_stream(columns, false, &columns->stream, &columns->reader))
		return (PyObject *)columns;
	Py_DECREF((PyObject *)columns);
	return NULL;
}

static PyObject *columns_stream(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static const char *const keys[] = { "requested_schema", NULL };
	struct columns *columns = (struct columns *)self;
	struct ArrowArrayStream stream;
	PyObject *ignored;
	weft_reader *reader;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", (char **)(uintptr_t)keys, &ignored) ||
	    !trace_is_open(columns->trace) || !make_stream(columns, true, &stream, &reader))
		return NULL;
	return capsule_of_stream(&stream);
}

/* The first stream, or a new one. */
static bool take_stream(struct columns *columns, struct ArrowArrayStream *ret, weft_reader **ret_reader)
{
	if (!trace_is_open(columns->trace))
		return false;
	if (!columns->stream.release)
		return make_stream(columns, false, ret, ret_reader);
	*ret = columns->stream;
	*ret_reader = columns->reader;
	columns->stream.release = NULL;
	columns->reader = NULL;
	return true;
}

static PyObject *raise_stream(struct ArrowArrayStream *stream, int error)
{
	struct weft_error why = { .code = -error };
	const char *text = stream->get_last_error(stream);

	strncpy(why.text, text ? text : "cannot read the columns", sizeof(why.text) - 1);
	return raise_error(&why);
}

static PyObject *columns_schema(PyObject *self, PyObject *ignored)
{
	struct columns *columns = (struct columns *)self;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	weft_reader *reader;
	PyObject *capsule;
	int r;

	(void)ignored;
	if (!take_stream(columns, &stream, &reader))
		return NULL;
	r = stream.get_schema(&stream, &schema);
	capsule = r ? raise_stream(&stream, r) : capsule_of_schema(&schema);
	/* Nobody has read events from it. */
	columns->stream = stream;
	columns->reader = reader;
	return capsule;
}

static PyObject *get_names(PyObject *self, void *ignored)
{
	const struct columns *columns = (const struct columns *)self;
	PyObject *tuple = PyTuple_New((Py_ssize_t)columns->nr);

	(void)ignored;
	for (size_t i = 0; tuple && i < columns->nr; i++) {
		PyObject *name = PyUnicode_FromString(PyBytes_AsString(columns->bytes[i]));

		if (!name || PyTuple_SetItem(tuple, (Py_ssize_t)i, name))
			Py_CLEAR(tuple);
	}
	return tuple;
}

enum { GROWTH = 8, HUGE_PAGE = 2 << 20 };

/* Bytes that grow batch by batch. */
struct growing {
	PyObject *bytes; /* a bytearray, of which `len` bytes count; NULL: none yet */
	size_t len, room;
};

/* What to_dict() has read of a column. */
struct gathered {
	struct growing values;  /* numbers; of texts and lists what they consist of */
	struct growing offsets; /* of texts and lists: an int64_t for each row */
	struct growing valid;   /* a byte for each row, 1 if it has a value; none while all have */
	int64_t base;           /* of the next batch's offsets */
	char format;
	bool ragged;
};

static void gathered_free(struct gathered *columns, int64_t nr)
{
	for (int64_t i = 0; columns && i < nr; i++) {
		Py_XDECREF(columns[i].values.bytes);
		Py_XDECREF(columns[i].offsets.bytes);
		Py_XDECREF(columns[i].valid.bytes);
	}
	free(columns);
}

/* A page fault for each 4 KiB can cost more than reading the events, so the kernel may use huge pages. */
static void advise(char *start, size_t len)
{
	uintptr_t from = ((uintptr_t)start + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t to = ((uintptr_t)start + len) & ~(uintptr_t)(HUGE_PAGE - 1);

	if (to > from)
		(void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* Returns where so many more bytes go; NULL: an exception is set. */
static char *grow(struct growing *growing, size_t more)
{
	size_t need = growing->len + more;
	char *start;

	if (!growing->bytes || need > growing->room) {
		/* What is not reached takes no memory, and growing may copy all that is there. */
		size_t room = need < GROWTH * growing->room ? GROWTH * growing->room : need;

		if (!growing->bytes)
			growing->bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)room);
		else if (PyByteArray_Resize(growing->bytes, (Py_ssize_t)room))
			return NULL;
		if (!growing->bytes)
			return NULL;
		growing->room = room;
		advise(PyByteArray_AsString(growing->bytes), room);
	}
	start = PyByteArray_AsString(growing->bytes) + growing->len;
	growing->len = need;
	return start;
}

/* Gives the bytes away, as many as count. */
static PyObject *take(struct growing *growing)
{
	PyObject *bytes = growing->bytes ? growing->bytes : PyByteArray_FromStringAndSize(NULL, 0);

	growing->bytes = NULL;
	if (bytes && PyByteArray_Resize(bytes, (Py_ssize_t)growing->len))
		Py_CLEAR(bytes);
	return bytes;
}

/* Names of formats: Arrow's and memoryview's. */
static char format_of(const char *arrow)
{
	static const char from[] = "cCsSiIlLgu", to[] = "bBhHiIqQdu";
	const char *found = strchr(from, *arrow);

	return found ? to[found - from] : 'B';
}

static size_t width_of(char format)
{
	return strchr("bBu", format) ? 1 : strchr("hH", format) ? 2 : strchr("iI", format) ? 4 : 8;
}

static bool add_valid(struct gathered *column, const struct ArrowArray *array, size_t rows_before)
{
	const uint8_t *bits = array->buffers[0];
	size_t rows = (size_t)array->length;
	char *into;

	if (!column->valid.bytes && !array->null_count)
		return true;
	if (!column->valid.bytes) {
		into = grow(&column->valid, rows_before);
		if (!into)
			return false;
		memset(into, 1, rows_before);
	}
	into = grow(&column->valid, rows);
	if (!into)
		return false;
	if (!bits)
		memset(into, 1, rows);
	for (size_t row = 0; bits && row < rows; row++)
		into[row] = (char)(bits[row / 8] >> row % 8 & 1);
	return true;
}

/* Offsets of a batch count from its own beginning. */
static bool add_ragged(struct gathered *column, const struct ArrowArray *array)
{
	const void *from = array->n_children ? array->children[0]->buffers[1] : array->buffers[2];
	size_t rows = (size_t)array->length, width = width_of(column->format);
	const int32_t *offsets = array->buffers[1];
	char *into = grow(&column->offsets, rows * sizeof(int64_t));

	if (!into)
		return false;
	for (size_t row = 0; row < rows; row++, into += sizeof(int64_t))
		memcpy(into, &(int64_t){ column->base + offsets[row] }, sizeof(int64_t));
	column->base += offsets[rows];
	into = grow(&column->values, (size_t)offsets[rows] * width);
	if (into && offsets[rows])
		memcpy(into, from, (size_t)offsets[rows] * width);
	return into;
}

static bool add_numbers(struct gathered *column, const struct ArrowArray *array)
{
	size_t len = (size_t)array->length * width_of(column->format);
	char *into = grow(&column->values, len);

	if (into)
		memcpy(into, array->buffers[1], len);
	return into;
}

static bool add_batch(struct gathered *columns, const struct ArrowArray *batch, size_t rows_before)
{
	for (int64_t i = 0; i < batch->n_children; i++) {
		const struct ArrowArray *array = batch->children[i];

		if (!add_valid(&columns[i], array, rows_before) ||
		    !(columns[i].ragged ? add_ragged(&columns[i], array) : add_numbers(&columns[i], array)))
			return false;
	}
	return true;
}

/* Reads all rows; false: an exception is set. Ctrl-C is looked for after each batch. */
static bool read_all(struct ArrowArrayStream *stream, struct gathered *columns)
{
	size_t rows = 0;

	for (;;) {
		struct ArrowArray batch;
		bool ok;
		int r;

		Py_BEGIN_ALLOW_THREADS;
		r = stream->get_next(stream, &batch);
		Py_END_ALLOW_THREADS;
		if (r)
			return raise_stream(stream, r);
		if (!batch.release)
			return true;
		ok = add_batch(columns, &batch, rows);
		rows += (size_t)batch.length;
		batch.release(&batch);
		if (!ok || PyErr_CheckSignals())
			return false;
	}
}

static bool set(PyObject *dict, const char *name, PyObject *value)
{
	bool ok = value && !PyDict_SetItemString(dict, name, value);

	Py_XDECREF(value);
	return ok;
}

static bool add_column(PyObject *dict, struct gathered *column, const struct ArrowSchema *schema)
{
	PyObject *valid = column->valid.bytes ? take(&column->valid) : (Py_INCREF(Py_None), Py_None);
	char name[128];
	bool ok;

	if (column->ragged) {
		if (!grow(&column->offsets, sizeof(int64_t))) {
			Py_XDECREF(valid);
			return false;
		}
		memcpy(PyByteArray_AsString(column->offsets.bytes) + column->offsets.len - sizeof(int64_t),
		       &column->base, sizeof(int64_t));
		return set(dict, schema->name,
			   ragged_new(take(&column->offsets), take(&column->values), column->format, valid));
	}
	ok = valid && set(dict, schema->name, view_of(take(&column->values), column->format));
	if (!ok || valid == Py_None) {
		Py_XDECREF(valid);
		return ok;
	}
	PyOS_snprintf(name, sizeof(name), "%s_valid", schema->name);
	return set(dict, name, view_of(valid, '?'));
}

static PyObject *dict_of(struct ArrowArrayStream *stream, const struct ArrowSchema *schema)
{
	struct gathered *columns = calloc((size_t)schema->n_children + 1, sizeof(*columns));
	PyObject *dict = NULL;

	if (!columns)
		return PyErr_NoMemory();
	for (int64_t i = 0; i < schema->n_children; i++) {
		const struct ArrowSchema *column = schema->children[i];

		columns[i].format = format_of(column->n_children ? column->children[0]->format : column->format);
		columns[i].ragged = columns[i].format == 'u' || column->n_children;
	}
	if (read_all(stream, columns))
		dict = PyDict_New();
	for (int64_t i = 0; dict && i < schema->n_children; i++)
		if (!add_column(dict, &columns[i], schema->children[i]))
			Py_CLEAR(dict);
	gathered_free(columns, schema->n_children);
	return dict;
}

static PyObject *columns_to_dict(PyObject *self, PyObject *ignored)
{
	struct columns *columns = (struct columns *)self;
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	weft_reader *reader;
	PyObject *dict = NULL;
	int r;

	(void)ignored;
	if (!take_stream(columns, &stream, &reader))
		return NULL;
	r = stream.get_schema(&stream, &schema);
	if (r) {
		raise_stream(&stream, r);
	} else {
		dict = dict_of(&stream, &schema);
		schema.release(&schema);
	}
	stream.release(&stream);
	if (dict && !warn_damage(weft_reader_damage(reader)))
		Py_CLEAR(dict);
	weft_reader_free(reader);
	return dict;
}

static PyObject *columns_repr(PyObject *self)
{
	PyObject *names = get_names(self, NULL),
		 *repr = names ? PyUnicode_FromFormat("<weft.Columns %R>", names) : NULL;

	Py_XDECREF(names);
	return repr;
}

static PyMethodDef methods[] = {
	{ "to_dict", columns_to_dict, METH_NOARGS,
	  "to_dict()\n--\n\n"
	  "A dict: of numbers, memoryviews that numpy.asarray() wraps without a copy; of texts and lists, Ragged\n"
	  "sequences. A column of numbers in which some rows have no value has 0 there, and NAME_valid says which." },
	{ "__arrow_c_stream__", (PyCFunction)(void (*)(void))columns_stream, METH_VARARGS | METH_KEYWORDS,
	  "A stream of record batches, in a PyCapsule." },
	{ "__arrow_c_schema__", columns_schema, METH_NOARGS, "The types of the columns, in a PyCapsule." },
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef attributes[] = {
	{ "names", get_names, NULL, "the names of the columns", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, columns_dealloc },
	{ Py_tp_repr, columns_repr },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc, "Events as columns; Trace.columns() makes it. It can be read more than once." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Columns", sizeof(struct columns), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_columns(PyObject *module)
{
	python_weft.columns = module_add_type(module, "Columns", &spec);
	return python_weft.columns;
}
