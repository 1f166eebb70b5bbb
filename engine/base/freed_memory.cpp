// SPDX-License-Identifier: Apache-2.0
#include "engine/base/freed_memory.h"

#include <malloc.h>

namespace qs {

void keepFreedMemory()
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0); // large blocks come from the heap,
    mallopt(M_TRIM_THRESHOLD, -1); // which does not shrink,
    mallopt(M_ARENA_MAX, 1); // and is one for all threads: other heaps hold 64 MB at most
    mallopt(M_TOP_PAD, 16 << 20);
#endif
}

void returnFreedMemory()
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

} // namespace qs
