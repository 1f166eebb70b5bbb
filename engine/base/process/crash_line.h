// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// While it lives, the report of a crash names this node: it runs foreign code, a pack's or
/// LibTorch's. Borrows both texts; may be nested. If several threads run nodes, the one that began
/// last counts.
class CrashPlace
{
public:
    CrashPlace(const char* node, const char* target);
    ~CrashPlace();
    CrashPlace(const CrashPlace&) = delete;
    CrashPlace& operator=(const CrashPlace&) = delete;

private:
    friend void crashed(int);
    const char* m_node;
    const char* m_target;
    const CrashPlace* m_outer; ///< of this thread
};

/// From now on a crash writes one line to stderr, with the node that ran, and ends the program as
/// it would have without.
void tellCrashes();

} // namespace qs
