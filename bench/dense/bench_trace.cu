/* bench/dense/bench_trace.cu: where the time of the one-kernel and the launch-synchronised forms
 * goes  [Hogg 2013, figure 4]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_trace N FILE.svg [cluster]    traces GRID, or CLUSTER, at order N: text for the first and
 * last rows, an SVG bar for every block row
 *
 * First the paper's decomposition of LAUNCHES into its three parts, with k = n/block: `launches`,
 * 2k-1 times an empty kernel in a graph; `blkSolve`, k solves of that order, as it does them, less
 * their launches; `gemv`, the rest.  Beside it the share of the entries that the diagonal blocks
 * have. */
#include "bench/dense/bench.h"
#include "bench/dense/trace_svg.h"
#include <cstring>

__global__ void empty_kernel() {}

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
    CHECK(cudaMalloc(&trace, sizeof(uint64_t) * (size_t)(TRACE_WORDS * rows)));
    CHECK(libsolver_trsv_workspace_init(work, bytes, stream));
    fill_triangle<<<1320, 256, 0, stream>>>(a, n, n, n * n);
    fill_vector<<<32, 256, 0, stream>>>(x, n);
    libsolver_trsv_options o = libsolver_trsv_default_options();
    const auto solve = [&](int64_t order) {
        CHECK(libsolver_trsv(LIBSOLVER_D, LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE,
                             LIBSOLVER_NON_UNIT, order, a, n, x, 1, work, bytes, &o, stream));
    };
    const double launch = graph_time(stream, [&] { empty_kernel<<<1, 32, 0, stream>>>(); });
    printf("LAUNCHES, us in a graph:  block      n    total  blkSolve     gemv  launches  share of "
           "entries\n");
    for (int64_t block : {128, 1024})
        for (int64_t order = std::max<int64_t>(512, block); order <= n; order *= 2) {
            const double blocks = (double)order / (double)block,
                         launches = (2 * blocks - 1) * launch;
            o.form = LIBSOLVER_TRSV_AUTO;
            const double block_solve =
                (graph_time(stream, [&] { solve(block); }) - launch) * blocks;
            o.form = LIBSOLVER_TRSV_LAUNCHES;
            o.block = block;
            const double total = graph_time(stream, [&] { solve(order); });
            printf("                         %6lld %6lld %8.1f  %8.1f %8.1f  %8.1f  %.1f %%\n",
                   (long long)block, (long long)order, total, block_solve,
                   total - block_solve - launches, launches,
                   100. * (double)(block + 1) / (double)(order + 1));
        }
    const bool cluster = argc > 3 && strcmp(argv[3], "cluster") == 0;
    o.form = cluster ? LIBSOLVER_TRSV_CLUSTER : LIBSOLVER_TRSV_GRID;
    if (cluster)
        o.scale_from = INT64_MAX; /* as the automatic choice has it */
    o.trace = trace;
    for (int i = 0; i < 3; i++)
        solve(n);
    std::vector<uint64_t> t((size_t)(TRACE_WORDS * rows));
    CHECK(cudaMemcpyAsync(t.data(), trace, t.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost,
                          stream));
    CHECK(cudaStreamSynchronize(stream));
    printf(
        "%s, n = %lld, ns after row 0 was taken; a row waits for the one above it in `last tile`\n"
        "  row    taken diagonal ready  caught up  last tile   sent  step\n",
        cluster ? "CLUSTER" : "GRID", (long long)n);
    for (int64_t r = 0; r < rows; r++)
        if (r < 12 || r >= rows - 4)
            printf("%5lld %8lld %14lld %10lld %10lld %6lld %5lld\n", (long long)r,
                   (long long)(t[(size_t)(8 * r)] - t[0]),
                   (long long)(t[(size_t)(8 * r + TRACE_DIAGONAL)] - t[0]),
                   (long long)(t[(size_t)(8 * r + TRACE_CAUGHT_UP)] - t[0]),
                   (long long)(t[(size_t)(8 * r + TRACE_LAST_X)] - t[0]),
                   (long long)(t[(size_t)(8 * r + TRACE_SENT)] - t[0]),
                   r > 0 ? (long long)(t[(size_t)(8 * r + TRACE_SENT)] -
                                       t[(size_t)(8 * r - 8 + TRACE_SENT)])
                         : 0);
    const trace_facts facts = {cluster ? "in clusters" : "grid", n, (int)rows};
    return argc > 2 ? trace_svg_store(argv[2], &facts, t.data()) : 0;
}
