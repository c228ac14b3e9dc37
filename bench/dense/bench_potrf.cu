/* bench/dense/bench_potrf.cu: dense Cholesky factorizations beside cuSOLVER's, and a block of 64
 * columns, which is their chain
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_potrf [sdcz] [ORDER]
 *
 * Matrices of order 64 to ORDER (8192), in place: microseconds of libsolver_potrf, lower and upper,
 * and of cuSOLVER's potrf, lower; ours for each panel of 64 columns; the largest difference between
 * entries of both factors, relative to the largest entry.
 *
 * A block: one kernel factorizes a block again and again, from the second-level cache and back to
 * the device's memory, each ready for the next.  Microseconds a block: of the loads and stores
 * alone; of these and cholesky_columns; of these and cholesky_64, which inverts too; and of
 * cuSOLVER's potrf of order 64, back to back and without an inverse.  The largest errors of L L^H
 * and of L X, in units of roundoff. */
#include "bench/dense/bench.h"
#include "dense/cuda/device/cholesky_64.cuh"
#include <cusolverDn.h>

enum { TIMES = 256, COPIES = 64 };
enum work { NOTHING, COLUMNS, ALL };
static const char *const work_name[] = {"loads and stores", "Cholesky by columns",
                                        "Cholesky and inverse"};

template <typename T> struct potrf_arguments {
    const T *a;
    T *l, *x;
    int times;
    work what;
};

template <typename T>
__global__ void __launch_bounds__(CHOLESKY_THREADS)
    factorize_often(const __grid_constant__ potrf_arguments<T> q)
{
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ real_of<T> pivot[TILE];
    __shared__ cholesky_room<T> room;
    constexpr int LD = TILE_LD<T>;
    T *D = reinterpret_cast<T *>(memory), *X = D + TILE_AREA<T>;
    for (int time = 0; time < q.times; time++) {
        T a[TILE_SHARE];
#pragma unroll
        for (int k = 0; k < TILE_SHARE; k++)
            a[k] = q.a[time % COPIES * TILE * TILE + tile_row(k, false) +
                       tile_column(k, false) * TILE];
        tile_put(D, a, false);
        tile_clear(X);
        __syncthreads();
        if (q.what == COLUMNS)
            cholesky_columns<8, true>(D, LD, TILE, TILE, X, LD + 1, LD, pivot, room.grows);
        else if (q.what == ALL)
            cholesky_64(D, TILE, X, room, pivot);
#pragma unroll
        for (int k = 0; k < TILE_SHARE; k++) {
            const int i = tile_row(k, false), j = tile_column(k, false);
            if (i >= j)
                q.l[i + j * TILE] = D[i + j * LD];
            q.x[i + j * TILE] = X[i + j * LD];
        }
        __syncthreads();
    }
}

static void raise(double &most, double error)
{
    if (!(error <= most)) /* not a number stays */
        most = std::isnan(most) ? most : error;
}

/* Errors of l and x in units of roundoff. */
template <typename T>
static void measure_errors(const std::vector<T> &a, const std::vector<T> &l,
                           const std::vector<T> &x, double &factor, double &inverse)
{
    const double eps = sizeof(real_of<T>) == 8 ? 2.2e-16 : 1.2e-7;
    factor = inverse = 0;
    for (int j = 0; j < TILE; j++)
        for (int i = j; i < TILE; i++) {
            T sum = {}, product = {};
            double size = 0, bound = 0;
            for (int k = 0; k <= j; k++) {
                sum = sum + multiply(l[i + k * TILE], conjugate_if(l[j + k * TILE], true));
                size += magnitude(l[i + k * TILE]) * magnitude(l[j + k * TILE]);
            }
            for (int k = j; k <= i; k++) {
                product = product + multiply(l[i + k * TILE], x[k + j * TILE]);
                bound += magnitude(l[i + k * TILE]) * magnitude(x[k + j * TILE]);
            }
            raise(factor, magnitude(sum - a[i + j * TILE]) / size / eps);
            raise(inverse, magnitude(product - from_real<T>(i == j)) / bound / eps);
        }
}

/* cuSOLVER's potrf, lower, for matrices of one order. */
template <typename T> class cusolver_potrf
{
  public:
    cusolver_potrf(cudaStream_t stream, int n, T *a) : n(n), a(a)
    {
        CHECK(cusolverDnCreate(&handle));
        CHECK(cusolverDnSetStream(handle, stream));
        CHECK(cusolverDnCreateParams(&params));
        CHECK(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, a, n,
                                          type, &on_device, &on_host));
        CHECK(cudaMalloc(&work, on_device + 16));
        CHECK(cudaMalloc(&info, sizeof(int)));
        host = malloc(on_host + 16);
    }
    ~cusolver_potrf()
    {
        free(host);
        CHECK(cudaFree(work));
        CHECK(cudaFree(info));
        CHECK(cusolverDnDestroyParams(params));
        CHECK(cusolverDnDestroy(handle));
    }
    cusolver_potrf(const cusolver_potrf &) = delete;
    void run() const
    {
        CHECK(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, a, n, type, work,
                               on_device, host, on_host, info));
    }

  private:
    static constexpr cudaDataType type = type_of<T>::name[0] == 's'   ? CUDA_R_32F
                                         : type_of<T>::name[0] == 'd' ? CUDA_R_64F
                                         : type_of<T>::name[0] == 'c' ? CUDA_C_32F
                                                                      : CUDA_C_64F;
    const int n;
    T *const a;
    cusolverDnHandle_t handle;
    cusolverDnParams_t params;
    size_t on_device, on_host;
    void *work, *host;
    int *info;
};

template <typename T> static void matrices(const bench_device &d, int most)
{
    for (int n = TILE; n <= most; n = n < 256 ? 2 * n : n % 3 ? n / 2 * 3 : n / 3 * 4) {
        const size_t bytes = (size_t)n * (size_t)n * sizeof(T);
        const int64_t room = libsolver_potrf_workspace_bytes(type_of<T>::value, n);
        T *given, *a;
        void *workspace;
        int *info, found[2] = {};
        CHECK(cudaMalloc(&given, bytes));
        CHECK(cudaMalloc(&a, bytes));
        CHECK(cudaMalloc(&workspace, (size_t)room));
        CHECK(cudaMalloc(&info, sizeof(int)));
        fill_definite<<<1024, 256, 0, d.stream>>>(given, n);
        const auto copy = [&] {
            CHECK(cudaMemcpyAsync(a, given, bytes, cudaMemcpyDeviceToDevice, d.stream));
        };
        const int inner = n > 2048 ? 3 : 20;
        const double copying = stream_time(d.stream, copy, inner);
        double ours[2];
        std::vector<T> l((size_t)n * (size_t)n), other(l.size());
        for (int upper = 1; upper >= 0; upper--) {
            ours[upper] = stream_time(
                              d.stream,
                              [&] {
                                  copy();
                                  CHECK(libsolver_potrf(type_of<T>::value,
                                                        upper ? LIBSOLVER_UPPER : LIBSOLVER_LOWER,
                                                        n, a, n, info, workspace, room, d.stream));
                              },
                              inner) -
                          copying;
            CHECK(cudaMemcpy(&found[upper], info, sizeof(int), cudaMemcpyDeviceToHost));
        }
        CHECK(cudaMemcpy(l.data(), a, bytes, cudaMemcpyDeviceToHost));
        const cusolver_potrf<T> peer(d.stream, n, a);
        const double theirs = stream_time(
                                  d.stream,
                                  [&] {
                                      copy();
                                      peer.run();
                                  },
                                  inner) -
                              copying;
        CHECK(cudaMemcpy(other.data(), a, bytes, cudaMemcpyDeviceToHost));
        double difference = 0;
        for (size_t j = 0; j < (size_t)n; j++)
            for (size_t i = j; i < (size_t)n; i++)
                raise(difference, magnitude(l[i + j * (size_t)n] - other[i + j * (size_t)n]));
        printf("%c potrf n = %5d: %8.1f us lower, %8.1f upper, cuSOLVER %8.1f: %5.2f x; %5.2f us a "
               "panel, %6.2f TF; info %d %d, difference %.1e\n",
               type_of<T>::name[0], n, ours[0], ours[1], theirs, theirs / ours[0],
               ours[0] / (n / TILE),
               (scalar<T>::is_complex ? 4. : 1.) * n * n * (double)n / 3 / ours[0] * 1e-6, found[0],
               found[1], difference / 1.7);
        fflush(stdout);
        for (void *p : {(void *)given, (void *)a, workspace, (void *)info})
            CHECK(cudaFree(p));
    }
}

template <typename T> static void table(const bench_device &d)
{
    const size_t all = TILE * TILE;
    std::vector<T> b(all), a(all), many(all * COPIES), l(all), x(all);
    uint64_t state = 7;
    auto next = [&] {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (real_of<T>)((double)(int64_t)(state >> 11) / (double)(1ll << 52) - 1);
    };
    for (T &v : b) {
        v = from_real<T>(next());
        if constexpr (scalar<T>::is_complex)
            v.im = next();
    }
    for (size_t j = 0; j < TILE; j++)
        for (size_t i = 0; i < TILE; i++) {
            T sum = from_real<T>(i == j);
            for (size_t k = 0; k < TILE; k++)
                sum = sum + multiply(b[i + k * TILE], conjugate_if(b[j + k * TILE], true));
            a[i + j * TILE] = sum;
        }
    for (size_t c = 0; c < COPIES; c++)
        std::copy(a.begin(), a.end(), many.begin() + (ptrdiff_t)(c * all));
    T *da, *dl, *dx;
    CHECK(cudaMalloc(&da, many.size() * sizeof(T)));
    CHECK(cudaMalloc(&dl, all * sizeof(T)));
    CHECK(cudaMalloc(&dx, all * sizeof(T)));
    CHECK(cudaMemcpy(da, many.data(), many.size() * sizeof(T), cudaMemcpyHostToDevice));
    const int shared = 2 * (int)sizeof(T) * TILE_AREA<T>;
    CHECK(cudaFuncSetAttribute(factorize_often<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               shared));
    for (work what : {NOTHING, COLUMNS, ALL}) {
        auto run = [&](int times) {
            factorize_often<T>
                <<<1, CHOLESKY_THREADS, shared, d.stream>>>({da, dl, dx, times, what});
            CHECK(cudaGetLastError());
        };
        const double most = stream_time(
                         d.stream, [&] { run(2 * TIMES); }, 2),
                     least = stream_time(d.stream, [&] { run(TIMES); }, 2);
        double factor = 0, inverse = 0;
        CHECK(cudaMemcpy(l.data(), dl, all * sizeof(T), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(x.data(), dx, all * sizeof(T), cudaMemcpyDeviceToHost));
        if (what == ALL)
            measure_errors(a, l, x, factor, inverse);
        printf("%c %-24s %6.2f us", type_of<T>::name[0], work_name[what], (most - least) / TIMES);
        if (what == ALL)
            printf("   L L^H %.1f eps, L X %.1f eps", factor, inverse);
        printf("\n");
    }
    CHECK(cudaMemcpy(da, a.data(), all * sizeof(T), cudaMemcpyHostToDevice));
    const cusolver_potrf<T> peer(d.stream, TILE, da);
    printf("%c %-24s %6.2f us\n", type_of<T>::name[0], "cuSOLVER potrf",
           stream_time(d.stream, [&] { peer.run(); }));
    for (T *p : {da, dl, dx})
        CHECK(cudaFree(p));
}

int main(int argc, char **argv)
{
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    const int most = argc > 2 ? atoi(argv[2]) : 8192;
    const auto both = [&](auto zero) {
        table<decltype(zero)>(device);
        matrices<decltype(zero)>(device, most);
    };
    for (const char *t = argc > 1 ? argv[1] : "d"; *t != '\0'; t++) {
        if (*t == 's')
            both(float{});
        else if (*t == 'd')
            both(double{});
        else if (*t == 'c')
            both(complex_s{});
        else if (*t == 'z')
            both(complex_d{});
    }
    return 0;
}
