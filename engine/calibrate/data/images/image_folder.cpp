// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/images/image_folder.h"

#include "engine/base/files/file_pattern.h"
#include "engine/base/files/read_file.h"
#include "engine/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr std::array<const char*, 6> kEndings {".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm"};

bool isHidden(const fs::path& path)
{
    return path.filename().string().starts_with('.');
}

bool isImage(const fs::directory_entry& entry)
{
    std::error_code code;
    std::string ending = entry.path().extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end()
        && !isHidden(entry.path()) && entry.is_regular_file(code);
}

void sortNaturally(std::vector<std::string>& paths)
{
    std::sort(paths.begin(), paths.end(), naturallyBefore);
}

std::vector<std::string> imagesDirectlyIn(const std::string& folder)
{
    std::vector<std::string> out;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code))
        if (isImage(entry))
            out.push_back(entry.path().string());
    sortNaturally(out);
    return out;
}

std::vector<std::string> imagesBelow(const std::string& folder)
{
    std::vector<std::string> out;
    std::error_code code;
    const auto options = fs::directory_options::skip_permission_denied;
    for (const auto& entry : fs::recursive_directory_iterator(folder, options, code))
        if (isImage(entry))
            out.push_back(entry.path().string());
    sortNaturally(out);
    return out;
}

ImageFolder byClass(const std::string& folder)
{
    std::vector<std::string> classes;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code))
        if (entry.is_directory(code) && !isHidden(entry.path()))
            classes.push_back(entry.path().string());
    std::sort(classes.begin(), classes.end());
    ImageFolder out;
    out.hasLabels = out.isByClass = true;
    for (std::size_t label = 0; label < classes.size(); ++label)
        for (auto& path : imagesBelow(classes[label]))
            out.files.push_back({std::move(path), std::int64_t(label)});
    return out;
}

std::optional<std::int64_t> wholeNumber(const std::string& text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        return std::nullopt;
    return value;
}

/// Removes blanks and quotes at both ends.
std::string unquoted(const std::string& text)
{
    return std::string(trimmed(text, " \t\r\""));
}

/// A file of labels, by file name or in the order of the images.
class LabelFile
{
public:
    explicit LabelFile(std::string path)
        : m_path(std::move(path))
    {
    }

    Result<void> read()
    {
        QS_CHECK(checkReadable(m_path));
        std::ifstream file(m_path);
        if (!file)
            return fail(makeError(ErrorCode::Io, "cannot be read").inFile(m_path));
        std::string line;
        for (int number = 1; std::getline(file, line); ++number)
            if (!unquoted(line).empty())
                QS_CHECK(readLine(unquoted(line), number));
        if (m_byName.empty() == m_inOrder.empty())
            return fail(
                makeError(ErrorCode::BadInput,
                          !m_byName.empty()  ? "has lines with and without a file's name"
                              : m_hasHeading ? "holds no label below its heading"
                                             : "holds no label")
                    .inFile(m_path)
                    .withHint("a line is 'name,class' or 'class', the class a whole number"));
        return {};
    }

    Result<void> apply(ImageFolder& folder) const
    {
        if (!m_inOrder.empty() && m_inOrder.size() != folder.files.size())
            return fail(makeError(ErrorCode::BadInput,
                                  "holds " + counted(m_inOrder.size(), "label") + " for "
                                      + counted(folder.files.size(), "image"))
                            .inFile(m_path));
        for (std::size_t i = 0; i < folder.files.size(); ++i) {
            const std::string name = fs::path(folder.files[i].path).filename().string();
            const auto found = m_byName.find(name);
            if (m_inOrder.empty() && found == m_byName.end())
                return fail(makeError(ErrorCode::BadInput, "holds no label for '" + name + "'")
                                .inFile(m_path)
                                .withHint("add a line '" + name + ",0' with its class"));
            folder.files[i].label = m_inOrder.empty() ? found->second : m_inOrder[i];
        }
        folder.hasLabels = true;
        return {};
    }

private:
    Result<void> readLine(const std::string& line, int number)
    {
        const auto comma = line.rfind(',');
        const auto split = comma == std::string::npos ? line.find_last_of(" \t") : comma;
        const auto label
            = wholeNumber(unquoted(split == std::string::npos ? line : line.substr(split + 1)));
        if (!label) {
            if (number == 1) {
                m_hasHeading = true;
                return {};
            }
            return fail(makeError(ErrorCode::BadInput,
                                  "line " + std::to_string(number)
                                      + " does not end with a whole number, the class")
                            .inFile(m_path));
        }
        if (split == std::string::npos)
            m_inOrder.push_back(*label);
        else
            m_byName[unquoted(line.substr(0, split))] = *label;
        return {};
    }

    std::string m_path;
    bool m_hasHeading = false;
    std::map<std::string, std::int64_t> m_byName;
    std::vector<std::int64_t> m_inOrder;
};

} // namespace

Result<ImageFolder> listImages(const std::string& folder)
{
    ImageFolder out;
    for (auto& path : imagesDirectlyIn(folder))
        out.files.push_back({std::move(path), -1});
    if (out.files.empty())
        out = byClass(folder);
    if (out.files.empty())
        return fail(makeError(ErrorCode::BadInput, "holds no image")
                        .inFile(folder)
                        .withHint("put .png, .jpg, .bmp, .ppm or .pgm files there, or a folder of "
                                  "them for each class"));
    for (const char* name : {"labels.csv", "labels.txt"}) {
        const fs::path path = fs::path(folder) / name;
        std::error_code code;
        if (out.isByClass || !fs::exists(path, code))
            continue;
        LabelFile labels(path.string());
        QS_CHECK(labels.read());
        QS_CHECK(labels.apply(out));
        break;
    }
    return out;
}

} // namespace qs
