// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <string.h>

/*
 * A column of texts or of lists: the bytes of all side by side, and where each begins. An item is made when somebody
 * asks for it.
 */
struct ragged {
	PyObject_HEAD;
	PyObject *offsets, *bytes; /* bytearrays: of int64, one more than items; and of what they count */
	PyObject *valid;           /* a bytearray, a byte for each item; None: all are valid */
	char format;               /* of an element, as memoryview names it; 'u': the items are texts */
};

PyObject *view_of(PyObject *bytes, char format)
{
	PyObject *view = bytes ? PyMemoryView_FromObject(bytes) : NULL, *cast = NULL, *fixed = NULL;

	if (view)
		cast = PyObject_CallMethod(view, "cast", "C", format);
	if (cast)
		fixed = PyObject_CallMethod(cast, "toreadonly", NULL);
	Py_XDECREF(cast);
	Py_XDECREF(view);
	Py_XDECREF(bytes);
	return fixed;
}

PyObject *ragged_new(PyObject *offsets, PyObject *bytes, char format, PyObject *valid)
{
	struct ragged *ragged = offsets && bytes && valid ? PyObject_New(struct ragged, python_weft.ragged) : NULL;

	if (!ragged) {
		Py_XDECREF(offsets);
		Py_XDECREF(bytes);
		Py_XDECREF(valid);
		return NULL;
	}
	ragged->offsets = offsets;
	ragged->bytes = bytes;
	ragged->valid = valid;
	ragged->format = format;
	return (PyObject *)ragged;
}

static void ragged_dealloc(PyObject *self)
{
	struct ragged *ragged = (struct ragged *)self;

	Py_DECREF(ragged->offsets);
	Py_DECREF(ragged->bytes);
	Py_DECREF(ragged->valid);
	object_end(self);
}

static Py_ssize_t ragged_length(PyObject *self)
{
	return PyByteArray_Size(((struct ragged *)self)->offsets) / (Py_ssize_t)sizeof(int64_t) - 1;
}

static size_t width_of(char format)
{
	return strchr("bBu", format) ? 1 : strchr("hH", format) ? 2 : strchr("iI", format) ? 4 : 8;
}

static PyObject *number_at(const char *at, char format)
{
	union {
		int8_t b;
		uint8_t B;
		int16_t h;
		uint16_t H;
		int32_t i;
		uint32_t I;
		int64_t q;
		uint64_t Q;
	} value = { .Q = 0 };

	memcpy(&value, at, width_of(format));
	switch (format) {
	case 'b':
		return PyLong_FromLong(value.b);
	case 'B':
		return PyLong_FromLong(value.B);
	case 'h':
		return PyLong_FromLong(value.h);
	case 'H':
		return PyLong_FromLong(value.H);
	case 'i':
		return PyLong_FromLong(value.i);
	case 'I':
		return PyLong_FromUnsignedLong(value.I);
	case 'q':
		return PyLong_FromLongLong(value.q);
	default:
		return PyLong_FromUnsignedLongLong(value.Q);
	}
}

static PyObject *ragged_item(PyObject *self, Py_ssize_t index)
{
	const struct ragged *ragged = (const struct ragged *)self;
	int64_t from, to;
	const char *bytes = PyByteArray_AsString(ragged->bytes);
	size_t width = width_of(ragged->format);
	PyObject *list;

	if (index < 0 || index >= ragged_length(self)) {
		PyErr_SetString(PyExc_IndexError, "there is no such row");
		return NULL;
	}
	if (ragged->valid != Py_None && !PyByteArray_AsString(ragged->valid)[index])
		Py_RETURN_NONE;
	memcpy(&from, PyByteArray_AsString(ragged->offsets) + (size_t)index * sizeof(from), sizeof(from));
	memcpy(&to, PyByteArray_AsString(ragged->offsets) + ((size_t)index + 1) * sizeof(to), sizeof(to));
	if (ragged->format == 'u')
		return PyUnicode_DecodeUTF8(bytes + from, (Py_ssize_t)(to - from), "replace");
	list = PyList_New((Py_ssize_t)(to - from));
	for (int64_t i = from; list && i < to; i++) {
		PyObject *number = number_at(bytes + (size_t)i * width, ragged->format);

		if (!number || PyList_SetItem(list, (Py_ssize_t)(i - from), number))
			Py_CLEAR(list);
	}
	return list;
}

/* The rows as memoryviews: a caller cannot resize the memory while one of them lives. */
static PyObject *get_offsets(PyObject *self, void *ignored)
{
	(void)ignored;
	Py_INCREF(((struct ragged *)self)->offsets);
	return view_of(((struct ragged *)self)->offsets, 'q');
}

static PyObject *get_data(PyObject *self, void *ignored)
{
	const struct ragged *ragged = (const struct ragged *)self;

	(void)ignored;
	Py_INCREF(ragged->bytes);
	return view_of(ragged->bytes, ragged->format == 'u' ? 'B' : ragged->format);
}

static PyObject *ragged_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<weft.Ragged of %zd>", ragged_length(self));
}

static PyGetSetDef attributes[] = {
	{ "offsets", get_offsets, NULL, "where each item begins in data, and where the last one ends", NULL },
	{ "data", get_data, NULL, "the bytes of all texts in UTF-8, or the numbers of all lists", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, ragged_dealloc },
	{ Py_tp_repr, ragged_repr },
	/* pandas takes for a list what says that it can be gone through. */
	{ Py_tp_iter, PySeqIter_New },
	{ Py_sq_length, ragged_length },
	{ Py_sq_item, ragged_item },
	{ Py_tp_getset, attributes },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc, "A column of texts or lists: a sequence; None where a row has no value." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Ragged", sizeof(struct ragged), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_ragged(PyObject *module)
{
	python_weft.ragged = module_add_type(module, "Ragged", &spec);
	return python_weft.ragged;
}
