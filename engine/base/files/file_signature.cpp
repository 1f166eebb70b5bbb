// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/file_signature.h"

#include "engine/base/files/file_pattern.h"
#include "engine/base/sha256.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

namespace qs {

namespace fs = std::filesystem;

namespace {

std::string signatureOfFile(const std::string& path)
{
    struct stat about = {};
    std::string text = "\n" + path;
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

std::vector<std::string> filesBelow(const std::string& folder)
{
    std::error_code code;
    std::vector<std::string> files;
    for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code))
        if (std::error_code unknown; entry->is_regular_file(unknown))
            files.push_back(entry->path().string());
    const auto rank = [](char c) { return c == '/' ? 0 : int(static_cast<unsigned char>(c)) + 1; };
    std::sort(files.begin(), files.end(), [&](const std::string& a, const std::string& b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                            [&](char x, char y) { return rank(x) < rank(y); });
    });
    return files;
}

std::string fileSignature(const std::string& path)
{
    if (path.empty() || path == "sample")
        return {};
    std::error_code code;
    const std::string absolute = fs::absolute(path, code).string();
    const bool isPattern = isFilePattern(path);
    if (!isPattern && !fs::is_directory(absolute, code))
        return signatureOfFile(absolute);
    Sha256 all;
    const auto add = [&all](const std::string& text) { all.update(text.data(), text.size()); };
    add(signatureOfFile(absolute));
    for (const std::string& file : isPattern ? namedFiles(absolute) : filesBelow(absolute))
        add(signatureOfFile(file));
    return "\n" + absolute + " " + all.hex();
}

} // namespace qs
