/* base/libsolver_types.h: statuses, scalar types, views and the enums of options, shared by the
 * public headers
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIBSOLVER_TYPES_H
#define LIBSOLVER_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LIBSOLVER_API __attribute__((visibility("default")))
#else
#define LIBSOLVER_API
#endif

/* Every function that can fail returns a status.  0: solved.  > 0: a solution is there, and the
 * value is the most severe remark on it (the values are bits; all that apply are in
 * libsolver_solve_info.remarks).  < 0: there is no solution; the objects involved stay usable.  A
 * call never prints, exits or raises a signal. */
#define LIBSOLVER_STATUS_LIST(X) \
    X(OK, 0, "success") \
    X(PERTURBED, 1, "a pivot was perturbed; the solution was refined to the tolerance") \
    X(INACCURATE, 2, "the backward error is above the tolerance") \
    X(SINGULAR, 4, \
      "the matrix is singular; the solution is one of many if the right-hand side is consistent") \
    X(INVALID, -1, "invalid argument") \
    X(NONFINITE, -2, "a value is infinite or not a number") \
    X(NOT_POSITIVE_DEFINITE, -3, "the matrix is not positive definite") \
    X(OUT_OF_MEMORY, -4, "out of host memory") \
    X(OUT_OF_DEVICE_MEMORY, -5, "out of device memory") \
    X(PATTERN_MISMATCH, -6, "the matrix does not have the pattern that was analysed") \
    X(NOT_BUILT, -7, "this build of the library does not contain what was asked for") \
    X(CUDA, -8, "a CUDA call failed") \
    X(CANCELLED, -9, "cancelled by the caller") \
    X(INTERNAL, -10, "internal error; please report it")

typedef enum libsolver_status {
#define LIBSOLVER_STATUS_ENTRY(name, value, sentence) LIBSOLVER_##name = value,
    LIBSOLVER_STATUS_LIST(LIBSOLVER_STATUS_ENTRY)
#undef LIBSOLVER_STATUS_ENTRY
} libsolver_status;

/* "OK", "SINGULAR", ...; a static string, "UNKNOWN" for a value that is no status. */
LIBSOLVER_API const char *libsolver_status_name(libsolver_status status);
/* One sentence for people; a static string. */
LIBSOLVER_API const char *libsolver_status_sentence(libsolver_status status);

/* Scalars: D double, S float, Z double complex, C float complex (pairs real, imaginary as in C99
 * and Fortran). */
typedef enum libsolver_type {
    LIBSOLVER_D = 0,
    LIBSOLVER_S = 1,
    LIBSOLVER_Z = 2,
    LIBSOLVER_C = 3
} libsolver_type;

/* A = A^T, or A = A^H (the same for real types).  The diagonal of a Hermitian matrix must be real:
 * an imaginary part (duplicates summed) other than zero is INVALID. */
typedef enum libsolver_symmetry {
    LIBSOLVER_SYMMETRIC = 0,
    LIBSOLVER_HERMITIAN = 1
} libsolver_symmetry;

/* Which entries a matrix view holds, and how they are read. */
typedef enum libsolver_storage {
    /* row >= column, or row <= column; an entry on the other side is INVALID */
    LIBSOLVER_LOWER = 0,
    LIBSOLVER_UPPER = 1,
    /* every entry with its mirror image, which must be equal (conjugate when Hermitian), otherwise
     * INVALID */
    LIBSOLVER_FULL = 2,
    /* As LOWER and UPPER, but entries on the other side are ignored, whatever their values: for a
     * matrix that is stored in full and symmetric but for rounding errors, as a product of matrices
     * is, or of which one triangle means something else.  Their indices must be good, and there is
     * a value for each, which is not read. */
    LIBSOLVER_LOWER_OF_FULL = 3,
    LIBSOLVER_UPPER_OF_FULL = 4,
    /* Each entry stands for itself and its mirror image, whichever of the two it is.  Given both,
     * they are duplicates and summed, as two of the same place are. */
    LIBSOLVER_EITHER = 5
} libsolver_storage;

/* COMPRESSED: by columns (the rows of the opposite triangle are the same thing for a symmetric
 * matrix).  TRIPLETS: one row and one column index for each entry, in any order. */
typedef enum libsolver_format { LIBSOLVER_COMPRESSED = 0, LIBSOLVER_TRIPLETS = 1 } libsolver_format;

typedef enum libsolver_index { LIBSOLVER_INT32 = 0, LIBSOLVER_INT64 = 1 } libsolver_index;
typedef enum libsolver_place { LIBSOLVER_HOST = 0, LIBSOLVER_DEVICE = 1 } libsolver_place;
typedef enum libsolver_layout {
    LIBSOLVER_COLUMN_MAJOR = 0,
    LIBSOLVER_ROW_MAJOR = 1
} libsolver_layout;

/* A sparse symmetric matrix of order n, seen where it lies: nothing is owned, and nothing of it is
 * kept after a call. A zeroed struct means: double, symmetric, lower triangle compressed by
 * columns, base 0, 32-bit indices, on the host. Entries of a column may come in any order;
 * duplicates are summed; a diagonal entry that is absent is zero. */
typedef struct libsolver_matrix {
    int64_t n;            /* order */
    int64_t nnz;          /* TRIPLETS: number of entries.  COMPRESSED: not read */
    const void *pointers; /* COMPRESSED: n + 1 starts of columns.  TRIPLETS: nnz column indices */
    const void *indices;  /* row index of each entry */
    const void *values;   /* one for each entry; may be NULL where only the pattern is needed */
    libsolver_type type;  /* of the values */
    libsolver_symmetry symmetry;  /* */
    libsolver_storage storage;    /* */
    libsolver_format format;      /* */
    libsolver_index pointer_type; /* of pointers */
    libsolver_index index_type;   /* of indices */
    int base; /* 0 or 1: the index of the first row and column, and the first pointer */
    /* Of the three arrays.  DEVICE (backends GPU and AUTO): they are read on options.stream.  New
     * values alone, without pointers and indices, stay on the device where that factorizes; the
     * analysis copies the pattern to the host. */
    libsolver_place place;
    int64_t reserved[4]; /* zero */
} libsolver_matrix;

/* A dense block of vectors: rows x columns, entry (i, j) at values[i + j ld] (column-major, ld >=
 * rows) or values[i ld + j] (row-major, ld >= columns). */
typedef struct libsolver_vectors {
    void *values; /* of a right-hand side or a shift never written to: see libsolver_const */
    int64_t rows, columns, ld;
    libsolver_type type;
    libsolver_layout layout;
    libsolver_place place;
    int64_t reserved[4]; /* zero */
} libsolver_vectors;

/* The same pointer, for .values of a right-hand side or a shift: those are only read. */
static inline void *libsolver_const(const void *values)
{
    union {
        const void *given;
        void *taken;
    } pointer;
    pointer.given = values;
    return pointer.taken;
}

/* A task of a solve on the GPU, by what it multiplies with: the inverses of small groups of columns
 * or blocks of larger ones, of which it has several; part of a strip of the inverse of a root, or
 * of another group that is stored in strips; square tiles of a large group; nothing, it adds up
 * what other tasks have published. */
typedef enum libsolver_task_kind {
    LIBSOLVER_TASK_SMALL = 0,
    LIBSOLVER_TASK_TOP = 1,
    LIBSOLVER_TASK_LARGE = 2,
    LIBSOLVER_TASK_SUM = 3
} libsolver_task_kind;

/* What it did in a traced solve; see libsolver_solve_traced. */
typedef struct libsolver_task {
    libsolver_task_kind kind;
    int32_t level;    /* 0, 1, ... in the order of the solve: its inputs come from lower levels */
    int32_t height;   /* of its groups, above the leaves */
    int32_t backward; /* 0: on the way up, the top included; 1: on the way down */
    int32_t block;    /* that ran it, after its other tasks of lower levels */
    int64_t bytes;    /* that it read in one piece: description and inverses */
    double begin, staged, gathered, end; /* seconds after the first task began: the block came to
                                            it, its bytes were there, its inputs too, it was done */
} libsolver_task;

/* A task of a Cholesky factorization on the GPU.  Fronts of up to 32 rows, and those of up to 112
 * (double complex: 80), are factorized whole, a run of them in a task.  Larger ones are cut into
 * square tiles of up to 64 rows: entries and what the children have are assembled; diagonal blocks
 * are factorized and inverted; rows below one become rows of L; products of columns of L are
 * subtracted from the columns behind them, and from what the parent gets; with expected signs rows
 * of L are divided by pivots at the end. */
typedef enum libsolver_factor_task_kind {
    LIBSOLVER_FACTOR_TASK_TINY = 0,
    LIBSOLVER_FACTOR_TASK_SMALL = 1,
    LIBSOLVER_FACTOR_TASK_ASSEMBLE = 2,
    LIBSOLVER_FACTOR_TASK_PIVOT = 3,
    LIBSOLVER_FACTOR_TASK_ROWS = 4,
    LIBSOLVER_FACTOR_TASK_UPDATE = 5,
    LIBSOLVER_FACTOR_TASK_CONTRIBUTION = 6,
    LIBSOLVER_FACTOR_TASK_DIVIDE = 7
} libsolver_factor_task_kind;

/* What it did in a traced factorization; see libsolver_refactorize_traced. */
typedef struct libsolver_factor_task {
    libsolver_factor_task_kind kind;
    int32_t level;         /* 0, 1, ..., ascending: it needs what lower levels have done */
    int32_t fronts;        /* TINY, SMALL: so many; otherwise part of 1 */
    int32_t rows, columns; /* of the front, of several: of the one with most rows */
    int32_t row_block, column_block; /* of its tile in the front; TINY, SMALL: 0 */
    int64_t first;                   /* column of L that the front, or the first one, begins with */
    double flops;                    /* of libsolver_analysis_info.factor_flops, padding included */
    double begin, end;               /* seconds after the first task began */
} libsolver_factor_task;

/* ---- Values of libsolver_options ---- */

typedef enum libsolver_backend {
    /* As GPU, if there is one, where a factorization and the solves that options.purpose stands for
     * are predicted to take less time so; otherwise on the CPU, also when the device fails, has no
     * room, or cannot do what is asked.  CUDA is first looked at when the forecast is for the GPU.
     * libsolver_info tells; libsolver_analyze logs the forecast. */
    LIBSOLVER_BACKEND_AUTO = 0,
    LIBSOLVER_BACKEND_CPU = 1,
    /* Solves run on the device and are never moved silently: NOT_BUILT or CUDA if it cannot be had,
     * with the reason in libsolver_context_message(NULL).  Factors by Cholesky and those without
     * pivoting are made there, L D L^T with pivoting on the CPU, which libsolver_factor_info and
     * the log tell.  Half solves, around a Schur complement too, are the CPU's. */
    LIBSOLVER_BACKEND_GPU = 2
} libsolver_backend;

/* Why a factor that is solved with on the GPU, or was to be, was made on the CPU. */
typedef enum libsolver_cpu_reason {
    LIBSOLVER_CPU_AS_CHOSEN = 0, /* it was not, or the GPU was not wanted */
    LIBSOLVER_CPU_LDLT = 1,      /* L D L^T, or the analysis expected it; QUASI_DEFINITE: a pivot
                                    had to be put right */
    LIBSOLVER_CPU_SIZE = 2,      /* 2^31 entries or more */
    LIBSOLVER_CPU_DEVICE = 3,    /* BACKEND_AUTO: the device failed or had no room; the log has the
                                    sentence */
    LIBSOLVER_CPU_MIXED = 4      /* batches and expected signs in mixed precision */
} libsolver_cpu_reason;

typedef enum libsolver_kind {
    /* Cholesky if the diagonal is positive; LDL^T if that fails, leaves open whether A is positive
     * definite, or is not tried.  refactorize begins with LDL^T where the last values ended there,
     * until such a factor has positive pivots. */
    LIBSOLVER_KIND_AUTO = 0,
    /* Cholesky only: NOT_POSITIVE_DEFINITE if it fails, INVALID if complex symmetric.  For an A
     * that may be singular within rounding errors it can succeed; the inertia is not certain then.
     * Mixed precision: a slightly larger diagonal (PERTURBED) is tried before it fails. */
    LIBSOLVER_KIND_SPD = 1,
    LIBSOLVER_KIND_INDEFINITE = 2,    /* LDL^T with 1x1 and 2x2 pivots */
    LIBSOLVER_KIND_QUASI_DEFINITE = 3 /* LDL^T without pivoting; options.expected_signs */
} libsolver_kind;

/* LDL^T by the first settings may leave zero pivots that are not known to be zeros, or small ones
 * of uncertain sign; other scalings and thresholds may tell.  An inertia is `certain` by the same
 * rules with each of these; with less effort it is more often not. */
typedef enum libsolver_effort {
    LIBSOLVER_EFFORT_FULL = 0, /* as many attempts as may help, seldom more than three */
    LIBSOLVER_EFFORT_ONE = 1, /* one more than the first that has come to an end, and this one again
                                 if the other leaves more zeros */
    LIBSOLVER_EFFORT_NONE = 2 /* none: for callers that treat an uncertain inertia as a wrong one; a
                                 badly scaled matrix that is not singular may be called SINGULAR */
} libsolver_effort;

typedef enum libsolver_ordering {
    LIBSOLVER_ORDERING_AUTO = 0, /* AMD or nested dissection, by predicted time */
    LIBSOLVER_ORDERING_AMD = 1,  /* approximate minimum degree */
    LIBSOLVER_ORDERING_ND = 2,   /* nested dissection; the same order for every number of threads */
    LIBSOLVER_ORDERING_METIS = 3, /* METIS's nested dissection */
    LIBSOLVER_ORDERING_NATURAL = 4,
    LIBSOLVER_ORDERING_USER = 5 /* options.permutation */
} libsolver_ordering;

typedef enum libsolver_choice {
    LIBSOLVER_AUTO = 0,
    LIBSOLVER_ON = 1,
    LIBSOLVER_OFF = 2
} libsolver_choice;

typedef enum libsolver_purpose {
    /* GPU: inverses of at most 1.5 times the size of L.  AUTO: GPU if a factorization with 50
     * solves is faster there. */
    LIBSOLVER_PURPOSE_DEFAULT = 0,
    /* Few solves a factor, which is read as it is: nothing is prepared.  AUTO: GPU if a
     * factorization with ten solves is faster there. */
    LIBSOLVER_PURPOSE_FEW = 1,
    /* Very many solves, for which orders are sought longer.  GPU: no limit to the inverses.  AUTO:
     * if a solve is faster there. */
    LIBSOLVER_PURPOSE_LATENCY = 2
} libsolver_purpose;

#ifdef __cplusplus
}
#endif
#endif
