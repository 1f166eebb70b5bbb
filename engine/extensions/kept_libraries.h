// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace torch {
class Library;
}

namespace qs {

/// What a library registers goes when it does; a pack's stays, as a shared library's would. Never
/// destroyed: the dispatcher may be gone by then. Any thread.
void keepLibrary(std::unique_ptr<torch::Library> library);

} // namespace qs
