/* cli/info.c: `libsolver info`, what this build contains, found by asking the library
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "json.h"
#include "libsolver_dense.h"
#include "output.h"
#include "report.h"
#include <stdio.h>

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

/* What is asked for one after the other: precisions, orderings, backends. */
#define NAMES 4
typedef struct list {
    const char *title;
    int count;
    const char *names[NAMES], *keys[NAMES]; /* in the report, in JSON */
    bool built[NAMES];
} list;

typedef struct facts {
    list precisions, orderings, backends;
    int threads;
    libsolver_status gpu_code_status, devices_status;
    libsolver_gpu_code gpu_code;
    int cublas; /* version, see libsolver_dense.h */
    int device_count;
    libsolver_device devices[MOST_DEVICES];
} facts;

static void find_facts(facts *w)
{
    libsolver_options options;
    *w = (facts){.precisions = {"precisions",
                                4,
                                {"real double (d)", "real single (s)", "complex double (z)",
                                 "complex single (c)"},
                                {"d", "s", "z", "c"},
                                {false}},
                 .orderings = {"orderings",
                               4,
                               {"AMD", "nested dissection", "METIS", "natural"},
                               {"amd", "nd", "metis", "natural"},
                               {false}},
                 .backends = {"backends", 2, {"CPU", "GPU"}, {"cpu", "gpu"}, {false}}};
    libsolver_options_default(&options);
    for (int type = 0; type < 4; type++)
        w->precisions.built[type] =
            probe((libsolver_type)type, &options, &w->threads) != LIBSOLVER_NOT_BUILT;
    for (int k = 0; k < 4; k++) {
        options.ordering = (libsolver_ordering)(LIBSOLVER_ORDERING_AMD + k);
        w->orderings.built[k] = probe(LIBSOLVER_D, &options, NULL) != LIBSOLVER_NOT_BUILT;
    }
    options.ordering = LIBSOLVER_ORDERING_AUTO;
    for (int k = 0; k < 2; k++) {
        options.backend = (libsolver_backend)(LIBSOLVER_BACKEND_CPU + k);
        w->backends.built[k] = probe(LIBSOLVER_D, &options, NULL) != LIBSOLVER_NOT_BUILT;
    }
    w->cublas = libsolver_dense_cublas_version();
    w->gpu_code_status = libsolver_gpu_code_query(&w->gpu_code);
    w->devices_status = libsolver_devices(MOST_DEVICES, w->devices, &w->device_count);
    w->device_count = w->devices_status < 0 ? 0 : w->device_count;
    w->device_count = w->device_count > MOST_DEVICES ? MOST_DEVICES : w->device_count;
}

static void print_list(const list *l)
{
    printf("%-11s", l->title);
    for (int k = 0; k < l->count; k++)
        printf("%s%s%s", k ? ", " : "", l->names[k], l->built[k] ? "" : " (not available)");
    putchar('\n');
}

static void print_devices(const facts *w)
{
    const libsolver_device *d = w->devices;
    const bool is_uncountable = w->gpu_code_status >= 0 && w->devices_status < 0;
    printf("%-11s", "devices");
    if (w->device_count == 0)
        printf("none%s%s\n", is_uncountable ? ": " : " found",
               is_uncountable ? libsolver_context_message(NULL) : "");
    for (int k = 0; k < w->device_count; k++)
        printf("%s%d: %s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n",
               k ? "           " : "", k, d[k].name, d[k].compute_major, d[k].compute_minor,
               d[k].multiprocessors, (double)d[k].bytes / (1 << 30));
}

/* "13.0" of 13000 */
static const char *cuda_version(int version, char (*text)[16])
{
    snprintf(*text, sizeof *text, "%d.%d", version / 1000, version % 1000 / 10);
    return *text;
}

/* "13.1.0" of 130100; NULL: there is none */
static const char *cublas_version(int version, char (*text)[16])
{
    snprintf(*text, sizeof *text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    return version > 0 ? *text : NULL;
}

/* What there is for GPUs, whatever devices there are. */
static void print_gpu_code(const facts *w)
{
    char toolkit[16], driver[16], cublas[16];
    printf("GPU code   ");
    if (w->gpu_code_status < 0)
        printf("none: %s\n", libsolver_context_message(NULL));
    else
        printf("%s, by CUDA %s; %s%s\n", w->gpu_code.architectures,
               cuda_version(w->gpu_code.toolkit, &toolkit),
               w->gpu_code.driver ? "the driver is for CUDA " : "no driver",
               w->gpu_code.driver ? cuda_version(w->gpu_code.driver, &driver) : "");
    const char *version = cublas_version(w->cublas, &cublas);
    printf("cuBLAS     %s%s\n", version ? version : "none: ",
           version ? ", for contexts of libsolver_dense.h alone" : libsolver_dense_message());
}

static void print_facts(const facts *w)
{
    printf("libsolver  %s\n", libsolver_version());
    print_list(&w->precisions);
    print_list(&w->orderings);
    print_list(&w->backends);
    printf("threads    %d\n", w->threads);
    printf("processor  %s kernels\n", libsolver_instruction_set());
    printf("BLAS       none is called: products are libsolver's own\n");
    print_gpu_code(w);
    print_devices(w);
}

static void write_list(const list *l, json *j)
{
    json_open(j, l->title);
    for (int k = 0; k < l->count; k++)
        json_boolean(j, l->keys[k], l->built[k]);
    json_close(j);
}

static void write_gpu_code(const facts *w, json *j)
{
    const bool is_there = w->gpu_code_status >= 0;
    char text[16];
    json_open(j, "gpu_code");
    json_string(j, "architectures", is_there ? w->gpu_code.architectures : NULL);
    json_string(j, "toolkit", is_there ? cuda_version(w->gpu_code.toolkit, &text) : NULL);
    json_string(j, "driver",
                is_there && w->gpu_code.driver ? cuda_version(w->gpu_code.driver, &text) : NULL);
    json_string(j, "cublas", cublas_version(w->cublas, &text));
    json_close(j);
}

static void write_facts(const facts *w, json *j)
{
    json_open(j, NULL);
    json_schema("info", j);
    write_list(&w->precisions, j);
    write_list(&w->orderings, j);
    write_list(&w->backends, j);
    json_integer(j, "threads", w->threads);
    json_string(j, "instruction_set", libsolver_instruction_set());
    json_string(j, "blas", NULL); /* none is called */
    write_gpu_code(w, j);
    json_open_list(j, "devices");
    for (int k = 0; k < w->device_count; k++) {
        const libsolver_device *d = &w->devices[k];
        json_open_item(j);
        json_string(j, "name", d->name);
        json_integer(j, "compute_major", d->compute_major);
        json_integer(j, "compute_minor", d->compute_minor);
        json_integer(j, "multiprocessors", d->multiprocessors);
        json_integer(j, "bytes", (int64_t)d->bytes);
        json_close(j);
    }
    json_close_list(j);
    json_close(j);
    json_end_line(j);
}

int command_info(const settings *s, failure *f)
{
    facts w;
    json line = {0};
    find_facts(&w);
    if (!s->json || !output_is_printed(s->json))
        print_facts(&w);
    if (!s->json)
        return f->code;
    write_facts(&w, &line);
    json_store(&line, s->json, f);
    return f->code;
}
