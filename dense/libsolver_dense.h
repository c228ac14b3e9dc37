/* dense/libsolver_dense.h: triangular kernels for their own sake, on the GPU
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * BLAS meaning and argument order: op(A) x = b with A triangular, column-major, x overwrites
 * b.  All pointers to matrices and vectors are device pointers; the caller says in `type` what they
 * point to.  A call checks its arguments on the host (INVALID), launches on the caller's stream,
 * allocates nothing, waits for nothing and can be captured in a CUDA graph; libsolver_trsv_prepare
 * is the one exception and says so.  As in BLAS, nothing tests for singularity: a zero on the
 * diagonal gives infinities or NaNs from the first row that depends on it.
 *
 * The same arguments give the same bits on every run on one GPU model: sums have a fixed order,
 * there are no floating-point atomics, and no choice depends on timing. */
#ifndef LIBSOLVER_DENSE_H
#define LIBSOLVER_DENSE_H

#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum libsolver_transpose {
    LIBSOLVER_NO_TRANSPOSE = 0,
    LIBSOLVER_TRANSPOSE = 1,
    LIBSOLVER_CONJUGATE_TRANSPOSE = 2
} libsolver_transpose;

typedef enum libsolver_diagonal { LIBSOLVER_NON_UNIT = 0, LIBSOLVER_UNIT = 1 } libsolver_diagonal;

typedef enum libsolver_side { LIBSOLVER_LEFT = 0, LIBSOLVER_RIGHT = 1 } libsolver_side;

/* How a solve is done.  The automatic choice takes the fastest by n and type (crossovers:
 * doc/design/dense.md); the others are there to be compared. */
typedef enum libsolver_trsv_form {
    LIBSOLVER_TRSV_AUTO = 0,
    /* one block of threads, n <= 128; matrix in shared memory, loaded while it is solved with; */
    LIBSOLVER_TRSV_SHARED = 1,
    /* in registers, columns dealt to warps in turn; slabs of 8 columns dealt to warps in turn; */
    LIBSOLVER_TRSV_REGISTERS_A = 2,
    LIBSOLVER_TRSV_REGISTERS_B = 3,
    /* in shared memory, diagonal blocks of 16 inverted */
    LIBSOLVER_TRSV_PANELS = 4,
    /* block solve and matrix-vector product, one launch each for `block` columns */
    LIBSOLVER_TRSV_LAUNCHES = 5,
    /* one kernel, a block of threads for 64 rows, results through global memory; */
    LIBSOLVER_TRSV_GRID = 6,
    /* the same in clusters of 16 blocks, results through distributed shared memory inside them */
    LIBSOLVER_TRSV_CLUSTER = 7,
    /* one warp, n <= 128 */
    LIBSOLVER_TRSV_WARP = 8,
    /* GRID with one counter of finished block rows, behind a fence, for all results */
    LIBSOLVER_TRSV_COUNTER = 9
} libsolver_trsv_form;

/* When GRID, COUNTER and CLUSTER read the off-diagonal tiles of a block row. */
typedef enum libsolver_trsv_cache {
    LIBSOLVER_CACHE_AHEAD = 0,  /* a tile or two ahead, into registers, before waiting for its x */
    LIBSOLVER_CACHE_NONE = 1,   /* after its x has arrived */
    LIBSOLVER_CACHE_SHARED = 2, /* NONE, but the last tile is put in shared memory first of all */
    LIBSOLVER_CACHE_REGISTERS = 3 /* NONE, but the last tile is put in registers first of all */
} libsolver_trsv_cache;

typedef struct libsolver_trsv_options {
    libsolver_trsv_form form;
    libsolver_trsv_cache cache;
    int64_t invert_from; /* first block row that inverts its diagonal block while it waits;
                            INT64_MAX: none */
    int64_t scale_from;  /* AHEAD: first block row whose last tile is multiplied by that inverse as
                            well */
    uint64_t *trace;     /* device, 8 words for each block row of GRID, COUNTER and CLUSTER, or
                            NULL: see bench/dense */
    int64_t block;       /* LAUNCHES: columns of a launch, a multiple of 32 up to 1024; 0: 1024 */
    uint64_t reserved[3];
} libsolver_trsv_options;

/* AUTO, AHEAD, and the rows from which inverting and scaling pay on an H200. */
LIBSOLVER_API libsolver_trsv_options libsolver_trsv_default_options(void);

/* Bytes of device workspace for an order up to n, of any type; never decreasing in n. */
LIBSOLVER_API int64_t libsolver_trsv_workspace_bytes(int64_t n);
/* Makes a workspace ready, once, before its first use; every solve leaves it ready for the
 * next.  One workspace serves one solve at a time: solves that may overlap (two streams) need one
 * each. */
LIBSOLVER_API libsolver_status libsolver_trsv_workspace_init(void *workspace, int64_t bytes,
                                                             void *stream);

/* x := inv(op(A)) x.  n >= 0; lda >= max(1, n); incx != 0, a negative one as in BLAS; only the
 * triangle `uplo` of A is read, and not its diagonal when unit.  workspace: may be NULL where n <=
 * 128.  options: NULL for the defaults.  stream: a cudaStream_t. */
LIBSOLVER_API libsolver_status libsolver_trsv(libsolver_type type, libsolver_storage uplo,
                                              libsolver_transpose trans, libsolver_diagonal diag,
                                              int64_t n, const void *a, int64_t lda, void *x,
                                              int64_t incx, void *workspace,
                                              int64_t workspace_bytes,
                                              const libsolver_trsv_options *options, void *stream);

/* A triangle prepared for many solves.  Plain data: copy it, forget it; it owns nothing. */
typedef struct libsolver_trsv_prepared {
    libsolver_type type;
    libsolver_storage uplo;
    libsolver_transpose trans;
    libsolver_diagonal diag;
    int64_t n, lda;
    const void *a;      /* the caller's matrix: read again only where `block` is 0 */
    const void *strips; /* in the caller's storage: the rows of blkdiag(inv(L_kk)) L, in the order
                           of the solve */
    int64_t block; /* order of the inverted diagonal blocks; 0: the guard refused, solves substitute
                    */
    double growth; /* max over the diagonal blocks of max row sum of |L_kk||inv(L_kk)| */
    uint64_t reserved[4];
} libsolver_trsv_prepared;

/* Bytes of device storage for a prepared triangle: about n^2 / 2 + 528 n entries, n rounded up to
 * 256. */
LIBSOLVER_API int64_t libsolver_trsv_prepare_bytes(libsolver_type type, int64_t n);
/* Inverts the diagonal blocks of op(A) by doubling and scales the block rows with
 * them.  growth_limit: blocks that grow more make every later solve substitute instead (0: the
 * default limit, doc/design/dense.md).  Waits for the stream, since the verdict is needed on the
 * host: not capturable.  A must stay as it is while `prepared` is used. */
LIBSOLVER_API libsolver_status libsolver_trsv_prepare(
    libsolver_type type, libsolver_storage uplo, libsolver_transpose trans, libsolver_diagonal diag,
    int64_t n, const void *a, int64_t lda, void *storage, int64_t storage_bytes,
    double growth_limit, void *stream, libsolver_trsv_prepared *prepared);
/* x := inv(op(A)) x by the prepared triangle; workspace as for libsolver_trsv. */
LIBSOLVER_API libsolver_status libsolver_trsv_solve(const libsolver_trsv_prepared *prepared,
                                                    void *x, int64_t incx, void *workspace,
                                                    int64_t workspace_bytes, void *stream);

/* Several right-hand sides: trsm of the BLAS, made for few of them (2 to 64); more are solved 64 at
 * a time.  LEFT: op(A) X = alpha B, A of order m, the n columns of B are the right-hand sides.
 * RIGHT: X op(A) = alpha B, A of order n, the m rows are.  X overwrites B, m x n.
 *
 * Bytes of device workspace for triangles of order up to n with up to nrhs right-hand sides, of any
 * type; never decreasing in either. */
LIBSOLVER_API int64_t libsolver_trsm_workspace_bytes(int64_t n, int64_t nrhs);
/* As libsolver_trsv_workspace_init: once, before a workspace's first use; one solve at a time. */
LIBSOLVER_API libsolver_status libsolver_trsm_workspace_init(void *workspace, int64_t bytes,
                                                             void *stream);
/* B := alpha inv(op(A)) B or alpha B inv(op(A)).  m, n >= 0; lda >= max(1, order of A); ldb >=
 * max(1, m); only the triangle `uplo` of A is read, and not its diagonal when unit.  alpha: one
 * entry on the host, NULL for 1; where it is 0 neither A nor B is read.  workspace: aligned to 16
 * bytes, for the order of A and min(right-hand sides, 64).  stream: a cudaStream_t. */
LIBSOLVER_API libsolver_status libsolver_trsm(libsolver_type type, libsolver_side side,
                                              libsolver_storage uplo, libsolver_transpose trans,
                                              libsolver_diagonal diag, int64_t m, int64_t n,
                                              const void *alpha, const void *a, int64_t lda,
                                              void *b, int64_t ldb, void *workspace,
                                              int64_t workspace_bytes, void *stream);

/* A triangle prepared for many solves with several right-hand sides.  Plain data: copy it, forget
 * it; it owns nothing. */
typedef struct libsolver_trsm_prepared {
    libsolver_type type;
    libsolver_side side;
    libsolver_storage uplo;
    libsolver_transpose trans;
    libsolver_diagonal diag;
    int64_t n;           /* order of A */
    const void *storage; /* the caller's.  It begins with the growth, a double, of each diagonal
                            block of 256: max row sum of |L_kk||inv(L_kk)| */
    double growth_limit; /* blocks that grow more are substituted with */
    uint64_t reserved[4];
} libsolver_trsm_prepared;

/* Bytes of device storage for a prepared triangle: about n^2 / 2 + 544 n entries, n rounded up to
 * 256. */
LIBSOLVER_API int64_t libsolver_trsm_prepare_bytes(libsolver_type type, int64_t n);
/* Inverts the diagonal blocks of op(A), of order n, by doubling and scales the block rows with
 * them; blocks that grow more than growth_limit (0: the default, doc/design/dense.md) are copied
 * instead, which is decided on the device: the call waits for nothing and can be captured. storage:
 * aligned to 16 bytes; it may hold an earlier preparation, which solves later on the stream do not
 * see any more.  A is not used any more when the call's work on the stream is done. */
LIBSOLVER_API libsolver_status libsolver_trsm_prepare(
    libsolver_type type, libsolver_side side, libsolver_storage uplo, libsolver_transpose trans,
    libsolver_diagonal diag, int64_t n, const void *a, int64_t lda, void *storage,
    int64_t storage_bytes, double growth_limit, void *stream, libsolver_trsm_prepared *prepared);
/* libsolver_trsm by the prepared triangle, with nrhs right-hand sides: the columns of B, n x nrhs,
 * when it was prepared for LEFT, otherwise the rows of B, nrhs x n. */
LIBSOLVER_API libsolver_status libsolver_trsm_solve(const libsolver_trsm_prepared *prepared,
                                                    int64_t nrhs, const void *alpha, void *b,
                                                    int64_t ldb, void *workspace,
                                                    int64_t workspace_bytes, void *stream);

/* Batches: many small problems in one launch, the k-th of `batch` of them with the matrix
 *   strided:  A + k stride_a, in entries;
 *   batched:  a[k], an array of pointers on the device;
 *   variable: a[k] as well, and sizes n[k] and leading dimensions lda[k] of its own, arrays of
 *             int64_t on the device.  max_n >= every n[k]; each costs by its own size.
 * Likewise B, X and x.  Orders may be 0.  One block of threads works on an item at a time, or one
 * warp where its order is at most 32, so that an order of more than about 1024 is better solved by
 * itself.  Items may not overlap.  Entries of the other triangle next to the diagonal may be
 * fetched along with their neighbours; what they hold does not matter.  No call needs a workspace.
 * INVALID: a negative size or one of 2^31 - 1024 or more, a leading dimension below the rows (where
 * it is on the host), an increment of 0, NULL where there is something to read. */

/* x := inv(op(A)) x, arguments as for libsolver_trsv. */
LIBSOLVER_API libsolver_status libsolver_trsv_strided_batched(
    libsolver_type type, libsolver_storage uplo, libsolver_transpose trans, libsolver_diagonal diag,
    int64_t n, const void *a, int64_t lda, int64_t stride_a, void *x, int64_t incx,
    int64_t stride_x, int64_t batch, void *stream);
LIBSOLVER_API libsolver_status libsolver_trsv_batched(libsolver_type type, libsolver_storage uplo,
                                                      libsolver_transpose trans,
                                                      libsolver_diagonal diag, int64_t n,
                                                      const void *const *a, int64_t lda,
                                                      void *const *x, int64_t incx, int64_t batch,
                                                      void *stream);
LIBSOLVER_API libsolver_status libsolver_trsv_variable_batched(
    libsolver_type type, libsolver_storage uplo, libsolver_transpose trans, libsolver_diagonal diag,
    int64_t max_n, const int64_t *n, const void *const *a, const int64_t *lda, void *const *x,
    int64_t incx, int64_t batch, void *stream);

/* X := inv(op(A)) B (LEFT, A of order m) or X := B inv(op(A)) (RIGHT, A of order n), B m x n, X
 * over B.  There is no alpha.  Any number of right-hand sides; up to 8 cost about as much as one,
 * and up to 64 read A once.  Variable: arrays m and n, bounds max_m and max_n; the bound of
 * right-hand sides may choose the kernel, so that a closer one may be faster. */
LIBSOLVER_API libsolver_status libsolver_trsm_strided_batched(
    libsolver_type type, libsolver_side side, libsolver_storage uplo, libsolver_transpose trans,
    libsolver_diagonal diag, int64_t m, int64_t n, const void *a, int64_t lda, int64_t stride_a,
    void *b, int64_t ldb, int64_t stride_b, int64_t batch, void *stream);
LIBSOLVER_API libsolver_status libsolver_trsm_batched(
    libsolver_type type, libsolver_side side, libsolver_storage uplo, libsolver_transpose trans,
    libsolver_diagonal diag, int64_t m, int64_t n, const void *const *a, int64_t lda,
    void *const *b, int64_t ldb, int64_t batch, void *stream);
LIBSOLVER_API libsolver_status libsolver_trsm_variable_batched(
    libsolver_type type, libsolver_side side, libsolver_storage uplo, libsolver_transpose trans,
    libsolver_diagonal diag, int64_t max_m, int64_t max_n, const int64_t *m, const int64_t *n,
    const void *const *a, const int64_t *lda, void *const *b, const int64_t *ldb, int64_t batch,
    void *stream);

/* B := op(A) B (LEFT) or B op(A) (RIGHT), in place; otherwise as the calls of trsm. */
LIBSOLVER_API libsolver_status libsolver_trmm_strided_batched(
    libsolver_type type, libsolver_side side, libsolver_storage uplo, libsolver_transpose trans,
    libsolver_diagonal diag, int64_t m, int64_t n, const void *a, int64_t lda, int64_t stride_a,
    void *b, int64_t ldb, int64_t stride_b, int64_t batch, void *stream);
LIBSOLVER_API libsolver_status libsolver_trmm_batched(
    libsolver_type type, libsolver_side side, libsolver_storage uplo, libsolver_transpose trans,
    libsolver_diagonal diag, int64_t m, int64_t n, const void *const *a, int64_t lda,
    void *const *b, int64_t ldb, int64_t batch, void *stream);
LIBSOLVER_API libsolver_status libsolver_trmm_variable_batched(
    libsolver_type type, libsolver_side side, libsolver_storage uplo, libsolver_transpose trans,
    libsolver_diagonal diag, int64_t max_m, int64_t max_n, const int64_t *m, const int64_t *n,
    const void *const *a, const int64_t *lda, void *const *b, const int64_t *ldb, int64_t batch,
    void *stream);

/* A := inv(A), A triangular, in place; the other triangle, and the diagonal when unit, does not
 * matter and is not written.  A zero on the diagonal gives infinities or NaNs. */
LIBSOLVER_API libsolver_status libsolver_trtri_strided_batched(
    libsolver_type type, libsolver_storage uplo, libsolver_diagonal diag, int64_t n, void *a,
    int64_t lda, int64_t stride_a, int64_t batch, void *stream);
LIBSOLVER_API libsolver_status libsolver_trtri_batched(libsolver_type type, libsolver_storage uplo,
                                                       libsolver_diagonal diag, int64_t n,
                                                       void *const *a, int64_t lda, int64_t batch,
                                                       void *stream);
LIBSOLVER_API libsolver_status libsolver_trtri_variable_batched(
    libsolver_type type, libsolver_storage uplo, libsolver_diagonal diag, int64_t max_n,
    const int64_t *n, void *const *a, const int64_t *lda, int64_t batch, void *stream);

/* A = L L^H (LOWER) or U^H U (UPPER), A Hermitian, of which only the triangle `uplo` is read and
 * overwritten with L or U; imaginary parts on the diagonal count as 0.  info: `batch` ints on the
 * device; info[k] := 0, or as in LAPACK the order of the first leading minor that is not positive
 * definite, the column of the first pivot that is not a positive normal number: the factor is that
 * of the columns before it (UPPER: rows) only, and what lies behind them is of no use. */
LIBSOLVER_API libsolver_status libsolver_potrf_strided_batched(libsolver_type type,
                                                               libsolver_storage uplo, int64_t n,
                                                               void *a, int64_t lda,
                                                               int64_t stride_a, int *info,
                                                               int64_t batch, void *stream);
LIBSOLVER_API libsolver_status libsolver_potrf_batched(libsolver_type type, libsolver_storage uplo,
                                                       int64_t n, void *const *a, int64_t lda,
                                                       int *info, int64_t batch, void *stream);
LIBSOLVER_API libsolver_status libsolver_potrf_variable_batched(
    libsolver_type type, libsolver_storage uplo, int64_t max_n, const int64_t *n, void *const *a,
    const int64_t *lda, int *info, int64_t batch, void *stream);

/* The same of one matrix of any order, by one launch and a clearing of some words.  info: one int
 * on the device.  workspace: on the device, aligned to 16 bytes, for an order up to n and that
 * type; nothing need be in it, and calls that may overlap need one each.  Rows below a diagonal
 * block of 64 are products with its inverse where that is not large, otherwise by substitution, as
 * the device finds for each block (doc/design/dense.md).  INVALID, CUDA.  stream: a cudaStream_t.
 */
LIBSOLVER_API int64_t libsolver_potrf_workspace_bytes(libsolver_type type, int64_t n);
LIBSOLVER_API libsolver_status libsolver_potrf(libsolver_type type, libsolver_storage uplo,
                                               int64_t n, void *a, int64_t lda, int *info,
                                               void *workspace, int64_t workspace_bytes,
                                               void *stream);

/* Large matrices.  Triangles are cut in halves until they are small (options.leaf), and all that is
 * not a small triangle becomes products: with triangles in place by kernels of our own, of matrices
 * by those where they are small and by cuBLAS where they are large; it is loaded when the first
 * context is made, from where the system's loader looks.  All is in place, with what memory the
 * context has.  A call takes its arguments as BLAS and LAPACK do, launches on the caller's stream,
 * allocates nothing, waits for nothing and can be captured.
 *
 * A context owns workspaces on the device that is current when it is made.  It serves one call at a
 * time, and calls on one stream: those that may overlap need a context each. */
typedef struct libsolver_dense_context libsolver_dense_context;

/* How libsolver_dense_trsm solves.  The automatic choice takes the fastest by shape and type; the
 * others are there to be compared (doc/measurements/dense-papers.md). */
typedef enum libsolver_dense_trsm_form {
    LIBSOLVER_DENSE_TRSM_AUTO = 0,
    /* by halves down to triangles of options.leaf, which are substituted with [Charara, Ltaief,
       Keyes, Euro-Par 2016]; */
    LIBSOLVER_DENSE_TRSM_HALVES = 1,
    /* diagonal blocks of options.block inverted, then block after block: a product with the
       inverse, which gives X(r), and one that takes it from all that is left of B [Du, Luszczek,
       Tomov, Dongarra, ICPPW 2010]; */
    LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS = 2,
    /* the same inverses, by halves */
    LIBSOLVER_DENSE_TRSM_INVERSE_HALVES = 3
} libsolver_dense_trsm_form;

typedef struct libsolver_dense_options {
    int64_t order; /* largest order of a triangle that the context serves; 0: 8192.  About 14.5 kB
                      each of device memory, and 32 MiB */
    int64_t leaf;  /* order up to which triangles are not cut: a multiple of 64 up to 1024; 0: what
                      is best on an H200 */
    void *cublas;  /* a cublasHandle_t, which is used and stays the caller's: after a call that used
                      it its stream, workspace, pointer mode (host) and atomics mode (off) are the
                      context's; NULL: the context makes one */
    int64_t block; /* order of the diagonal blocks that trsm and trtri invert: 64 times a power of
                      two, up to 1024; more than 1024 in s, 512 in d and c and 256 in z count as
                      these.  0: what is best on an H200, but not above `leaf`.  A block whose
                      inverse grows is substituted with */
    libsolver_dense_trsm_form trsm;
    uint64_t reserved[2];
} libsolver_dense_options;

/* Why dense calls on this machine answer NOT_BUILT: the library with the kernels,
 * libsolver_cuda_dense, cannot be loaded, or for contexts, no cuBLAS is found; "": neither.  Loads
 * both.  Valid for good. */
LIBSOLVER_API const char *libsolver_dense_message(void);
/* The version of the cuBLAS that contexts use, 10000 major + 100 minor + patch; 0: none. */
LIBSOLVER_API int libsolver_dense_cublas_version(void);

/* options: NULL for the defaults.  Waits for the device.  INVALID; NOT_BUILT: this build has no
 * CUDA, or no cuBLAS is found; OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CUDA. */
LIBSOLVER_API libsolver_status libsolver_dense_create(const libsolver_dense_options *options,
                                                      libsolver_dense_context **context);
/* When all its calls are done on the device.  NULL is allowed. */
LIBSOLVER_API void libsolver_dense_destroy(libsolver_dense_context *context);

/* The calls return INVALID, CUDA.  m, n, nrhs >= 0; leading dimensions as in LAPACK, below 2^31;
 * alpha: one entry on the host, NULL for 1. */

/* B := alpha inv(op(A)) B or alpha B inv(op(A)), as libsolver_trsm, which does few right-hand sides
 * or small orders; with more of them entries that are not finite may spread over the rows, from the
 * right the columns, of their diagonal block of order options.block. */
LIBSOLVER_API libsolver_status libsolver_dense_trsm(
    libsolver_dense_context *context, libsolver_type type, libsolver_side side,
    libsolver_storage uplo, libsolver_transpose trans, libsolver_diagonal diag, int64_t m,
    int64_t n, const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb, void *stream);
/* B := alpha op(A) B (LEFT, A of order m) or alpha B op(A) (RIGHT, A of order n), B m x n. */
LIBSOLVER_API libsolver_status libsolver_dense_trmm(
    libsolver_dense_context *context, libsolver_type type, libsolver_side side,
    libsolver_storage uplo, libsolver_transpose trans, libsolver_diagonal diag, int64_t m,
    int64_t n, const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb, void *stream);
/* A := inv(A), A triangular of order n; the other triangle, and the diagonal when unit, is not
 * touched. */
LIBSOLVER_API libsolver_status libsolver_dense_trtri(libsolver_dense_context *context,
                                                     libsolver_type type, libsolver_storage uplo,
                                                     libsolver_diagonal diag, int64_t n, void *a,
                                                     int64_t lda, void *stream);
/* The triangle `uplo` of A := L^H L (LOWER) or U U^H (UPPER), from L or U in it. */
LIBSOLVER_API libsolver_status libsolver_dense_lauum(libsolver_dense_context *context,
                                                     libsolver_type type, libsolver_storage uplo,
                                                     int64_t n, void *a, int64_t lda, void *stream);
/* As libsolver_potrf, which does up to order 4096.  info: one int on the device. */
LIBSOLVER_API libsolver_status libsolver_dense_potrf(libsolver_dense_context *context,
                                                     libsolver_type type, libsolver_storage uplo,
                                                     int64_t n, void *a, int64_t lda, int *info,
                                                     void *stream);
/* B := inv(A) B, n x nrhs, A by its factor from potrf. */
LIBSOLVER_API libsolver_status libsolver_dense_potrs(libsolver_dense_context *context,
                                                     libsolver_type type, libsolver_storage uplo,
                                                     int64_t n, int64_t nrhs, const void *a,
                                                     int64_t lda, void *b, int64_t ldb,
                                                     void *stream);
/* potrf, then potrs.  Where info is not 0 B is of no use: the host does not know it in time. */
LIBSOLVER_API libsolver_status libsolver_dense_posv(libsolver_dense_context *context,
                                                    libsolver_type type, libsolver_storage uplo,
                                                    int64_t n, int64_t nrhs, void *a, int64_t lda,
                                                    void *b, int64_t ldb, int *info, void *stream);
/* The triangle `uplo` of inv(A), from that of the factor. */
LIBSOLVER_API libsolver_status libsolver_dense_potri(libsolver_dense_context *context,
                                                     libsolver_type type, libsolver_storage uplo,
                                                     int64_t n, void *a, int64_t lda, void *stream);

#ifdef __cplusplus
}
#endif
#endif
