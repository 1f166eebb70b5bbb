// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// From now on freed memory stays with the process and serves the next tensors, in a separate heap
/// (`tensor_heap.h`). By default every tensor beyond some hundred kilobytes is allocated from and
/// returned to the system, page by page: half the time of networks with many cheap operators. Call
/// once, when the program starts, before it has threads.
void keepFreedMemory();

/// Returns free memory to the system. Call at the end of a long stage, so that the next one, or a
/// window that stays open, does not keep its memory.
void returnFreedMemory();

} // namespace qs
