// SPDX-License-Identifier: Apache-2.0
#include "engine/import/file_kind.h"

#include "engine/base/files/read_file.h"
#include "engine/import/foreign_formats.h"

#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace qs {

namespace {

bool isPickle(std::string_view head)
{
    // Protocol 2 and later start with PROTO (0x80) and the protocol's number.
    return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

bool isText(std::string_view head)
{
    for (const char c : head)
        if (c == '\0'
            || (std::iscntrl(static_cast<unsigned char>(c))
                && !std::isspace(static_cast<unsigned char>(c))))
            return false;
    return true;
}

void name(FileSniff& sniff, const ForeignFormat& format)
{
    sniff.what = format.what;
    sniff.way = format.way;
    sniff.isWrapping = format.isWrapping;
    sniff.isNamed = true;
}

Result<FileSniff> sniffFolder(const std::string& path)
{
    const auto format = foreignFolder(path);
    if (!format)
        return fail(makeError(ErrorCode::BadInput, "is a folder, not a model file").inFile(path));
    FileSniff sniff;
    name(sniff, *format);
    return sniff;
}

} // namespace

std::string exportRecipe()
{
    return "make a .pt2 in Python: torch.export.save(torch.export.export(model.eval(), "
           "example_inputs), \"model.pt2\")";
}

Result<FileSniff> sniffFile(const std::string& path)
{
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (!std::filesystem::exists(status))
        return fail(makeError(ErrorCode::NotFound, "no such file").inFile(path));
    if (std::filesystem::is_directory(status))
        return sniffFolder(path);
    QS_CHECK(checkReadable(path));
    std::ifstream in(path, std::ios::binary);
    std::array<char, 512> buffer {};
    in.read(buffer.data(), buffer.size());
    const std::string_view head(buffer.data(), std::size_t(in.gcount()));
    if (head.empty())
        return fail(makeError(ErrorCode::BadInput, "the file is empty").inFile(path));
    FileSniff sniff;
    sniff.size = std::filesystem::file_size(path, code);
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
        sniff.kind = FileKind::Zip;
        return sniff;
    }
    if (isPickle(head)) {
        sniff.kind = FileKind::Pickle;
        return sniff;
    }
    if (const auto format = foreignFormat(head, sniff.size, path))
        name(sniff, *format);
    else
        sniff.what = isText(head) ? "a text file" : "of a kind this program does not know";
    return sniff;
}

} // namespace qs
