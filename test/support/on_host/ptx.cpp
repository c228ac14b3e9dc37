/* test/support/on_host/ptx.cpp: what is PTX on a device, for the host
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fibers.h"
#include "cuda_runtime.h"
#include "cuda_pipeline_primitives.h"
#include "dense/cuda/device/cholesky_64.cuh"
#include "dense/cuda/device/cluster.cuh"
#include "dense/cuda/device/grid.cuh"
#include "dense/cuda/device/multiply.cuh"
#include "dense/cuda/device/pivot.cuh"
#include "dense/cuda/device/progress.cuh"
#include "dense/cuda/device/row_product.cuh"
#include "dense/cuda/trsv/counter.cuh"
#include "dense/cuda/trsv/rows.cuh"
#include "gpu/device/waits.cuh"
#include "gpu/substitute/refused.cuh"

std::atomic<const char *> device_fault;

/* The other threads' turn, and other blocks', who may tell meanwhile what is looked at then. */
static void wait_to_look()
{
    if (this_block->turns)
        this_block->turns->looked();
    take_turns();
}

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
unsigned long long global_ns()
{
    return 1;
}
void prefetch_line(const void *) {}
void wait_for_grid_before() {} /* launches run one after the other */
void let_next_grid_begin() {}
uint64_t nanoseconds()
{
    return 1;
}
unsigned long long now_ns() /* time stands still: nobody gives up */
{
    return 1;
}

void barrier_arrive(int barrier, int threads)
{
    named_barrier &b = this_block->named[barrier];
    if (++b.arrived == threads) {
        b.arrived = 0;
        b.meeting++;
    }
}
void barrier_wait(int barrier, int threads)
{
    const named_barrier &b = this_block->named[barrier];
    const unsigned meeting = b.meeting;
    barrier_arrive(barrier, threads);
    if (b.meeting == meeting)
        wait_for_change(b.meeting, meeting);
}
/* Two sums side by side. */
typedef double two __attribute__((vector_size(16)));

static two columns_of(const double (&row)[8], int first)
{
    return two{row[first], row[first + 1]};
}

void multiply_8x8x4(double (&c)[2], double a, double b)
{
    lanes &w = this_warp();
    auto &room = w.room[w.meeting % 2];
    const int lane = lane_number(), row = lane / 4, k = lane % 4;
    room.a[row][k] = a;
    room.b[k][row] = b;
    meet_lanes();
    two sum = {c[0], c[1]};
    for (int p = 0; p < 4; p++)
        sum += room.a[row][p] * columns_of(room.b[p], 2 * k);
    c[0] = sum[0];
    c[1] = sum[1];
}

void multiply_16x8x8(double (&c)[4], const double (&a)[4], const double (&b)[2])
{
    lanes &w = this_warp();
    auto &room = w.room[w.meeting % 2];
    const int lane = lane_number(), row = lane / 4, k = lane % 4;
    for (int e = 0; e < 4; e++)
        room.a[row + 8 * (e % 2)][k + 4 * (e / 2)] = a[e];
    for (int e = 0; e < 2; e++)
        room.b[k + 4 * e][row] = b[e];
    meet_lanes();
    two upper = {c[0], c[1]}, lower = {c[2], c[3]};
    for (int p = 0; p < 8; p++) {
        const two of_b = columns_of(room.b[p], 2 * k);
        upper += room.a[row][p] * of_b;
        lower += room.a[row + 8][p] * of_b;
    }
    memcpy(c, &upper, sizeof upper);
    memcpy(c + 2, &lower, sizeof lower);
}

static packet_word word_seen(const packet_word *p)
{
    const unsigned long long epoch = __atomic_load_n(&p->epoch, __ATOMIC_ACQUIRE);
    return {__atomic_load_n(&p->value, __ATOMIC_RELAXED), epoch};
}
packet_word packet_word_load(const packet_word *p)
{
    if (this_block->turns) /* nobody sends it meanwhile */
        wait_to_look();
    return word_seen(p);
}
packet_word packet_word_load_if(bool wanted, const packet_word *p)
{
    if (!wanted)
        return {};
    wait_to_look();
    return word_seen(p);
}
void packet_word_store(packet_word *p, packet_word v)
{
    if (p->epoch == v.epoch)
        device_fault = "a packet is sent twice";
    __atomic_store_n(&p->value, v.value, __ATOMIC_RELAXED);
    __atomic_store_n(&p->epoch, v.epoch, __ATOMIC_RELEASE);
    others_are_told();
}
template <typename T>
bool packet_arrived(const packet_word *packets, int i, unsigned long long epoch)
{
    wait_to_look();
    return word_seen(packets + (int64_t)i * packet<T>::COUNT).epoch == epoch;
}

#define INSTANCE(T) template bool packet_arrived<T>(const packet_word *, int, unsigned long long);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
#undef INSTANCE

unsigned long long epoch_look(const workspace_head *head)
{
    return (__atomic_load_n(&head->ticket, __ATOMIC_RELAXED) >> TICKET_BITS) + 1;
}
unsigned progress_seen(const unsigned *word)
{
    wait_to_look();
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
void progress_tell(unsigned *word, unsigned value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    others_are_told();
}
unsigned long long progress_seen(const unsigned long long *word)
{
    wait_to_look();
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
void progress_tell(unsigned long long *word, unsigned long long value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    others_are_told();
}
void progress_tell_read(unsigned long long *word, unsigned long long value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    others_are_told();
}

float entry_load(const float *p)
{
    return *p;
}
double entry_load(const double *p)
{
    return *p;
}
complex_s entry_load(const complex_s *p)
{
    return *p;
}
complex_d entry_load(const complex_d *p)
{
    return *p;
}

template <typename T> void copy_entry(T *to, const T *from, bool there)
{
    __pipeline_memcpy_async(to, from, sizeof(T), there ? 0 : sizeof(T));
}
template void copy_entry(float *, const float *, bool);
template void copy_entry(double *, const double *, bool);
template void copy_entry(complex_s *, const complex_s *, bool);
template void copy_entry(complex_d *, const complex_d *, bool);
void copy_pair(void *to, const void *from, int bytes)
{
    if (reinterpret_cast<size_t>(to) % 16 || reinterpret_cast<size_t>(from) % 16)
        device_fault = "a copy is not aligned";
    __pipeline_memcpy_async(to, from, 16, (size_t)(16 - bytes));
}
void copies_commit()
{
    __pipeline_commit();
}
template <int N> void copies_wait()
{
    __pipeline_wait_prior(N);
}
template void copies_wait<0>();
template void copies_wait<1>();
template void copies_wait<2>();
template void copies_wait<3>();

int cluster_rank()
{
    return this_block->rank;
}
int cluster_blocks()
{
    return this_block->width;
}
void cluster_arrive()
{
    block_cluster &c = *this_block->cluster;
    this_thread->cluster_meeting = c.meeting;
    if (++c.arrived == this_block->width * (int)this_block->threads.x) {
        c.arrived = 0;
        c.meeting++;
        others_are_told();
    }
}
void cluster_wait()
{
    while (this_block->cluster->meeting == this_thread->cluster_meeting)
        wait_to_look();
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
        device_fault = "a barrier expects bytes twice";
    b.is_open = true;
    b.expected = bytes;
    end_phase(b);
}
/* It comes when it is waited for; until then there are no numbers. */
void inbox_copy(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
    if (reinterpret_cast<size_t>(to) % 16 || reinterpret_cast<size_t>(from) % 16 || bytes % 16)
        device_fault = "a copy is not aligned";
    memset(to, 0xff, bytes);
    this_block->copies.push_back({to, from, bytes, barrier});
}
/* Dynamic shared memory is a block's own; other shared memory is of the block's OS thread, at one
 * distance in all of them from another variable of that kind. */
static thread_local unsigned char anchor;
static shared_place place_in_shared(const void *p)
{
    const ptrdiff_t offset = static_cast<const unsigned char *>(p) - this_block->shared;
    const bool dynamic = offset >= 0 && offset < (ptrdiff_t)this_block->shared_bytes;
    return {dynamic, dynamic ? offset : static_cast<const unsigned char *>(p) - &anchor};
}
static unsigned char *in_shared(shared_place p)
{
    return (p.dynamic ? this_block->shared : &anchor) + p.offset;
}
/* What has been sent comes, too, when something is waited for. */
static void open_letters()
{
    std::lock_guard<std::mutex> alone(this_block->receiving);
    for (const letter &l : this_block->letters) {
        memcpy(in_shared(l.to), l.value, l.bytes);
        this_block->barrier.at(reinterpret_cast<uint64_t *>(in_shared(l.barrier))).come += l.bytes;
    }
    this_block->letters.clear();
}
template <typename T> void inbox_send(T *at, uint64_t *barrier, int rank, T v)
{
    letter l = {place_in_shared(at), place_in_shared(barrier), sizeof v, {}};
    memcpy(l.value, &v, sizeof v);
    thread_block &to = *this_block->cluster->block[rank];
    {
        std::lock_guard<std::mutex> alone(to.receiving);
        to.letters.push_back(l);
    }
    others_are_told();
}
template void inbox_send(place *, uint64_t *, int, place);
template void inbox_send(float *, uint64_t *, int, float);
template void inbox_send(double *, uint64_t *, int, double);
template void inbox_send(complex_s *, uint64_t *, int, complex_s);
template void inbox_send(complex_d *, uint64_t *, int, complex_d);
void copies_follow() {}
/* They read when they are waited for. */
void outbox_copy(void *to, const void *from, unsigned bytes)
{
    if (reinterpret_cast<size_t>(to) % 16 || reinterpret_cast<size_t>(from) % 16 || bytes % 16)
        device_fault = "a copy is not aligned";
    memset(to, 0xff, bytes);
    this_thread->sent.push_back({to, from, bytes, 0, 0});
}
void outbox_wait_read()
{
    for (const own_copy &c : this_thread->sent)
        memcpy(c.to, c.from, c.bytes);
    this_thread->sent.clear();
}
void outbox_wait()
{
    outbox_wait_read();
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
        open_letters();
        end_phase(b);
        if (b.phase % 2 == phase)
            wait_to_look();
    }
}

double reciprocal_root(double a)
{
    return 1 / sqrt(a);
}
