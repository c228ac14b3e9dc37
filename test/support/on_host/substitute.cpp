/* test/support/on_host/substitute.cpp: solves by the kernels of gpu/substitute, and by that of
 * gpu/batch for many items
 * SPDX-License-Identifier: BSD-3-Clause */
#include "on_host.h"
#include "fibers.h"
#include "gpu/batch/many.cuh"

/* An inverse that may be refined: to half of the digits, and marked as to be. */
template <typename T> static void spoil(T *D, int64_t ld, int order, int number)
{
    using R = real_of<T>;
    if (order <= SUBSTITUTE_NARROW || is_refused(D, ld, order))
        return;
    for (int i = 1; i < order; i++)
        for (int j = 0; j < i; j++) {
            const R factor = 1 + ((i + j + number) % 2 ? 1 : -1) * R(sizeof(R) == 8 ? 0x1p-32
                                                                                      : 0x1p-14);
            T &x = D[j + i * ld];
            x = times_real(x, factor);
            if (j == 0 && i == order - 1)
                x = marked(x, true);
        }
}
template <typename T> static void invert(const on_host_solve *s, T *factor)
{
    const device_substitution *t = s->plan;
    const invert_arguments<T> a = {factor, t->block, t->narrow_blocks, t->blocks, t->cholesky != 0};
    const int narrow = (t->narrow_blocks + NARROW_TOGETHER - 1) / NARROW_TOGETHER;
    const block_shape shape = {dim3((unsigned)(narrow + t->blocks - t->narrow_blocks)),
                               TILE_THREADS, INVERT_SHARED<T>, 1};
    run_blocks(shape, s->seed, [&] { invert_diagonal_blocks<T>(a); });
    const auto refuse = [&](int64_t at, int ld, int order) {
        if (order > 1)
            factor[at + (int64_t)(order - 1) * ld] = not_a_number<T>();
    };
    for (int k = 0; s->refuse > 0 && k < t->blocks; k += s->refuse) {
        const substitution_block b = t->block[k];
        constexpr int N = SUBSTITUTE_NARROW;
        refuse(b.at, b.ld, b.order);
        if (k % 4 == 0) /* the second of its small blocks too */
            refuse(b.at + N * (b.ld + 1), b.ld, std::min(N, b.order - N));
    }
    for (int k = 0; s->spoil && k < t->blocks; k++)
        if (t->block[k].large)
            spoil(factor + t->block[k].at, t->block[k].ld, t->block[k].order, k);
}

template <typename T> static substitute_arguments<T> arguments_of(const on_host_solve *s)
{
    substitute_arguments<T> q(*s->plan, s->n);
    q.a.b = static_cast<const T *>(s->b);
    q.a.x = static_cast<T *>(s->x);
    q.a.b_row = q.a.x_row = 1;
    q.a.b_column = q.a.x_column = s->n;
    q.a.scale = static_cast<const real_of<T> *>(s->scale);
    q.a.user_row = s->user_row;
    q.a.n = s->n;
    q.a.columns = s->columns;
    q.a.patience = 2;
    return q;
}

template <typename T, int C> static void solve(const on_host_solve *s)
{
    invert(s, static_cast<T *>(const_cast<void *>(s->plan->factor)));
    const int64_t groups = (s->columns + C - 1) / C;
    std::vector<packet_word> packets((size_t)(s->plan->packets * groups * C * packet<T>::COUNT));
    workspace_head head = {};
    solve_state state = {};
    substitute_arguments<T> q = arguments_of<T>(s);
    q.a.packets = packets.data();
    q.a.state = &state;
    q.head = &head;
    for (int l = 0; l < s->launches; l++) {
        run_blocks({dim3((unsigned)s->blocks), SUBSTITUTE_THREADS, sizeof(substitute_shared<T, C>),
                    1},
                   s->seed + (uint64_t)l, [&] { substitute_kernel<T, C>(q); });
        if (head.ticket != (unsigned long long)(l + 1) << TICKET_BITS)
            device_fault = "the tickets are not ready for the next launch";
    }
}

/* The factor of a matrix becomes that of 4^i times it. */
template <typename T> static void multiply_factor(const device_substitution *t, int64_t n, int i, T *factor)
{
    using R = real_of<T>;
    const R by = std::ldexp(R(1), t->cholesky ? i : 2 * i);
    T *const from = factor + (t->cholesky ? 0 : t->panel_scalars);
    for (int64_t k = 0; k < (t->cholesky ? t->panel_scalars : 2 * n); k++)
        from[k] = times_real(from[k], by);
}

/* Column i with the factor of 4^i times the matrix, then times that, in a list from the last item
 * to the first. */
template <typename T> static void solve_items(const on_host_solve *s)
{
    const device_substitution *t = s->plan;
    const int items = s->columns;
    const int64_t own = t->panel_scalars + 2 * (int64_t)s->n,
                  scalars = (own + 3) / 4 * 4; /* copies of panels want 16 bytes */
    std::vector<T> factor((size_t)(scalars * items));
    std::vector<int32_t> list;
    for (int i = items - 1; i >= 0; i--) {
        memcpy(&factor[(size_t)(i * scalars)], t->factor, (size_t)own * sizeof(T));
        multiply_factor(t, s->n, i, &factor[(size_t)(i * scalars)]);
        list.push_back(i);
    }
    device_substitution first = *t;
    first.factor = factor.data();
    on_host_solve all = *s;
    all.plan = &first;
    const invert_arguments<T> a = {factor.data(), t->block, t->narrow_blocks, t->blocks,
                                   t->cholesky != 0};
    const int each = (t->narrow_blocks + NARROW_TOGETHER - 1) / NARROW_TOGETHER + t->blocks -
                     t->narrow_blocks;
    const int64_t bytes = scalars * (int64_t)sizeof(T);
    run_blocks({dim3((unsigned)(items * each)), TILE_THREADS, INVERT_SHARED<T>, 1}, s->seed,
               [&] { invert_items_blocks<T>(a, list.data(), bytes, each); });
    std::vector<packet_word> packets((size_t)(t->packets * items * packet<T>::COUNT));
    workspace_head head = {};
    solve_state state = {};
    substitute_arguments<T> q = arguments_of<T>(&all);
    q.a.packets = packets.data();
    q.a.state = &state;
    q.a.b_column = q.a.x_column = 0;
    q.head = &head;
    const item_places<T> places = {list.data(),
                                   bytes,
                                   0,
                                   {const_cast<T *>(static_cast<const T *>(s->b)), nullptr, s->n, 1, 0, 0},
                                   {static_cast<T *>(s->x), nullptr, s->n, 1, 0, 0}};
    for (int l = 0; l < s->launches; l++)
        run_blocks({dim3((unsigned)s->blocks), SUBSTITUTE_THREADS, sizeof(substitute_shared<T, 1>),
                    1},
                   s->seed + (uint64_t)l, [&] { substitute_items_kernel<T>(q, places); });
    for (int64_t k = 0; k < (int64_t)s->n * items; k++) {
        T &x = static_cast<T *>(s->x)[k];
        x = times_real(x, std::ldexp(real_of<T>(1), 2 * (int)(k / s->n)));
    }
}

template <typename T> static void solve_typed(const on_host_solve *s)
{
    constexpr int MOST = sizeof(T) > 8 ? SUBSTITUTE_COLUMNS / 2 : SUBSTITUTE_COLUMNS;
    s->items ? solve_items<T>(s) : s->several ? solve<T, MOST>(s) : solve<T, 1>(s);
}

extern "C" const char *on_host_substitute(const on_host_solve *s)
{
    device_fault = nullptr;
    switch (s->type) {
    case LIBSOLVER_S:
        solve_typed<float>(s);
        break;
    case LIBSOLVER_D:
        solve_typed<double>(s);
        break;
    case LIBSOLVER_C:
        solve_typed<complex_s>(s);
        break;
    case LIBSOLVER_Z:
        solve_typed<complex_d>(s);
        break;
    }
    return device_fault;
}
