/* test/support/on_host/kernels.cpp: what is PTX on a device, for the host, and launches
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fibers.h"
#include <atomic>
#include <cfloat>
#include <type_traits>

static size_t __cvta_generic_to_shared(const void *at)
{
    return reinterpret_cast<size_t>(at);
}

#include "device_code.h"
#include "on_host.h"

static std::atomic<const char *> fault;

/* ---- What is PTX ----------------------------------------------------------------------------- */

float choose(bool yes, float a, float b)
{
    return yes ? a : b;
}
double choose(bool yes, double a, double b)
{
    return yes ? a : b;
}
double quick_reciprocal(double a)
{
    return 1 / a;
}
unsigned long long now_ns() /* time stands still: nobody gives up */
{
    return 1;
}

void multiply_16x8x8(double (&c)[4], const double (&a)[4], const double (&b)[2])
{
    lanes &w = this_warp();
    const int lane = lane_number();
    memcpy(w.part[lane], a, sizeof a);
    memcpy(w.part[lane] + 4, b, sizeof b);
    meet_lanes();
    for (int e = 0; e < 4; e++) {
        const int i = lane / 4 + 8 * (e / 2), j = 2 * (lane % 4) + e % 2;
        for (int k = 0; k < 8; k++)
            c[e] += w.part[i % 8 * 4 + k % 4][i / 8 + 2 * (k / 4)] * w.part[j * 4 + k % 4][4 + k / 4];
    }
    meet_lanes();
}

packet_word packet_word_load(const packet_word *p)
{
    const unsigned long long epoch = __atomic_load_n(&p->epoch, __ATOMIC_ACQUIRE);
    return {__atomic_load_n(&p->value, __ATOMIC_RELAXED), epoch};
}
packet_word packet_word_load_if(bool wanted, const packet_word *p)
{
    return wanted ? packet_word_load(p) : packet_word{};
}
void packet_word_store(packet_word *p, packet_word v)
{
    if (p->epoch == v.epoch)
        fault = "a packet is sent twice";
    __atomic_store_n(&p->value, v.value, __ATOMIC_RELAXED);
    __atomic_store_n(&p->epoch, v.epoch, __ATOMIC_RELEASE);
}
template <typename T>
bool packet_arrived(const packet_word *packets, int i, unsigned long long epoch)
{
    take_turns();
    return packet_word_load(packets + (int64_t)i * packet<T>::COUNT).epoch == epoch;
}

void inbox_open(uint64_t *barrier)
{
    this_block->barrier[barrier] = {};
}
static void end_phase(copy_barrier &b)
{
    if (b.is_open && b.come == b.expected)
        b = {0, 0, b.phase + 1, false};
}
void inbox_expect(uint64_t *barrier, unsigned bytes)
{
    copy_barrier &b = this_block->barrier.at(barrier);
    if (b.is_open)
        fault = "a barrier expects bytes twice";
    b.is_open = true;
    b.expected = bytes;
    end_phase(b);
}
/* It comes when it is waited for; until then there are no numbers. */
void inbox_copy(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
    if (reinterpret_cast<size_t>(to) % 16 || reinterpret_cast<size_t>(from) % 16 || bytes % 16)
        fault = "a copy is not aligned";
    memset(to, 0xff, bytes);
    this_block->copies.push_back({to, from, bytes, barrier});
}
void inbox_wait(const uint64_t *barrier, unsigned phase)
{
    copy_barrier &b = this_block->barrier.at(barrier);
    while (b.phase % 2 == phase) {
        std::vector<begun_copy> others;
        for (const begun_copy &c : this_block->copies)
            if (c.barrier == barrier) {
                memcpy(c.to, c.from, c.bytes);
                b.come += c.bytes;
            } else {
                others.push_back(c);
            }
        this_block->copies.swap(others);
        end_phase(b);
        if (b.phase % 2 == phase)
            take_turns();
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename T> static void invert(const on_host_solve *s, T *factor)
{
    const device_substitution *t = s->plan;
    const invert_arguments<T> a = {factor, t->block, t->narrow_blocks, t->blocks, t->cholesky != 0};
    const int narrow = (t->narrow_blocks + NARROW_TOGETHER - 1) / NARROW_TOGETHER;
    run_blocks(narrow + t->blocks - t->narrow_blocks, TILE_THREADS, INVERT_SHARED<T>, s->seed,
               [&] { invert_diagonal_blocks<T>(a); });
    for (int k = 0; s->refuse > 0 && k < t->blocks; k += s->refuse)
        factor[t->block[k].at + (int64_t)(t->block[k].order - 1) * t->block[k].ld] =
            not_a_number<T>();
}

template <typename T> static substitute_arguments<T> arguments_of(const on_host_solve *s)
{
    const device_substitution *t = s->plan;
    substitute_arguments<T> q = {};
    q.a.b = static_cast<const T *>(s->b);
    q.a.x = static_cast<T *>(s->x);
    q.a.b_row = q.a.x_row = 1;
    q.a.b_column = q.a.x_column = s->n;
    q.a.scale = static_cast<const real_of<T> *>(s->scale);
    q.a.user_row = s->user_row;
    q.a.n = s->n;
    q.a.columns = s->columns;
    q.a.patience = 2;
    q.panel = static_cast<const T *>(t->factor);
    q.d = q.panel + t->panel_scalars;
    q.e = q.d + s->n;
    q.node = t->node;
    q.row = t->row;
    q.source_start = t->source_start;
    q.source = t->source;
    q.table = t->table;
    q.copy = t->copy;
    q.task = t->task;
    q.packets = t->packets;
    q.forward_tasks = t->forward_tasks;
    q.tasks = t->tasks;
    q.hermitian = t->hermitian;
    q.cholesky = t->cholesky;
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
        run_blocks(s->blocks, SUBSTITUTE_THREADS, sizeof(substitute_shared<T, C>),
                   s->seed + (uint64_t)l, [&] { substitute_kernel<T, C>(q); });
        if (head.ticket != (unsigned long long)(l + 1) << TICKET_BITS)
            fault = "the tickets are not ready for the next launch";
    }
}

template <typename T> static void solve_typed(const on_host_solve *s)
{
    constexpr int MOST = sizeof(T) > 8 ? SUBSTITUTE_COLUMNS / 2 : SUBSTITUTE_COLUMNS;
    s->several ? solve<T, MOST>(s) : solve<T, 1>(s);
}

extern "C" const char *on_host_substitute(const on_host_solve *s)
{
    fault = nullptr;
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
    return fault;
}
