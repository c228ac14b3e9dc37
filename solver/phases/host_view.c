/* solver/phases/host_view.c: a matrix whose arrays lie in device memory, copied to the host
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/host_view.h"
#include "base/type.h"
#include "gpu/device/devices.h"
#include <string.h>

static int64_t index_bytes(libsolver_index type)
{
    return type == LIBSOLVER_INT64 ? 8 : 4;
}

/* A copy of so many bytes, NULL of nothing; number: that of the array in the view. */
static libsolver_status copy(libsolver_context *context, const void *from, int64_t bytes,
                             host_view *view, int number, message *why)
{
    if (!from)
        return LIBSOLVER_OK;
    view->array[number] = memory_new(&context->env.memory, bytes, 1);
    if (!view->array[number])
        return NO_MEMORY(&context->env, "a copy of the matrix", why);
    return gpu_device_read(context->env.device, context->env.stream, from, bytes,
                           view->array[number], why);
}

static libsolver_status begin(libsolver_context *context, const libsolver_matrix *a,
                              host_view *view, message *why)
{
    *view = (host_view){.a = *a};
    TRY(input_check(a, why));
    if (a->place == LIBSOLVER_DEVICE && context->backend == LIBSOLVER_BACKEND_CPU)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "matrices in device memory need the GPU backend");
    return LIBSOLVER_OK;
}

/* Pointers first: they say how many indices there are. */
static libsolver_status copy_indices(libsolver_context *context, const libsolver_matrix *a,
                                     host_view *view, message *why)
{
    const int64_t pointers = a->format == LIBSOLVER_TRIPLETS ? a->nnz : a->n + 1;
    int64_t entries = a->nnz;
    if (pointers < 0)
        return LIBSOLVER_OK; /* told by who reads the view */
    TRY(copy(context, a->pointers, pointers * index_bytes(a->pointer_type), view, 0, why));
    view->a.pointers = view->array[0];
    if (a->format == LIBSOLVER_COMPRESSED) {
        if (!view->a.pointers)
            return LIBSOLVER_OK;
        TRY(input_entries(&view->a, &entries, why));
    }
    TRY(copy(context, a->indices, entries * index_bytes(a->index_type), view, 1, why));
    view->a.indices = view->array[1];
    return LIBSOLVER_OK;
}

libsolver_status host_view_indices(libsolver_context *context, const libsolver_matrix *a,
                                   host_view *view, message *why)
{
    TRY(begin(context, a, view, why));
    if (a->place != LIBSOLVER_DEVICE)
        return LIBSOLVER_OK;
    view->a.place = LIBSOLVER_HOST;
    view->a.pointers = view->a.indices = view->a.values = NULL;
    const libsolver_status status = copy_indices(context, a, view, why);
    if (status != LIBSOLVER_OK)
        host_view_free(context, view);
    return status;
}

libsolver_status host_view_values(libsolver_context *context, const libsolver_matrix *a,
                                  int64_t entries, host_view *view, message *why)
{
    TRY(begin(context, a, view, why));
    if (a->place != LIBSOLVER_DEVICE)
        return LIBSOLVER_OK;
    view->a.place = LIBSOLVER_HOST;
    view->a.pointers = view->a.indices = NULL;
    const libsolver_status status =
        copy(context, a->values, entries * type_bytes(a->type), view, 2, why);
    view->a.values = view->array[2];
    if (status != LIBSOLVER_OK)
        host_view_free(context, view);
    return status;
}

libsolver_status host_view_all(libsolver_context *context, const libsolver_matrix *a,
                               host_view *view, message *why)
{
    host_view values;
    int64_t entries = 0;
    TRY(host_view_indices(context, a, view, why));
    if (a->place != LIBSOLVER_DEVICE || !a->values)
        return LIBSOLVER_OK;
    libsolver_status status = input_entries(&view->a, &entries, why);
    if (status == LIBSOLVER_OK)
        status = host_view_values(context, a, entries, &values, why);
    if (status != LIBSOLVER_OK) {
        host_view_free(context, view);
        return status;
    }
    view->a.values = view->array[2] = values.array[2];
    return LIBSOLVER_OK;
}

void host_view_free(libsolver_context *context, host_view *view)
{
    for (int k = 0; k < 3; k++)
        memory_free(&context->env.memory, view->array[k]);
    memset(view->array, 0, sizeof view->array);
}
