// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/cure/search_folder.h"

#include "engine/pipeline/keys/decision_keys.h"

#include <QDir>
#include <QStandardPaths>

namespace qs {

namespace {

constexpr int kKeptSearches = 8;

} // namespace

SearchFolder::SearchFolder(const Graph& file, const Recipe& start)
{
    const QDir all(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)
                   + QStringLiteral("/searches"));
    const std::string key
        = KeyBuilder("search").add(file.info().sha256).add(contentKey(start, {})).key();
    m_folder = all.filePath(QString::fromStdString(key.substr(0, 16))).toStdString();
    const auto newestFirst = all.entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Time);
    for (int i = kKeptSearches - 1; i < newestFirst.size(); ++i)
        if (newestFirst[i].filePath().toStdString() != m_folder)
            QDir(newestFirst[i].filePath()).removeRecursively();
    std::error_code code;
    std::filesystem::create_directories(m_folder, code);
    std::filesystem::last_write_time(m_folder, std::filesystem::file_time_type::clock::now(), code);
}

bool SearchFolder::holds(const std::string& file) const
{
    const std::filesystem::path path(file);
    return !file.empty() && (path.parent_path() == numbers() || file == trainedModel());
}

} // namespace qs
