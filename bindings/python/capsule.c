// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <stdlib.h>

/*
 * The capsules of Arrow's interface for Python, docs/format/CDataInterface/PyCapsuleInterface of arrow.apache.org:
 * whoever takes a structure out of one sets its release to NULL.
 */

static void free_schema(PyObject *capsule)
{
	struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");

	if (schema && schema->release)
		schema->release(schema);
	free(schema);
}

static void free_array(PyObject *capsule)
{
	struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");

	if (array && array->release)
		array->release(array);
	free(array);
}

static void free_stream(PyObject *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (stream && stream->release)
		stream->release(stream);
	free(stream);
}

PyObject *capsule_of_schema(struct ArrowSchema *from)
{
	struct ArrowSchema *schema = malloc(sizeof(*schema));
	PyObject *capsule = schema ? PyCapsule_New(schema, "arrow_schema", free_schema) : PyErr_NoMemory();

	if (capsule) {
		*schema = *from;
		return capsule;
	}
	free(schema);
	from->release(from);
	return NULL;
}

PyObject *capsule_of_array(struct ArrowArray *from)
{
	struct ArrowArray *array = malloc(sizeof(*array));
	PyObject *capsule = array ? PyCapsule_New(array, "arrow_array", free_array) : PyErr_NoMemory();

	if (capsule) {
		*array = *from;
		return capsule;
	}
	free(array);
	from->release(from);
	return NULL;
}

PyObject *capsule_of_stream(struct ArrowArrayStream *from)
{
	struct ArrowArrayStream *stream = malloc(sizeof(*stream));
	PyObject *capsule = stream ? PyCapsule_New(stream, "arrow_array_stream", free_stream) : PyErr_NoMemory();

	if (capsule) {
		*stream = *from;
		return capsule;
	}
	free(stream);
	from->release(from);
	return NULL;
}
