// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace qs {

/// Runs `free` soon, on a dedicated thread, which `exit` waits for. Any thread.
void freeLater(std::function<void()> free);

/// A deleter that deletes later: deleting the draft of a graph of 20,000 operators takes up to 200
/// ms, too long for a cancelled stage. Only for objects that hold no lock. Files that they hold
/// stay open until then.
struct FreeLater
{
    template<class T>
    void operator()(T* value) const
    {
        freeLater([value] { delete value; });
    }
};

template<class T>
using FreedLater = std::unique_ptr<T, FreeLater>;

template<class T, class... Given>
FreedLater<T> makeFreedLater(Given&&... given)
{
    return FreedLater<T>(new T(std::forward<Given>(given)...));
}

} // namespace qs
