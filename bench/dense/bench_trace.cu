/* bench/dense/bench_trace.cu: where the time of the one-kernel and the launch-synchronised forms goes  [paper
 * 000, figure 4]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_trace N FILE.svg [cluster]    traces GRID, or CLUSTER, at order N: text for the first and last rows,
 * an SVG bar for every block row
 *
 * First the paper's decomposition of LAUNCHES into its three parts, with k = n/128: `launches`, 2 k - 1 times an
 * empty kernel in a graph; `blkSolve`, k solves of order 128 less their launches; `gemv`, the rest.  Beside it the
 * share of the entries that the diagonal blocks have. */
#include "bench/dense/bench.h"
#include <cstring>

/* The words that dense/cuda/rows.cuh writes for a block row. */
enum { START, DIAGONAL, CAUGHT_UP, LAST_X, SENT, WORDS = 8 };
static const char *const phases[] = {"diagonal block", "tiles left of the last", "last tile",
                                     "diagonal step"};
static const char *const colours[] = {"#b8b8b8", "#7fb2e5", "#e5a84f", "#c0504d"};

__global__ void empty_kernel() {}

static void draw(const char *path, int64_t n, const std::vector<uint64_t> &t)
{
    const int rows = (int)(t.size() / WORDS), width = 900, bar = std::max(2, 560 / rows);
    uint64_t first = UINT64_MAX, last = 0;
    for (int r = 0; r < rows; r++) {
        first = std::min(first, t[(size_t)(WORDS * r + START)]);
        last = std::max(last, t[(size_t)(WORDS * r + SENT)]);
    }
    const double scale = (width - 80) / (double)(last - first);
    FILE *f = fopen(path, "w");
    if (f == nullptr)
        return;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, rows * bar + 90);
    for (int p = 0; p < 4; p++)
        fprintf(f,
                "<rect x=\"%d\" y=\"8\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" "
                "y=\"18\">%s</text>\n",
                60 + 190 * p, colours[p], 78 + 190 * p, phases[p]);
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < 4; p++) {
            const uint64_t from = t[(size_t)(WORDS * r + p)], to = t[(size_t)(WORDS * r + p + 1)];
            fprintf(f, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
                    60 + scale * (double)(from - first), 36 + r * bar, scale * (double)(to - from), bar,
                    colours[p]);
        }
    fprintf(f,
            "<text x=\"8\" y=\"48\">row 0</text><text x=\"8\" y=\"%d\">%d</text>\n"
            "<text x=\"60\" y=\"%d\">0</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.1f us</text>\n"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">block rows of 64, n = %lld</text></svg>\n",
            36 + rows * bar, rows - 1, 56 + rows * bar, width - 20, 56 + rows * bar,
            (double)(last - first) * 1e-3, width / 2, 74 + rows * bar, (long long)n);
    fclose(f);
}

int main(int argc, char **argv)
{
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    const cudaStream_t stream = device.stream;
    const int64_t n = argc > 1 ? strtoll(argv[1], nullptr, 10) : 4096, rows = (n + 63) / 64;
    double *a, *x;
    char *work;
    uint64_t *trace;
    const int64_t bytes = libsolver_trsv_workspace_bytes(n);
    CHECK(cudaMalloc(&a, sizeof(double) * (size_t)(n * n)));
    CHECK(cudaMalloc(&x, sizeof(double) * (size_t)n));
    CHECK(cudaMalloc(&work, (size_t)bytes));
    CHECK(cudaMalloc(&trace, sizeof(uint64_t) * (size_t)(WORDS * rows)));
    CHECK(libsolver_trsv_workspace_init(work, bytes, stream));
    fill_triangle<<<1320, 256, 0, stream>>>(a, n, n, n * n);
    fill_vector<<<32, 256, 0, stream>>>(x, n);
    libsolver_trsv_options o = libsolver_trsv_default_options();
    const auto solve = [&](int64_t order) {
        CHECK(libsolver_trsv(LIBSOLVER_D, LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT, order,
                             a, n, x, 1, work, bytes, &o, stream));
    };
    const double launch = graph_time(stream, [&] { empty_kernel<<<1, 32, 0, stream>>>(); });
    printf("LAUNCHES, us in a graph:      n    total  blkSolve     gemv  launches  share of entries\n");
    for (int64_t order = 512; order <= n; order *= 2) {
        const double blocks = (double)order / 128, launches = (2 * blocks - 1) * launch;
        o.form = LIBSOLVER_TRSV_PANELS;
        const double block_solve = (graph_time(stream, [&] { solve(128); }) - launch) * blocks;
        o.form = LIBSOLVER_TRSV_LAUNCHES;
        const double total = graph_time(stream, [&] { solve(order); });
        printf("                         %6lld %8.1f  %8.1f %8.1f  %8.1f  %.1f %%\n", (long long)order, total,
               block_solve, total - block_solve - launches, launches, 12900. / (double)order);
    }
    const bool cluster = argc > 3 && strcmp(argv[3], "cluster") == 0;
    o.form = cluster ? LIBSOLVER_TRSV_CLUSTER : LIBSOLVER_TRSV_GRID;
    if (cluster)
        o.scale_from = INT64_MAX; /* as the automatic choice has it */
    o.trace = trace;
    for (int i = 0; i < 3; i++)
        solve(n);
    std::vector<uint64_t> t((size_t)(WORDS * rows));
    CHECK(cudaMemcpyAsync(t.data(), trace, t.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%s, n = %lld, ns after row 0 was taken; a row waits for the one above it in `last tile`\n"
           "  row    taken diagonal ready  caught up  last tile   sent  step\n",
           cluster ? "CLUSTER" : "GRID", (long long)n);
    for (int64_t r = 0; r < rows; r++)
        if (r < 12 || r >= rows - 4)
            printf("%5lld %8lld %14lld %10lld %10lld %6lld %5lld\n", (long long)r,
                   (long long)(t[(size_t)(8 * r)] - t[0]), (long long)(t[(size_t)(8 * r + DIAGONAL)] - t[0]),
                   (long long)(t[(size_t)(8 * r + CAUGHT_UP)] - t[0]),
                   (long long)(t[(size_t)(8 * r + LAST_X)] - t[0]),
                   (long long)(t[(size_t)(8 * r + SENT)] - t[0]),
                   r > 0 ? (long long)(t[(size_t)(8 * r + SENT)] - t[(size_t)(8 * r - 8 + SENT)]) : 0);
    if (argc > 2)
        draw(argv[2], n, t);
    return 0;
}
