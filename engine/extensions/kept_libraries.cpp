// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/kept_libraries.h"

#include <torch/library.h>

#include <mutex>

namespace qs {

void keepLibrary(std::unique_ptr<torch::Library> library)
{
    static std::mutex mutex;
    static auto& kept = *new std::vector<std::unique_ptr<torch::Library>>();
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(library));
}

} // namespace qs
