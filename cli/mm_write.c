/* cli/mm_write.c: Matrix Market files, every double to its last bit
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mm_write.h"
#include "output.h"

int mm_write_matrix(const char *path, const triplets *a, const char *comment, failure *f)
{
    output o;
    const bool complex_values = triplets_width(a) == 2;
    const double *value = a->values;
    if (output_open(&o, path, f))
        return f->code;
    output_print(&o, "%%%%MatrixMarket matrix coordinate %s %s\n",
                 complex_values ? "complex" : "real",
                 a->symmetry == LIBSOLVER_HERMITIAN ? "hermitian" : "symmetric");
    if (comment)
        output_print(&o, "%% %s\n", comment);
    output_print(&o, "%d %d %lld\n", a->n, a->n, (long long)a->nnz);
    for (int64_t p = 0; p < a->nnz && !o.damaged; p++, value += triplets_width(a)) {
        output_print(&o, "%d %d %.17g", a->rows[p] + 1, a->columns[p] + 1, value[0]);
        if (complex_values)
            output_print(&o, " %.17g", value[1]);
        output_text(&o, "\n", 1);
    }
    return output_close(&o, true, f);
}

int mm_write_vectors(const char *path, int64_t n, int64_t columns, int width, const double *values,
                     failure *f)
{
    output o;
    if (output_open(&o, path, f))
        return f->code;
    output_print(&o, "%%%%MatrixMarket matrix array %s general\n%lld %lld\n",
                 width == 2 ? "complex" : "real", (long long)n, (long long)columns);
    for (int64_t i = 0; i < n * columns * width && !o.damaged; i++)
        output_print(&o, "%.17g%c", values[i], (i + 1) % width == 0 ? '\n' : ' ');
    return output_close(&o, true, f);
}
