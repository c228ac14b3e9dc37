/* cli/report_names.c: words and figures that reports have in common
 * SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"
#include "report.h"
#include <math.h>

const char *kind_name(libsolver_kind kind)
{
    return kind == LIBSOLVER_KIND_SPD ? "cholesky" : "ldlt";
}

const char *backend_name(libsolver_backend backend)
{
    return backend == LIBSOLVER_BACKEND_GPU ? "gpu" : "cpu";
}

const char *ordering_name(libsolver_ordering ordering)
{
    static const char *const names[] = {"auto", "amd", "nd", "metis", "natural", "user"};
    return names[ordering];
}

const char *type_name(libsolver_type type)
{
    static const char *const names[] = {"d", "s", "z", "c"};
    return names[type];
}

const char *step_name(libsolver_step_kind kind)
{
    static const char *const names[] = {"solve", "plain", "fgmres", "singular"};
    return names[kind];
}

const char *symmetry_name(const triplets *a)
{
    return a->symmetry == LIBSOLVER_HERMITIAN && triplets_width(a) == 2 ? "hermitian" : "symmetric";
}

const char *precision_name(int wanted, const triplets *a)
{
    static const char *const names[] = {"d", "s", "c", "z", "mixed"};
    return wanted != PRECISION_BY_MATRIX ? names[wanted] : a ? type_name(a->type) : NULL;
}

const char *device_name(libsolver_backend backend, int index, libsolver_device *device)
{
    libsolver_device all[MOST_DEVICES];
    int count = 0;
    if (backend != LIBSOLVER_BACKEND_GPU || index >= MOST_DEVICES ||
        libsolver_devices(MOST_DEVICES, all, &count) < 0 || index >= count)
        return NULL;
    *device = all[index];
    return device->name;
}

int report_digits(double forward_bound)
{
    const double digits = -log10(forward_bound);
    return digits > 17 ? 17 : digits > 0 ? (int)digits : 0;
}
