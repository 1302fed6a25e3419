// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	const struct weft_arrow_options options = { .size = sizeof(options), .takes_reader = takes_reader };
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

/* The batches that to_dict() has read. */
struct batches {
	struct ArrowArray *at;
	size_t nr, size;
	size_t rows;
};

static void batches_release(struct batches *batches)
{
	for (size_t i = 0; i < batches->nr; i++)
		batches->at[i].release(&batches->at[i]);
	free(batches->at);
}

/* Reads all rows; false: an exception is set. Ctrl-C is looked for after each batch. */
static bool read_all(struct ArrowArrayStream *stream, struct batches *batches)
{
	for (;;) {
		struct ArrowArray array;
		int r;

		if (batches->nr == batches->size) {
			size_t size = batches->size ? 2 * batches->size : 64;
			struct ArrowArray *at = realloc(batches->at, size * sizeof(*at));

			if (!at)
				return PyErr_NoMemory();
			batches->at = at;
			batches->size = size;
		}
		Py_BEGIN_ALLOW_THREADS;
		r = stream->get_next(stream, &array);
		Py_END_ALLOW_THREADS;
		if (r)
			return raise_stream(stream, r);
		if (!array.release)
			return true;
		batches->at[batches->nr++] = array;
		batches->rows += (size_t)array.length;
		if (PyErr_CheckSignals())
			return false;
	}
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

static PyObject *numbers(const struct batches *batches, int64_t column, char format)
{
	size_t width = width_of(format), at = 0;
	PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(batches->rows * width));
	char *into = bytes ? PyByteArray_AsString(bytes) : NULL;

	for (size_t i = 0; into && i < batches->nr; i++) {
		const struct ArrowArray *array = batches->at[i].children[column];

		memcpy(into + at, array->buffers[1], (size_t)array->length * width);
		at += (size_t)array->length * width;
	}
	return bytes;
}

static int64_t nulls_of(const struct batches *batches, int64_t column)
{
	int64_t nulls = 0;

	for (size_t i = 0; i < batches->nr; i++)
		nulls += batches->at[i].children[column]->null_count;
	return nulls;
}

/* A byte for each row: 1 if it has a value. None: all have one. */
static PyObject *valid_of(const struct batches *batches, int64_t column)
{
	PyObject *bytes;
	char *into;

	if (!nulls_of(batches, column))
		Py_RETURN_NONE;
	bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)batches->rows);
	into = bytes ? PyByteArray_AsString(bytes) : NULL;
	for (size_t i = 0; into && i < batches->nr; i++) {
		const struct ArrowArray *array = batches->at[i].children[column];
		const uint8_t *bits = array->buffers[0];

		for (int64_t row = 0; row < array->length; row++)
			*into++ = (char)(!bits || bits[row / 8] >> row % 8 & 1);
	}
	return bytes;
}

static PyObject *offsets_of(const struct batches *batches, int64_t column)
{
	PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)((batches->rows + 1) * sizeof(int64_t)));
	char *into = bytes ? PyByteArray_AsString(bytes) : NULL;
	int64_t base = 0;

	for (size_t i = 0; into && i < batches->nr; i++) {
		const struct ArrowArray *array = batches->at[i].children[column];
		const int32_t *offsets = array->buffers[1];

		for (int64_t row = 0; row < array->length; row++, into += sizeof(int64_t))
			memcpy(into, &(int64_t){ base + offsets[row] }, sizeof(int64_t));
		base += offsets[array->length];
	}
	if (into)
		memcpy(into, &base, sizeof(base));
	return bytes;
}

/* What the offsets count: the bytes of texts, or the numbers of lists. */
static PyObject *contents_of(const struct batches *batches, int64_t column, size_t width)
{
	size_t all = 0, at = 0;
	PyObject *bytes;
	char *into;

	for (size_t i = 0; i < batches->nr; i++) {
		const struct ArrowArray *array = batches->at[i].children[column];

		all += (size_t)((const int32_t *)array->buffers[1])[array->length] * width;
	}
	bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)all);
	into = bytes ? PyByteArray_AsString(bytes) : NULL;
	for (size_t i = 0; into && i < batches->nr; i++) {
		const struct ArrowArray *array = batches->at[i].children[column];
		const void *from = array->n_children ? array->children[0]->buffers[1] : array->buffers[2];
		size_t len = (size_t)((const int32_t *)array->buffers[1])[array->length] * width;

		if (len)
			memcpy(into + at, from, len);
		at += len;
	}
	return bytes;
}

static bool set(PyObject *dict, const char *name, PyObject *value)
{
	bool ok = value && !PyDict_SetItemString(dict, name, value);

	Py_XDECREF(value);
	return ok;
}

static bool add_column(PyObject *dict, const struct batches *batches, int64_t column, const struct ArrowSchema *schema)
{
	char name[128], format = format_of(schema->n_children ? schema->children[0]->format : schema->format);
	PyObject *valid = valid_of(batches, column);
	bool ok;

	if (format == 'u' || schema->n_children)
		return set(dict, schema->name,
			   ragged_new(offsets_of(batches, column), contents_of(batches, column, width_of(format)),
				      format, valid));
	ok = valid && set(dict, schema->name, view_of(numbers(batches, column, format), format));
	if (!ok || valid == Py_None) {
		Py_XDECREF(valid);
		return ok;
	}
	PyOS_snprintf(name, sizeof(name), "%s_valid", schema->name);
	return set(dict, name, view_of(valid, '?'));
}

static PyObject *dict_of(const struct batches *batches, const struct ArrowSchema *schema)
{
	PyObject *dict = PyDict_New();

	for (int64_t i = 0; dict && i < schema->n_children; i++)
		if (!add_column(dict, batches, i, schema->children[i]))
			Py_CLEAR(dict);
	return dict;
}

static PyObject *columns_to_dict(PyObject *self, PyObject *ignored)
{
	struct columns *columns = (struct columns *)self;
	struct batches batches = { .at = NULL };
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
		if (read_all(&stream, &batches))
			dict = dict_of(&batches, &schema);
		schema.release(&schema);
	}
	batches_release(&batches);
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
