/* gpu/draft.c: one task of a program while it is written
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/draft.h"
#include <assert.h>

void draft_start(draft *d)
{
    d->inputs = d->extras = d->fixes = d->slots = d->outs = d->copies = d->flags = 0;
    d->tile_bytes = 0;
}

static int64_t up16(int64_t x)
{
    return (x + 15) / 16 * 16;
}

static int64_t description_bytes(int32_t sources, int32_t fixes, int32_t slots, int32_t outs)
{
    return (int64_t)sizeof(task_head) + up16(4 * (int64_t)sources) + fixes * (int64_t)sizeof(task_fix) +
           slots * (int64_t)sizeof(task_slot) + outs * (int64_t)sizeof(task_out);
}

int64_t draft_description(const draft *d)
{
    return description_bytes(d->inputs + d->extras, d->fixes, d->slots, d->outs);
}

int draft_has_room(const draft *d, const draft_need *need)
{
    const int32_t sources = d->inputs + need->inputs + d->extras + need->extras;
    const int32_t slots = d->slots + need->slots, outs = d->outs + need->outs;
    const int32_t fixes = d->fixes + (need->extras < need->inputs ? need->extras : need->inputs);
    return sources <= TASK_SOURCES && slots <= TASK_SLOTS && outs <= TASK_OUTS && d->copies < TASK_SLOTS &&
           description_bytes(sources, fixes, slots, outs) + up16(d->tile_bytes + need->tile_bytes) + 16 <= TASK_STAGE;
}

int32_t draft_input(draft *d, const int32_t *code, int32_t count)
{
    assert(count >= 1 && d->inputs + d->extras + count <= TASK_SOURCES);
    d->code[d->inputs] = code[0];
    if (count > 1) {
        d->fix[d->fixes++] = (task_fix){.to = d->inputs, .from = d->extras, .count = count - 1};
        for (int32_t k = 1; k < count; k++)
            d->extra[d->extras++] = code[k];
    }
    return d->inputs++;
}

int64_t draft_copy(draft *d, uint32_t from16, int64_t bytes)
{
    assert(bytes % 16 == 0);
    task_copy *last = d->copies > 0 ? &d->copy[d->copies - 1] : NULL;
    if (last && (int64_t)last->from16 * 16 + last->bytes == (int64_t)from16 * 16)
        last->bytes += (uint32_t)bytes;
    else {
        assert(d->copies < TASK_SLOTS);
        d->copy[d->copies++] = (task_copy){.from16 = from16, .bytes = (uint32_t)bytes, .to = (uint32_t)d->tile_bytes};
    }
    d->tile_bytes += bytes;
    return d->tile_bytes - bytes;
}

int32_t draft_product(draft *d, int64_t tile, int32_t outs, int64_t out_step, int32_t inner, int64_t inner_step, int32_t in,
                      int32_t cut, int conjugate, int32_t *first)
{
    assert(outs >= 1 && outs <= PIECE && out_step <= UINT16_MAX && inner_step <= UINT16_MAX);
    int lanes = 0;
    while (outs << (lanes + 1) <= PIECE)
        lanes++;
    *first = d->slots;
    const int32_t parts = (inner + cut - 1) / cut;
    for (int32_t part = 0; part < parts; part++) {
        const int32_t from = (int32_t)((int64_t)inner * part / parts), to = (int32_t)((int64_t)inner * (part + 1) / parts);
        assert(d->slots < TASK_SLOTS);
        d->slot[d->slots++] = (task_slot){.tile = (uint32_t)(tile + from * inner_step),
                                          .in = (uint16_t)(in + from),
                                          .inner = (uint16_t)(to - from),
                                          .out_step = (uint16_t)out_step,
                                          .inner_step = (uint16_t)inner_step,
                                          .outs = (uint8_t)outs,
                                          .lanes = (uint8_t)lanes,
                                          .conjugate = (uint16_t)conjugate};
    }
    return parts;
}

task_out *draft_out(draft *d)
{
    assert(d->outs < TASK_OUTS);
    d->out[d->outs] = (task_out){.dst = -1, .row = -1, .add = -1};
    return &d->out[d->outs++];
}

int64_t draft_finish(const draft *d, int64_t base, buffer *descriptions, buffer *copies)
{
    const int32_t sources = d->inputs + d->extras;
    const int64_t bytes = draft_description(d), at = base + descriptions->length;
    const int32_t codes_bytes = (int32_t)up16(4 * (int64_t)sources);
    task_head h = {.sources = sources, .fixes = d->fixes, .slots = d->slots, .outs = d->outs, .flags = d->flags};
    h.fix_at = (int32_t)sizeof h + codes_bytes;
    h.slot_at = h.fix_at + d->fixes * (int32_t)sizeof(task_fix);
    h.out_at = h.slot_at + d->slots * (int32_t)sizeof(task_slot);
    h.tile_at = h.out_at + d->outs * (int32_t)sizeof(task_out);
    assert(h.tile_at == bytes && bytes + d->tile_bytes <= TASK_STAGE);
    buffer_put(descriptions, &h, (int64_t)sizeof h);
    buffer_put(descriptions, d->code, 4 * (int64_t)d->inputs);
    buffer_put(descriptions, d->extra, 4 * (int64_t)d->extras);
    static const char zeros[16];
    buffer_put(descriptions, zeros, codes_bytes - 4 * (int64_t)sources);
    for (int32_t k = 0; k < d->fixes; k++) {
        task_fix fix = d->fix[k];
        fix.from += d->inputs;
        buffer_put(descriptions, &fix, (int64_t)sizeof fix);
    }
    buffer_put(descriptions, d->slot, d->slots * (int64_t)sizeof(task_slot));
    buffer_put(descriptions, d->out, d->outs * (int64_t)sizeof(task_out));
    const task_copy first = {.from16 = (uint32_t)(at / 16), .bytes = (uint32_t)bytes,
                             .task_bytes = (uint32_t)(bytes + d->tile_bytes)};
    buffer_put(copies, &first, (int64_t)sizeof first);
    for (int32_t k = 0; k < d->copies; k++) {
        task_copy copy = d->copy[k];
        copy.to += (uint32_t)bytes;
        buffer_put(copies, &copy, (int64_t)sizeof copy);
    }
    return bytes + d->tile_bytes;
}
