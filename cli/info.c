/* cli/info.c: `libsolver info`, what this build contains, found by asking the library
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"

/* Factorizes the 1 x 1 matrix [1]: the status tells whether what the options ask for is built. */
static libsolver_status probe(libsolver_type type, const libsolver_options *options, int *threads)
{
    const int32_t pointers[] = {0, 1}, index = 0;
    const double one_double[] = {1, 0};
    const float one_float[] = {1, 0};
    const bool single = type == LIBSOLVER_S || type == LIBSOLVER_C;
    libsolver_matrix a = {.n = 1,
                          .pointers = pointers,
                          .indices = &index,
                          .values = single ? (const void *)one_float : (const void *)one_double,
                          .type = type};
    libsolver_factor *factor = NULL;
    libsolver_factor_info facts;
    libsolver_status status = libsolver_factor_matrix(&a, options, &factor);
    if (status == LIBSOLVER_OK && threads) {
        libsolver_info(factor, &facts);
        *threads = facts.threads;
    }
    libsolver_factor_free(factor);
    return status;
}

static void print_built(const char *title, const char *const *names, const bool *built, int count)
{
    printf("%-11s", title);
    for (int k = 0; k < count; k++)
        printf("%s%s%s", k ? ", " : "", names[k], built[k] ? "" : " (not in this build)");
    putchar('\n');
}

static void print_devices(void)
{
    libsolver_device devices[16];
    int count = 0;
    libsolver_status status = libsolver_devices(16, devices, &count);
    printf("%-11s", "devices");
    if (status < 0 || count == 0)
        printf("%s\n", status == LIBSOLVER_NOT_BUILT ? "none (built without CUDA)"
                       : status < 0                  ? libsolver_context_message(NULL)
                                                     : "none found");
    for (int k = 0; k < count && k < 16; k++)
        printf("%s%d: %s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n",
               k ? "           " : "", k, devices[k].name, devices[k].compute_major,
               devices[k].compute_minor, devices[k].multiprocessors,
               (double)devices[k].bytes / (1 << 30));
}

int command_info(const settings *s, failure *f)
{
    static const char *const precisions[] = {"real double (d)", "real single (s)",
                                             "complex double (z)", "complex single (c)"};
    static const char *const backends[] = {"CPU", "GPU"};
    static const char *const orderings[] = {"AMD", "nested dissection", "METIS", "natural"};
    bool built[4];
    int threads = 0;
    libsolver_options options;
    libsolver_options_default(&options);
    (void)s;

    printf("libsolver  %s\n", libsolver_version());
    for (int type = 0; type < 4; type++)
        built[type] = probe((libsolver_type)type, &options, &threads) != LIBSOLVER_NOT_BUILT;
    print_built("precisions", precisions, built, 4);
    for (int k = 0; k < 4; k++) {
        options.ordering = (libsolver_ordering)(LIBSOLVER_ORDERING_AMD + k);
        built[k] = probe(LIBSOLVER_D, &options, NULL) != LIBSOLVER_NOT_BUILT;
    }
    print_built("orderings", orderings, built, 4);
    options.ordering = LIBSOLVER_ORDERING_AUTO;
    for (int k = 0; k < 2; k++) {
        options.backend = (libsolver_backend)(LIBSOLVER_BACKEND_CPU + k);
        built[k] = probe(LIBSOLVER_D, &options, NULL) != LIBSOLVER_NOT_BUILT;
    }
    print_built("backends", backends, built, 2);
    printf("threads    %d\n", threads);
    print_devices();
    return f->code;
}
