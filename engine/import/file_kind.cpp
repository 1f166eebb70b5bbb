// SPDX-License-Identifier: Apache-2.0
#include "engine/import/file_kind.h"

#include "engine/base/files/read_file.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace qs {

namespace {

struct FileSignature
{
    std::string_view bytes;
    std::string_view what;
};

constexpr std::array<FileSignature, 9> kSignatures {{
    {"\x89PNG", "a PNG image"},
    {"\xff\xd8\xff", "a JPEG image"},
    {"GIF8", "a GIF image"},
    {"%PDF", "a PDF document"},
    {"\x1f\x8b", "a gzip archive"},
    {"\x7f"
     "ELF",
     "a program"},
    {"\x93NUMPY", "a NumPy array"},
    {"GGUF", "a GGUF model"},
    {"\x89HDF", "an HDF5 file"},
}};

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
        return fail(makeError(ErrorCode::BadInput, "is a folder, not a model file").inFile(path));
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
    for (const auto& signature : kSignatures)
        if (head.starts_with(signature.bytes))
            look.what = signature.what;
    if (look.what.empty())
        look.what = looksLikeText(head) ? "a text file" : "of a kind this program does not know";
    return look;
}

} // namespace qs
