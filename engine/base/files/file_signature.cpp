// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/file_signature.h"

#include <algorithm>
#include <sys/stat.h>

namespace qs {

namespace fs = std::filesystem;

namespace {

std::string signatureOfFile(const fs::path& path)
{
    struct stat about = {};
    std::string text = "\n" + path.string();
    if (stat(path.c_str(), &about) != 0)
        return text;
    for (const long long number :
         {(long long)about.st_size, (long long)about.st_ino, (long long)about.st_mtim.tv_sec,
          (long long)about.st_mtim.tv_nsec, (long long)about.st_ctim.tv_sec,
          (long long)about.st_ctim.tv_nsec}) // ctime, unlike mtime, cannot be set by programs
        text += " " + std::to_string(number);
    return text;
}

} // namespace

std::vector<fs::path> filesBelow(const fs::path& folder)
{
    std::error_code code;
    std::vector<fs::path> files;
    for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code))
        if (std::error_code unknown; entry->is_regular_file(unknown))
            files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    return files;
}

std::string fileSignature(const std::string& path)
{
    if (path.empty() || path == "sample")
        return {};
    std::error_code code;
    const fs::path absolute = fs::absolute(path, code);
    std::string text = signatureOfFile(absolute);
    if (!fs::is_directory(absolute, code))
        return text;
    for (const fs::path& file : filesBelow(absolute))
        text += signatureOfFile(file);
    return text;
}

} // namespace qs
