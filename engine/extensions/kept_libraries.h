// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace torch {
class Library;
}

namespace qs {

/// Keeps a library's registrations until the process ends; they would end with the object. Never
/// destroyed, because the dispatcher may be destroyed earlier. Any thread.
void keepLibrary(std::unique_ptr<torch::Library> library);

} // namespace qs
