/* bench/dense/bench_host_trsv.c: dtrsv of a BLAS on the host, for the pictures that compare
 * processors  [Hogg 2013, figures 9 and 10]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_host_trsv LIBRARY [N,N,...] [FILE.csv]    LIBRARY: a shared library with dtrsv_ of 32-bit
 * integers, such as libmkl_rt.so or libopenblas.so; its own variables say how many threads it takes
 *
 * A row for each order and op: microseconds of a solve (the median of at least 9 and of half a
 * second, in place, so that what fits into the caches is there), GB/s of the triangle read once,
 * and the largest entry of b - op(A) x against plain loops, relative to that of b. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void trsv_call(const char *uplo, const char *trans, const char *diag, const int *n,
                       const double *a, const int *lda, double *x, const int *incx);

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

/* Uniform in [-1, 1), the same for each k: of a multiplicative hash. */
static double entry(uint64_t k)
{
    return (double)((k + 1) * 0x9e3779b97f4a7c15u >> 11) * 0x1p-52 - 1;
}

/* As fill_triangle of bench.h: small entries below a diagonal of +-1, so that thousands of solves
 * in place neither grow nor vanish. */
static void fill(int64_t n, double *a)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            const double r = entry((uint64_t)(i + j * n));
            a[i + j * n] = i == j ? (r < 0 ? -1. : 1.) : 0.01 * r / sqrt((double)n);
        }
}

static double residual(int64_t n, const double *a, int transposed, const double *x, const double *b)
{
    double *left = malloc((size_t)n * sizeof *left), most = 0, largest = 0;
    if (left == NULL)
        return NAN;
    memcpy(left, b, (size_t)n * sizeof *left);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            left[transposed ? j : i] -= a[i + j * n] * x[transposed ? i : j];
    for (int64_t i = 0; i < n; i++) {
        most = isnan(left[i]) ? INFINITY : fmax(most, fabs(left[i]));
        largest = fmax(largest, fabs(b[i]));
    }
    free(left);
    return most / largest;
}

enum { MOST_RUNS = 2000 };

static int row(trsv_call *trsv, int n, FILE *csv)
{
    double *a = malloc((size_t)n * (size_t)n * sizeof *a), *x = malloc((size_t)n * sizeof *x),
           *b = malloc((size_t)n * sizeof *b);
    static double time[MOST_RUNS];
    const int one = 1;
    int failed = a == NULL || x == NULL || b == NULL;
    if (!failed)
        fill(n, a);
    for (int op = 0; op < 2 && !failed; op++) {
        int runs = 0;
        for (int i = 0; i < n; i++)
            x[i] = b[i] = entry((uint64_t)i + 999);
        trsv("L", op ? "T" : "N", "N", &n, a, &n, x, &one);
        const double error = residual(n, a, op, x, b), begin = seconds();
        while (runs < 9 || (runs < MOST_RUNS && seconds() - begin < .5)) {
            const double start = seconds();
            trsv("L", op ? "T" : "N", "N", &n, a, &n, x, &one);
            time[runs++] = 1e6 * (seconds() - start);
        }
        qsort(time, (size_t)runs, sizeof *time, by_value);
        const double us = time[runs / 2], bytes = .5 * n * (n + 1.) * sizeof *a;
        printf("%c %6d %10.2f us %8.1f GB/s   residual %.0e\n", op ? 'T' : 'N', n, us,
               1e-3 * bytes / us, error);
        fflush(stdout);
        if (csv != NULL)
            fprintf(csv, "%c,%d,%.3f\n", op ? 'T' : 'N', n, us);
        failed = !(error < 1e-12);
    }
    free(a);
    free(x);
    free(b);
    return failed;
}

int main(int argc, char **argv)
{
    const char *orders = argc > 2 ? argv[2] : "32,64,128,256,512,1024,2048,4096,8192,16384";
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    trsv_call *trsv;
    void *found = library != NULL ? dlsym(library, "dtrsv_") : NULL;
    FILE *csv = argc > 3 ? fopen(argv[3], "w") : NULL;
    int failed = 0;
    if (found == NULL) {
        fprintf(stderr, "usage: bench_host_trsv LIBRARY [N,N,...] [FILE.csv]\n%s\n",
                argc > 1 ? dlerror() : "");
        return 1;
    }
    memcpy(&trsv, &found, sizeof trsv); /* ISO C has no cast from objects to functions */
    if (csv != NULL)
        fprintf(csv, "op,n,us\n");
    for (const char *at = orders; *at != '\0' && !failed;) {
        char *end;
        failed = row(trsv, (int)strtol(at, &end, 10), csv);
        at = *end == ',' ? end + 1 : end;
    }
    if (failed)
        fprintf(stderr, "out of memory, or a solution that does not solve\n");
    if (csv != NULL)
        fclose(csv);
    return failed;
}
