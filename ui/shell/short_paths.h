// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace qs {

/// The files' names, in order; those that several share with as many of their folders as tell them
/// apart: "net.pt2", "v1/digits.pt2", "v2/digits.pt2".
QStringList shortPaths(const QStringList& paths);

} // namespace qs
