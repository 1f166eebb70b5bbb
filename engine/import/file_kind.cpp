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

bool looksLikePickle(std::string_view head)
{
    // Protocol 2 and later start with PROTO (0x80) and the protocol's number.
    return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
}

bool looksLikeText(std::string_view head)
{
    for (const char c : head)
        if (c == '\0'
            || (std::iscntrl(static_cast<unsigned char>(c))
                && !std::isspace(static_cast<unsigned char>(c))))
            return false;
    return true;
}

void name(FileLook& look, const ForeignFormat& format)
{
    look.what = format.what;
    look.way = format.way;
    look.isWrapping = format.isWrapping;
    look.isNamed = true;
}

Result<FileLook> lookAtFolder(const std::string& path)
{
    const auto format = foreignFolder(path);
    if (!format)
        return fail(makeError(ErrorCode::BadInput, "is a folder, not a model file").inFile(path));
    FileLook look;
    name(look, *format);
    return look;
}

} // namespace

std::string exportRecipe()
{
    return "make a .pt2 in Python: torch.export.save(torch.export.export(model.eval(), "
           "example_inputs), \"model.pt2\")";
}

Result<FileLook> lookAtFile(const std::string& path)
{
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (!std::filesystem::exists(status))
        return fail(makeError(ErrorCode::NotFound, "no such file").inFile(path));
    if (std::filesystem::is_directory(status))
        return lookAtFolder(path);
    QS_CHECK(checkReadable(path));
    std::ifstream in(path, std::ios::binary);
    std::array<char, 512> buffer {};
    in.read(buffer.data(), buffer.size());
    const std::string_view head(buffer.data(), std::size_t(in.gcount()));
    if (head.empty())
        return fail(makeError(ErrorCode::BadInput, "the file is empty").inFile(path));
    FileLook look;
    look.size = std::filesystem::file_size(path, code);
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
        look.kind = FileKind::Zip;
        return look;
    }
    if (looksLikePickle(head)) {
        look.kind = FileKind::Pickle;
        return look;
    }
    if (const auto format = foreignFormat(head, look.size, path))
        name(look, *format);
    else
        look.what = looksLikeText(head) ? "a text file" : "of a kind this program does not know";
    return look;
}

} // namespace qs
