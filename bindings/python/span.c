// SPDX-License-Identifier: LGPL-2.1-or-later
/* Marks of a Python program: weft/mark.h. */
#include "bindings/python/python_weft.h"

#include <weft/mark.h>

/* A span is a block of `with`; with a cookie it is one of the process, which may be open in several tasks at once. */
struct span {
	PyObject_HEAD;
	PyObject *name; /* bytes */
	int64_t cookie;
	bool async;
};

static PyObject *span_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "name", "cookie", NULL };
	PyObject *name, *cookie = Py_None, *self;
	long long number = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "U|O:span", words, &name, &cookie))
		return NULL;
	if (cookie != Py_None) {
		number = PyLong_AsLongLong(cookie);
		if (number == -1 && PyErr_Occurred())
			return NULL;
	}
	self = ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
	if (self) {
		struct span *span = (struct span *)self;

		span->name = PyUnicode_AsUTF8String(name);
		span->cookie = number;
		span->async = cookie != Py_None;
		if (!span->name)
			Py_CLEAR(self);
	}
	return self;
}

static void span_dealloc(PyObject *self)
{
	Py_XDECREF(((struct span *)self)->name);
	object_end(self);
}

static PyObject *span_enter(PyObject *self, PyObject *ignored)
{
	const struct span *span = (const struct span *)self;
	const char *name = PyBytes_AsString(span->name);

	(void)ignored;
	if (!name)
		return NULL;
	if (span->async)
		weft_mark_async_begin(name, span->cookie);
	else
		weft_mark_begin(name);
	Py_INCREF(self);
	return self;
}

static PyObject *span_exit(PyObject *self, PyObject *ignored)
{
	const struct span *span = (const struct span *)self;
	const char *name = PyBytes_AsString(span->name);

	(void)ignored;
	if (!name)
		return NULL;
	if (span->async)
		weft_mark_async_end(name, span->cookie);
	else
		weft_mark_end();
	Py_RETURN_FALSE;
}

static PyMethodDef methods[] = {
	{ "__enter__", span_enter, METH_NOARGS, NULL },
	{ "__exit__", span_exit, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, span_new },
	{ Py_tp_dealloc, span_dealloc },
	{ Py_tp_methods, methods },
	{ Py_tp_doc,
	  "span(name, cookie=None)\n--\n\nMarks in a trace that is being recorded what a block of `with` does: "
	  "a span of the thread, or with\na number as the cookie one of the process. Costs nothing if nobody "
	  "records." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.span", sizeof(struct span), 0, Py_TPFLAGS_DEFAULT, slots };

PyObject *mark_counter(PyObject *module, PyObject *args)
{
	const char *name;
	long long value;

	(void)module;
	if (!PyArg_ParseTuple(args, "sL:counter", &name, &value))
		return NULL;
	weft_mark_counter(name, value);
	Py_RETURN_NONE;
}

PyObject *mark_instant(PyObject *module, PyObject *args)
{
	const char *name;

	(void)module;
	if (!PyArg_ParseTuple(args, "s:instant", &name))
		return NULL;
	weft_mark_instant(name);
	Py_RETURN_NONE;
}

bool module_add_span(PyObject *module)
{
	return module_add_type(module, "span", &spec);
}
