// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/short_paths.h"

namespace qs {

QStringList shortPaths(const QStringList& paths)
{
    const auto ending = [&paths](qsizetype i, int parts) {
        return paths[i].section(QLatin1Char('/'), -parts, -1);
    };
    QStringList out;
    for (qsizetype i = 0; i < paths.size(); ++i) {
        int parts = 1;
        const auto isShared = [&] {
            for (qsizetype k = 0; k < paths.size(); ++k)
                if (paths[k] != paths[i] && ending(k, parts) == ending(i, parts))
                    return true;
            return false;
        };
        while (isShared() && parts <= paths[i].count(QLatin1Char('/')))
            ++parts;
        out << ending(i, parts);
    }
    return out;
}

} // namespace qs
