// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace qs {

/// The files' names, in order; names that several files share get the folders that distinguish
/// them: "net.pt2", "v1/digits.pt2", "v2/digits.pt2".
QStringList shortPaths(const QStringList& paths);

} // namespace qs
