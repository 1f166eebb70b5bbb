// SPDX-License-Identifier: Apache-2.0
// C++17: included by .cu files.
#pragma once

#ifdef __CUDACC__
#define QS_HD __host__ __device__
#else
#define QS_HD
#endif

// Compiles a function also for wider vector units; the loader selects the copy (ifunc), which
// sanitizers cannot instrument.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)        \
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define QS_VECTOR_CLONES                                                                           \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define QS_VECTOR_CLONES
#endif
