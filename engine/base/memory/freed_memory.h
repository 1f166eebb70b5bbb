// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// From now on freed memory stays with the process and serves the next tensors, in a heap of their
/// own (`tensor_heap.h`). By default every tensor beyond some hundred kilobytes is fetched from the
/// system and given back, page by page: half the time of networks with many cheap operators. Call
/// once, when the program starts, before it has threads.
void keepFreedMemory();

/// Gives the system what is free now: at the end of a long stage, so that the next one, or a window
/// that stays open, does not sit on its memory.
void returnFreedMemory();

} // namespace qs
