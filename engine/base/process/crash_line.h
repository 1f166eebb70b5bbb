// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// During its lifetime, a crash report names this node, which runs foreign code of a pack or
/// LibTorch. Borrows both texts; may be nested. If several threads run nodes, the report names the
/// node that started last.
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
    const CrashPlace* m_outer; ///< enclosing place on this thread
};

/// Installs handlers: a crash writes one line to stderr that names the running node, and then ends
/// the program as by default.
void tellCrashes();

} // namespace qs
