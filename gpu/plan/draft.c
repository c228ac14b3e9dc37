/* gpu/plan/draft.c: one task of a program while it is written
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/plan/draft.h"

void draft_start(draft *d)
{
    d->inputs = d->sources = d->slots = d->outs = d->copies = d->flags = 0;
    d->tile_bytes = 0;
    d->start[0] = 0;
}

/* Bytes of the starts: none where every input has one source. */
static int64_t start_bytes(int32_t inputs, int32_t sources)
{
    return sources > inputs ? round_up(2 * ((int64_t)inputs + 1), 16) : 0;
}

static int64_t description_bytes(int32_t inputs, int32_t sources, int32_t slots, int32_t outs)
{
    const int64_t codes = round_up(4 * (int64_t)sources, 16) + start_bytes(inputs, sources);
    return round_up((int64_t)sizeof(task_head) + codes + slots * (int64_t)sizeof(task_slot) +
                        outs * (int64_t)sizeof(task_out),
                    COPY_ALIGN);
}

/* Squares have no records. */
static int32_t slot_count(const draft *d)
{
    return d->flags & TASK_TILES ? 0 : d->slots;
}

int draft_has_room(const draft *d, const draft_need *need)
{
    const int32_t inputs = d->inputs + need->inputs, sources = d->sources + need->sources;
    const int32_t slots = d->slots + need->slots, outs = d->outs + need->outs;
    const int64_t tile_bytes =
        round_up(d->tile_bytes + need->tile_bytes, 16) + need->copies * (COPY_ALIGN - 16);
    if (d->flags & TASK_TILES)
        return inputs <= TASK_INPUTS && sources <= TASK_SOURCES && slots <= TASK_SQUARES &&
               description_bytes(inputs, sources, 0, outs) + tile_bytes <= TASK_BYTES;
    return inputs <= TASK_INPUTS && sources <= TASK_SOURCES && slots <= TASK_SLOTS &&
           outs <= TASK_OUTS && d->copies + 2 <= TASK_SLOTS &&
           description_bytes(inputs, sources, slots, outs) + tile_bytes + 16 <= TASK_BYTES;
}

int64_t draft_copy(draft *d, uint32_t from16, int64_t bytes)
{
    assert(bytes % 16 == 0);
    const int64_t from = 16 * (int64_t)from16;
    task_copy *last = d->copies > 0 ? &d->copy[d->copies - 1] : NULL;
    if (last && 16 * (int64_t)last->from16 + last->bytes == from)
        last->bytes += (uint32_t)bytes;
    else {
        const int64_t before = (from - d->tile_bytes) & (COPY_ALIGN - 1);
        assert(d->copies < TASK_SLOTS && before <= from);
        d->copy[d->copies++] = (task_copy){.from16 = (uint32_t)((from - before) / 16),
                                           .bytes = (uint32_t)(bytes + before),
                                           .to = (uint16_t)d->tile_bytes};
        d->tile_bytes += before;
    }
    d->tile_bytes += bytes;
    return d->tile_bytes - bytes;
}

void draft_product(draft *d, int64_t tile, int32_t outs, int64_t out_step, int32_t inner,
                   int64_t inner_step, int32_t in, int32_t first, int mode, int conjugate)
{
    const int32_t each = draft_slot_outs(mode);
    assert(out_step <= UINT16_MAX && inner_step <= UINT16_MAX && inner <= UINT16_MAX);
    for (int32_t o = 0; o < outs; o += each) {
        const int32_t together = outs - o < SLOT_ROWS ? outs - o : SLOT_ROWS;
        const int leads = o % SLOT_ROWS ? 0 : SLOT_LEADS | (together - 1) << SLOT_ROWS_SHIFT;
        assert(d->slots < TASK_SLOTS);
        d->slot[d->slots++] =
            (task_slot){.tile = (uint32_t)(tile + o * out_step),
                        .in = (uint16_t)in,
                        .inner = (uint16_t)inner,
                        .out_step = (uint16_t)out_step,
                        .inner_step = (uint16_t)inner_step,
                        .out = (uint16_t)(first + o),
                        .outs = (uint8_t)(outs - o < each ? outs - o : each),
                        .mode = (uint8_t)(mode | leads | (conjugate ? SLOT_CONJUGATE : 0))};
    }
}

int64_t draft_finish(const draft *d, int64_t base, buffer *descriptions, buffer *copies)
{
    static const char zeros[COPY_ALIGN];
    const int64_t bytes = description_bytes(d->inputs, d->sources, slot_count(d), d->outs),
                  at = base + descriptions->length;
    const int64_t codes = 4 * (int64_t)d->sources, starts = start_bytes(d->inputs, d->sources);
    task_head h = {.inputs = d->inputs, .slots = d->slots, .outs = d->outs, .flags = d->flags};
    for (int32_t o = 0; o < d->outs; o++)
        h.flags |= d->out[o].flags & OUT_PAIR ? TASK_PAIRS : 0;
    const int32_t start_at = (int32_t)((int64_t)sizeof h + round_up(codes, 16));
    h.start_at = starts > 0 ? start_at : 0;
    h.slot_at = start_at + (int32_t)starts;
    h.out_at = h.slot_at + slot_count(d) * (int32_t)sizeof(task_slot);
    const int32_t end = h.out_at + d->outs * (int32_t)sizeof(task_out);
    h.tile_at = (int32_t)bytes;
    assert(end <= bytes && bytes + d->tile_bytes <= TASK_BYTES &&
           (at % COPY_ALIGN == 0 || descriptions->failed));
    buffer_put(descriptions, &h, (int64_t)sizeof h);
    buffer_put(descriptions, d->code, codes);
    buffer_put(descriptions, zeros, round_up(codes, 16) - codes);
    if (starts > 0) {
        const int64_t used = 2 * ((int64_t)d->inputs + 1);
        buffer_put(descriptions, d->start, used);
        buffer_put(descriptions, zeros, starts - used);
    }
    buffer_put(descriptions, d->slot, slot_count(d) * (int64_t)sizeof(task_slot));
    buffer_put(descriptions, d->out, d->outs * (int64_t)sizeof(task_out));
    buffer_put(descriptions, zeros, bytes - end);
    const task_copy first = {.from16 = (uint32_t)(at / 16),
                             .bytes = (uint32_t)bytes,
                             .task_bytes = (uint16_t)(bytes + d->tile_bytes),
                             .inputs = (uint16_t)d->inputs,
                             .sources = (uint16_t)(starts > 0 ? d->sources : 0)};
    buffer_put(copies, &first, (int64_t)sizeof first);
    for (int32_t k = 0; k < d->copies; k++) {
        task_copy copy = d->copy[k];
        copy.to = (uint16_t)(copy.to + bytes);
        buffer_put(copies, &copy, (int64_t)sizeof copy);
    }
    return bytes + d->tile_bytes;
}
