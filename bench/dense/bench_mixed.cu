/* bench/dense/bench_mixed.cu: batches of mixed sizes, those of the supernodes of real trees,
 * against what cuBLAS and cuSOLVER have
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Double precision, lower; microseconds a batch.  Beside ours: cublasDtrsmBatched and
 * cusolverDnDpotrfBatched, which want one size, on all items padded to the largest with the
 * identity, where that fits into half of the memory; and a loop of cublasDtrsm or cusolverDnDpotrf.
 * The floor is the bytes of the triangles at the read bandwidth measured first. */
#include "bench/dense/bench.h"
#include "bench/dense/supernode_sizes.h"
#include <cusolverDn.h>

/* What an array on the device holds, freed with it. */
template <typename S> struct on_device {
    S *p = nullptr;

    explicit on_device(size_t count) { CHECK(cudaMalloc(&p, sizeof(S) * (count > 0 ? count : 1))); }
    explicit on_device(const std::vector<S> &v) : on_device(v.size())
    {
        CHECK(cudaMemcpy(p, v.data(), sizeof(S) * v.size(), cudaMemcpyHostToDevice));
        CHECK(cudaDeviceSynchronize()); /* the next kernel is on a stream of its own */
    }
    ~on_device() { CHECK(cudaFree(p)); }
    on_device(const on_device &) = delete;
};

/* Item k: n[k] x n[k] at a[k], n[k] x columns at b[k], leading dimensions lds[k], behind each
 * other. */
__global__ void fill_items(const int64_t *n, double *const *a, double *const *b, const int64_t *lds,
                           int64_t columns)
{
    const int64_t k = blockIdx.x, order = n[k], ld = lds[k];
    for (int64_t e = threadIdx.x; e < ld * ld; e += blockDim.x) {
        const int64_t i = e % ld, j = e / ld;
        const double r = bench_random((uint64_t)(k * 1000003 + i * 1009 + j));
        a[k][e] = i == j                   ? (i < order ? 1.5 + 0.5 * r : 1)
                  : i < order && j < order ? 0.01 * r / sqrt((double)order)
                                           : 0;
    }
    for (int64_t e = threadIdx.x; e < ld * columns; e += blockDim.x)
        b[k][e] =
            e % ld < order ? bench_random((uint64_t)(k * 7919 + e % ld + 4096 * (e / ld) + 1)) : 0;
}

/* A batch as it lies on the device, each item with its own leading dimension or all with one. */
struct items {
    std::vector<int64_t> n, lds, start;
    int64_t columns;
    on_device<double> a, b;
    on_device<int64_t> orders, widths, leading;
    on_device<double *> as, bs;

    static int64_t total(const std::vector<int64_t> &lds, int64_t columns)
    {
        int64_t sum = 0;
        for (int64_t ld : lds)
            sum += ld * (columns > 0 ? columns : ld);
        return sum;
    }
    static std::vector<double *> pointers(double *first, const std::vector<int64_t> &lds,
                                          int64_t columns)
    {
        std::vector<double *> p;
        for (int64_t ld : lds) {
            p.push_back(first);
            first += ld * (columns > 0 ? columns : ld);
        }
        return p;
    }
    items(const std::vector<int64_t> &n, const std::vector<int64_t> &lds, int64_t columns)
        : n(n), lds(lds), columns(columns), a((size_t)total(lds, 0)),
          b((size_t)total(lds, columns)), orders(n),
          widths(std::vector<int64_t>(n.size(), columns)), leading(lds), as(pointers(a.p, lds, 0)),
          bs(pointers(b.p, lds, columns))
    {
    }
    void fill(cudaStream_t stream)
    {
        fill_items<<<(unsigned)n.size(), 256, 0, stream>>>(orders.p, as.p, bs.p, leading.p,
                                                           columns);
        CHECK(cudaGetLastError());
    }
    /* The rows that count of what is on the device: of b, or of the lower triangles of a. */
    std::vector<double> result(cudaStream_t stream, bool of_a) const
    {
        std::vector<double> all((size_t)total(lds, of_a ? 0 : columns)), v;
        CHECK(cudaMemcpyAsync(all.data(), of_a ? a.p : b.p, all.size() * sizeof(double),
                              cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        size_t at = 0;
        for (size_t k = 0; k < n.size(); k++) {
            for (int64_t j = 0; j < (of_a ? n[k] : columns); j++)
                for (int64_t i = of_a ? j : 0; i < n[k]; i++)
                    v.push_back(all[at + (size_t)(i + j * lds[k])]);
            at += (size_t)(lds[k] * (of_a ? lds[k] : columns));
        }
        return v;
    }
    int count() const { return (int)n.size(); }
};

static double worst_difference(const std::vector<double> &x, const std::vector<double> &y)
{
    double worst = x.size() == y.size() ? 0 : INFINITY;
    for (size_t i = 0; i < x.size() && i < y.size(); i++)
        worst = std::max(worst, x[i] == x[i] ? fabs(x[i] - y[i]) : INFINITY);
    return worst;
}

/* One call of each, after a fill, for its result, then its time. */
template <typename Call>
static double measured(cudaStream_t stream, items &m, bool of_a, std::vector<double> &result,
                       Call call, int inner, int repeats)
{
    m.fill(stream);
    call();
    result = m.result(stream, of_a);
    return graph_time(stream, call, inner, repeats);
}

static bool fits(int64_t entries)
{
    size_t free_bytes, all;
    CHECK(cudaMemGetInfo(&free_bytes, &all));
    return (size_t)entries * sizeof(double) < all / 2;
}

struct tree_batch {
    const char *name;
    std::vector<int64_t> n;
    int64_t most;
    double floor; /* us */
};

static void print_line(const tree_batch &t, const char *what, double ours, double padded,
                       double loop, double worst)
{
    const double best = padded > 0 ? std::min(padded, loop) : loop;
    printf("  %-28s %-9s %9.1f", t.name, what, ours);
    if (padded > 0)
        printf(" %12.1f", padded);
    else
        printf(" %12s", "does not fit");
    printf(" %12.1f %8.1f %8.1fx  %.0e\n", loop, t.floor, best / ours, worst);
    fflush(stdout);
}

static void measure_solves(const bench_device &device, const tree_batch &t,
                           libsolver_transpose trans, int64_t columns)
{
    const cudaStream_t stream = device.stream;
    const cublasOperation_t op = trans == LIBSOLVER_NO_TRANSPOSE ? CUBLAS_OP_N : CUBLAS_OP_T;
    const double one = 1;
    const std::vector<int64_t> same(t.n.size(), t.most);
    std::vector<double> x, y, z;
    double padded = 0;
    if (fits(items::total(same, 0) + items::total(same, columns))) {
        items m(t.n, same, columns);
        padded = measured(
            stream, m, false, z,
            [&] {
                CHECK(cublasDtrsmBatched(device.cublas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                                         op, CUBLAS_DIAG_NON_UNIT, (int)t.most, (int)columns, &one,
                                         m.as.p, (int)t.most, m.bs.p, (int)t.most, m.count()));
            },
            1, 3);
    }
    items m(t.n, t.n, columns);
    const std::vector<double *> as = items::pointers(m.a.p, m.lds, 0),
                                bs = items::pointers(m.b.p, m.lds, columns);
    const double loop = measured(
        stream, m, false, y,
        [&] {
            for (size_t k = 0; k < t.n.size(); k++)
                CHECK(cublasDtrsm(device.cublas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, op,
                                  CUBLAS_DIAG_NON_UNIT, (int)t.n[k], (int)columns, &one, as[k],
                                  (int)t.n[k], bs[k], (int)t.n[k]));
        },
        1, 3);
    const auto report = [&](const char *what, auto call) {
        const double ours = measured(stream, m, false, x, call, 10, 9);
        print_line(t, what, ours, padded, loop,
                   std::max(worst_difference(x, y), padded > 0 ? worst_difference(x, z) : 0));
    };
    char what[32];
    snprintf(what, sizeof what, "trsm %c %d", "NT"[trans], (int)columns);
    report(what, [&] {
        CHECK(libsolver_trsm_variable_batched(LIBSOLVER_D, LIBSOLVER_LEFT, LIBSOLVER_LOWER, trans,
                                              LIBSOLVER_NON_UNIT, t.most, columns, m.orders.p,
                                              m.widths.p, (const void *const *)m.as.p, m.leading.p,
                                              (void *const *)m.bs.p, m.leading.p, m.count(),
                                              stream));
    });
    if (columns == 1)
        report(trans == LIBSOLVER_NO_TRANSPOSE ? "trsv N" : "trsv T", [&] {
            CHECK(libsolver_trsv_variable_batched(LIBSOLVER_D, LIBSOLVER_LOWER, trans,
                                                  LIBSOLVER_NON_UNIT, t.most, m.orders.p,
                                                  (const void *const *)m.as.p, m.leading.p,
                                                  (void *const *)m.bs.p, 1, m.count(), stream));
        });
}

static void measure_factors(const bench_device &device, const tree_batch &t)
{
    const cudaStream_t stream = device.stream;
    const std::vector<int64_t> same(t.n.size(), t.most);
    std::vector<double> x, y, z;
    cusolverDnHandle_t handle;
    int bytes = 0;
    CHECK(cusolverDnCreate(&handle));
    CHECK(cusolverDnSetStream(handle, stream));
    on_device<int> info(t.n.size());
    double padded = 0;
    if (fits(items::total(same, 0))) {
        items m(t.n, same, 1);
        padded = measured(
            stream, m, true, z,
            [&] {
                CHECK(cusolverDnDpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, (int)t.most, m.as.p,
                                              (int)t.most, info.p, m.count()));
            },
            1, 3);
    }
    items m(t.n, t.n, 1);
    const std::vector<double *> as = items::pointers(m.a.p, m.lds, 0);
    CHECK(cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, (int)t.most, m.a.p,
                                      (int)t.most, &bytes));
    on_device<double> work((size_t)bytes);
    m.fill(stream);
    const auto every = [&] {
        for (size_t k = 0; k < t.n.size(); k++)
            CHECK(cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, (int)t.n[k], as[k], (int)t.n[k],
                                   work.p, bytes, info.p + k));
    };
    every();
    y = m.result(stream, true);
    const double loop = stream_time(stream, every, 1, 1);
    const double ours = measured(
        stream, m, true, x,
        [&] {
            CHECK(libsolver_potrf_variable_batched(LIBSOLVER_D, LIBSOLVER_LOWER, t.most, m.orders.p,
                                                   (void *const *)m.as.p, m.leading.p, info.p,
                                                   m.count(), stream));
        },
        10, 9);
    print_line(t, "potrf", ours, padded, loop,
               std::max(worst_difference(x, y), padded > 0 ? worst_difference(x, z) : 0));
    const double inverse = measured(
        stream, m, true, x,
        [&] {
            CHECK(libsolver_trtri_variable_batched(LIBSOLVER_D, LIBSOLVER_LOWER, LIBSOLVER_NON_UNIT,
                                                   t.most, m.orders.p, (void *const *)m.as.p,
                                                   m.leading.p, m.count(), stream));
        },
        10, 9);
    printf("  %-28s %-9s %9.1f\n", t.name, "trtri", inverse);
    CHECK(cusolverDnDestroy(handle));
}

int main()
{
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    printf("mixed sizes, double, lower, us; read bandwidth %.2f TB/s\n  %-28s %-9s %9s %12s %12s "
           "%8s  better peer / ours, difference\n",
           device.bandwidth, "tree", "call", "ours", "padded", "loop", "floor");
    for (const tree_sizes &tree : trees) {
        tree_batch t = {tree.name, {}, 0, 0};
        double entries = 0;
        for (int s = 0; s < tree.kinds; s++)
            for (int k = 0; k < tree.sizes[s].count; k++) {
                t.n.push_back(tree.sizes[s].n);
                entries += 0.5 * t.n.back() * (double)(t.n.back() + 1);
            }
        t.most = t.n.back();
        t.floor = entries * 8 / device.bandwidth * 1e-6;
        /* in no order: the same for every run */
        uint64_t state = 1;
        for (size_t k = t.n.size() - 1; k > 0; k--) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            std::swap(t.n[k], t.n[(size_t)(state >> 33) % (k + 1)]);
        }
        for (int64_t columns : {1, 4, 16})
            measure_solves(device, t, LIBSOLVER_NO_TRANSPOSE, columns);
        measure_solves(device, t, LIBSOLVER_TRANSPOSE, 4);
        measure_factors(device, t);
    }
    return 0;
}
