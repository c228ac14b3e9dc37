/* base/status.c: names and sentences of the statuses
 * SPDX-License-Identifier: BSD-3-Clause */
#include "libsolver_types.h"

const char *libsolver_status_name(libsolver_status status)
{
    switch (status) {
#define ENTRY(name, value, sentence) \
    case LIBSOLVER_##name: \
        return #name;
        LIBSOLVER_STATUS_LIST(ENTRY)
#undef ENTRY
    }
    return "UNKNOWN";
}

const char *libsolver_status_sentence(libsolver_status status)
{
    switch (status) {
#define ENTRY(name, value, sentence) \
    case LIBSOLVER_##name: \
        return sentence;
        LIBSOLVER_STATUS_LIST(ENTRY)
#undef ENTRY
    }
    return "not a status of libsolver";
}
