// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <stdlib.h>
#include <string.h>

/* Functions of a program that make the text of events in place of the kernel. */
struct handler {
	struct handler *next;
	struct events *events;
	PyObject *function;
};

void handlers_free(struct events *events)
{
	struct handler *at;

	while ((at = events->handlers)) {
		events->handlers = at->next;
		Py_DECREF(at->function);
		free(at);
	}
}

/* An exception stays until Event.text returns to Python. */
static int make_text(void *arg, const struct weft_event *event, char *buffer, size_t size)
{
	const struct handler *handler = arg;
	PyObject *made, *bytes;
	char *text;
	Py_ssize_t len;

	(void)event;
	if (PyErr_Occurred() || !handler->events->asked)
		return -1;
	made = PyObject_CallFunctionObjArgs(handler->function, handler->events->asked, NULL);
	if (!made || made == Py_None) {
		Py_XDECREF(made);
		return -1;
	}
	bytes = PyUnicode_AsUTF8String(made);
	Py_DECREF(made);
	if (!bytes || PyBytes_AsStringAndSize(bytes, &text, &len)) {
		Py_XDECREF(bytes);
		return -1;
	}
	if (size) {
		size_t part = (size_t)len < size ? (size_t)len : size - 1;

		memcpy(buffer, text, part);
		buffer[part] = '\0';
	}
	Py_DECREF(bytes);
	return len > 1 << 24 ? -1 : (int)len;
}

PyObject *events_handler(PyObject *self, PyObject *args)
{
	struct events *events = (struct events *)self;
	struct handler *handler = NULL;
	struct weft_error error;
	const char *name;
	PyObject *function;

	if (!PyArg_ParseTuple(args, "sO:handler", &name, &function) || !trace_is_open(events->trace))
		return NULL;
	if (function != Py_None && !PyCallable_Check(function)) {
		PyErr_SetString(PyExc_TypeError, "a handler is a function, or None");
		return NULL;
	}
	if (function != Py_None) {
		handler = malloc(sizeof(*handler));
		if (!handler)
			return PyErr_NoMemory();
		Py_INCREF(function);
		*handler = (struct handler){ .next = events->handlers, .events = events, .function = function };
		events->handlers = handler;
	}
	if (weft_reader_handler(events->reader, name, handler ? make_text : NULL, handler, &error))
		return raise_error(&error);
	Py_RETURN_NONE;
}
