// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <stdlib.h>
#include <string.h>

/* A table of a result. */

PyObject *table_at(struct result *result, size_t index)
{
	struct table *table = PyObject_New(struct table, python_weft.table);

	if (!table)
		return NULL;
	Py_INCREF((PyObject *)result);
	table->result = result;
	table->table = weft_result_table(result->result, index);
	return (PyObject *)table;
}

static void table_dealloc(PyObject *self)
{
	Py_DECREF((PyObject *)((struct table *)self)->result);
	object_end(self);
}

static struct weft_table_info info_of(const struct table *table)
{
	struct weft_table_info info = { .size = sizeof(info) };

	weft_table_info(table->table, &info);
	return info;
}

static const char *key_of(const struct table *table, size_t column)
{
	struct weft_column_info info = { .size = sizeof(info), .key = "" };

	return weft_table_column(table->table, column, &info) ? "" : info.key;
}

static PyObject *cell_of(const struct table *table, size_t row, size_t column)
{
	struct weft_cell cell = { .size = sizeof(cell) };
	double divisor = 1;

	if (weft_table_cell(table->table, row, column, &cell))
		return PyErr_Format(PyExc_IndexError, "there is no such row");
	switch (cell.kind) {
	case WEFT_CELL_NONE:
		break;
	case WEFT_CELL_TEXT:
		return text_of(cell.text, cell.text_len);
	case WEFT_CELL_U64:
		return PyLong_FromUnsignedLongLong(cell.u64);
	case WEFT_CELL_S64:
		return PyLong_FromLongLong(cell.s64);
	case WEFT_CELL_DECIMAL:
		for (unsigned i = 0; i < cell.decimals; i++)
			divisor *= 10;
		return PyFloat_FromDouble((double)cell.s64 / divisor);
	}
	Py_RETURN_NONE;
}

static Py_ssize_t table_length(PyObject *self)
{
	return (Py_ssize_t)info_of((struct table *)self).rows;
}

static PyObject *row_at(const struct table *table, size_t row)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < info_of(table).columns; i++) {
		PyObject *cell = cell_of(table, row, i);

		if (!cell || PyDict_SetItemString(dict, key_of(table, i), cell))
			Py_CLEAR(dict);
		Py_XDECREF(cell);
	}
	return dict;
}

static PyObject *column_at(const struct table *table, size_t column)
{
	PyObject *list = PyList_New(0);

	for (size_t row = 0; list && row < info_of(table).rows; row++) {
		PyObject *cell = cell_of(table, row, column);

		if (!cell || PyList_Append(list, cell))
			Py_CLEAR(list);
		Py_XDECREF(cell);
	}
	return list;
}

/* table[3] is a row, table["runtime_ns"] a column. */
static PyObject *table_item(PyObject *self, PyObject *key)
{
	const struct table *table = (const struct table *)self;
	Py_ssize_t row;

	if (PyUnicode_Check(key)) {
		for (size_t i = 0; i < info_of(table).columns; i++)
			if (!PyUnicode_CompareWithASCIIString(key, key_of(table, i)))
				return column_at(table, i);
		PyErr_SetObject(PyExc_KeyError, key);
		return NULL;
	}
	row = PyLong_AsSsize_t(key);
	if (row == -1 && PyErr_Occurred())
		return NULL;
	row += row < 0 ? table_length(self) : 0;
	if (row >= 0 && row < table_length(self))
		return row_at(table, (size_t)row);
	PyErr_SetString(PyExc_IndexError, "there is no such row");
	return NULL;
}

static PyObject *table_iter(PyObject *self)
{
	PyObject *list = PyList_New(0), *iter;

	for (size_t row = 0; list && row < (size_t)table_length(self); row++) {
		PyObject *dict = row_at((struct table *)self, row);

		if (!dict || PyList_Append(list, dict))
			Py_CLEAR(list);
		Py_XDECREF(dict);
	}
	iter = list ? PyObject_GetIter(list) : NULL;
	Py_XDECREF(list);
	return iter;
}

static PyObject *get_columns(PyObject *self, void *ignored)
{
	const struct table *table = (const struct table *)self;
	size_t nr = info_of(table).columns;
	PyObject *tuple = PyTuple_New((Py_ssize_t)nr);

	(void)ignored;
	for (size_t i = 0; tuple && i < nr; i++) {
		PyObject *key = PyUnicode_FromString(key_of(table, i));

		if (!key || PyTuple_SetItem(tuple, (Py_ssize_t)i, key))
			Py_CLEAR(tuple);
	}
	return tuple;
}

static PyObject *get_name(PyObject *self, void *ignored)
{
	const struct weft_table_info info = info_of((struct table *)self);

	(void)ignored;
	return text_of(info.name, strlen(info.name));
}

static PyObject *get_title(PyObject *self, void *ignored)
{
	const struct weft_table_info info = info_of((struct table *)self);

	(void)ignored;
	return text_of(info.title, strlen(info.title));
}

static PyObject *get_analysis(PyObject *self, void *ignored)
{
	const struct table *table = (const struct table *)self;
	PyObject *name = PyTuple_GetItem(table->result->names, (Py_ssize_t)info_of(table).analysis);

	(void)ignored;
	Py_XINCREF(name);
	return name;
}

static PyObject *table_limits(PyObject *self, void *ignored)
{
	const struct table *table = (const struct table *)self;

	(void)ignored;
	return limits_of(table->result->result, info_of(table).analysis);
}

static bool to_arrow(const struct table *table, struct ArrowSchema *schema, struct ArrowArray *array)
{
	struct weft_error error;

	if (!weft_table_arrow(table->table, schema, array, &error))
		return true;
	raise_error(&error);
	return false;
}

static PyObject *table_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct ArrowSchema schema;
	struct ArrowArray array;
	PyObject *first, *second;

	(void)args;
	(void)kwargs;
	if (!to_arrow((struct table *)self, &schema, &array))
		return NULL;
	first = capsule_of_schema(&schema);
	second = capsule_of_array(&array);
	if (first && second)
		return Py_BuildValue("(NN)", first, second);
	Py_XDECREF(first);
	Py_XDECREF(second);
	return NULL;
}

/* A stream of the one array of a table. It keeps the result, whose tables do not change, and makes copies of them. */
struct one {
	PyObject *table;
	bool given;
	struct weft_error error;
};

static int one_make(struct ArrowArrayStream *stream, struct ArrowSchema *schema, struct ArrowArray *array)
{
	struct one *one = stream->private_data;

	return -weft_table_arrow(((const struct table *)one->table)->table, schema, array, &one->error);
}

static int one_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	struct ArrowArray array;
	int r = one_make(stream, ret, &array);

	if (!r)
		array.release(&array);
	return r;
}

static int one_get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
	struct one *one = stream->private_data;
	struct ArrowSchema schema;
	int r = 0;

	if (one->given) {
		ret->release = NULL;
		return 0;
	}
	r = one_make(stream, &schema, ret);
	if (!r)
		schema.release(&schema);
	one->given = !r;
	return r;
}

static const char *one_get_last_error(struct ArrowArrayStream *stream)
{
	return ((struct one *)stream->private_data)->error.text;
}

/* May be called from any thread, with the lock of the interpreter or without. */
static void one_release(struct ArrowArrayStream *stream)
{
	struct one *one = stream->private_data;

	if (Py_IsInitialized()) {
		PyGILState_STATE state = PyGILState_Ensure();

		Py_DECREF(one->table);
		PyGILState_Release(state);
	}
	free(one);
	stream->release = NULL;
}

static PyObject *table_stream(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct one *one = calloc(1, sizeof(*one));
	struct ArrowArrayStream stream = { .get_schema = one_get_schema,
					   .get_next = one_get_next,
					   .get_last_error = one_get_last_error,
					   .release = one_release,
					   .private_data = one };

	(void)args;
	(void)kwargs;
	if (!one)
		return PyErr_NoMemory();
	Py_INCREF(self);
	one->table = self;
	return capsule_of_stream(&stream);
}

static PyObject *table_schema(PyObject *self, PyObject *ignored)
{
	struct ArrowSchema schema;
	struct ArrowArray array;

	(void)ignored;
	if (!to_arrow((struct table *)self, &schema, &array))
		return NULL;
	array.release(&array);
	return capsule_of_schema(&schema);
}

static PyObject *table_repr(PyObject *self)
{
	const struct weft_table_info info = info_of((struct table *)self);

	return PyUnicode_FromFormat("<weft.Table %s, %zd rows>", info.name, (Py_ssize_t)info.rows);
}

static PyMethodDef methods[] = {
	{ "__arrow_c_array__", (PyCFunction)(void (*)(void))table_array, METH_VARARGS | METH_KEYWORDS,
	  "The schema and the rows, in two PyCapsules." },
	{ "__arrow_c_stream__", (PyCFunction)(void (*)(void))table_stream, METH_VARARGS | METH_KEYWORDS,
	  "A stream of one record batch, in a PyCapsule." },
	{ "__arrow_c_schema__", table_schema, METH_NOARGS, "The types of the columns, in a PyCapsule." },
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef attributes[] = {
	{ "name", get_name, NULL, "the name of the table: 'tasks'", NULL },
	{ "title", get_title, NULL, "the line above it", NULL },
	{ "analysis", get_analysis, NULL, "the name of the analysis that made it", NULL },
	{ "columns", get_columns, NULL, "the keys of the columns, as JSON and CSV have them", NULL },
	{ "limits", table_limits, NULL, "what limits the tables of its analysis: cut, broken, missing, notes", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, table_dealloc },
	{ Py_tp_repr, table_repr },
	{ Py_tp_iter, table_iter },
	{ Py_mp_length, table_length },
	{ Py_mp_subscript, table_item },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc,
	  "A table: table[0] is a row as a dict, table['runtime_ns'] a column as a list, iter() gives the rows." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Table", sizeof(struct table), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_table(PyObject *module)
{
	python_weft.table = module_add_type(module, "Table", &spec);
	return python_weft.table;
}
