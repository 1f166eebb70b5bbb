// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace qs {

/// Returns the files' names, in order, with folders where names are equal: "net.pt2",
/// "v1/digits.pt2", "v2/digits.pt2".
QStringList shortPaths(const QStringList& paths);

} // namespace qs
