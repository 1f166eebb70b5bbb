// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// Makes the process keep freed tensor memory for later tensors, in a separate heap
/// (`tensor_heap.h`). By default every tensor above some hundred kilobytes is allocated from and
/// returned to the system page by page, which takes half the time of networks with many cheap
/// operators. Call once at program start, before there are threads.
void keepFreedMemory();

/// Returns free memory to the system. Call at the end of a long stage, so that its memory is not
/// held by the next stage or an open window.
void returnFreedMemory();

} // namespace qs
