// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/read_file.h"
#include "engine/calibrate/data/images/image.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace qs {

namespace {

/// Same limit as Pillow: a larger image is an attack or a mistake.
constexpr std::int64_t kMostPixels = 178956970;

Error badImage(const std::string& path, const std::string& why)
{
    return makeError(ErrorCode::BadInput, "is not an image that can be decoded (" + why + ")")
        .inFile(path)
        .withHint("remove it from the folder, or save it again as .png or .jpg");
}

/// A file opened for stb. Detects reads past the end, for which stb silently uses zeros or old
/// memory.
struct OpenImage
{
    std::ifstream file;
    bool endedEarly = false; ///< a read went past the end
};

int readSome(void* user, char* target, int wanted)
{
    constexpr int kBuffer = 128; // stb may read ahead past the end by this many bytes
    auto& image = *static_cast<OpenImage*>(user);
    image.file.read(target, wanted);
    const int got = int(image.file.gcount());
    image.endedEarly = image.endedEarly || got == 0 || (got < wanted && wanted != kBuffer);
    return got;
}

void skipSome(void* user, int bytes)
{
    auto& file = static_cast<OpenImage*>(user)->file;
    file.clear();
    file.seekg(bytes, std::ios::cur);
}

int atEnd(void* user)
{
    auto& file = static_cast<OpenImage*>(user)->file;
    return !file || file.peek() == std::ifstream::traits_type::eof();
}

constexpr stbi_io_callbacks kCallbacks {readSome, skipSome, atEnd};

std::string failureText()
{
    const char* why = stbi_failure_reason();
    return why ? why : "unknown form";
}

/// True for a JPEG: a missing end marker is harmless there.
bool isJpeg(std::ifstream& file)
{
    char start[2] = {};
    file.clear();
    file.seekg(0);
    return file.read(start, 2) && start[0] == '\xff' && start[1] == '\xd8';
}

/// True for a JPEG with a Huffman table of more than 256 codes: the format has none, and stb writes
/// past its own table. Walks the segments (ITU-T T.81, B.1).
bool hasOverlongTable(std::ifstream& file)
{
    constexpr unsigned kStart = 0xff, kTables = 0xc4, kFirstRestart = 0xd0, kEnd = 0xd9;
    constexpr std::size_t kLengths = 16; // of codes, with a count each
    file.clear();
    file.seekg(0);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const auto at = [&bytes](std::size_t i) {
        return i < bytes.size() ? unsigned(static_cast<unsigned char>(bytes[i])) : 0U;
    };
    for (std::size_t i = 2; i + 3 < bytes.size();) {
        const unsigned marker = at(i + 1);
        if (at(i) != kStart || marker == kStart) { // within a scan, or padding
            ++i;
            continue;
        }
        if (marker < 2 || (marker >= kFirstRestart && marker <= kEnd)) { // without a length
            i += 2;
            continue;
        }
        const std::size_t end = i + 2 + std::max(2U, at(i + 2) << 8 | at(i + 3));
        for (std::size_t table = i + 4; marker == kTables && table + kLengths < end;) {
            std::size_t codes = 0;
            for (std::size_t length = 1; length <= kLengths; ++length)
                codes += at(table + length);
            if (codes > 256)
                return true;
            table += 1 + kLengths + codes;
        }
        i = end;
    }
    return false;
}

} // namespace

Result<ImageSize> readImageSize(const std::string& path)
{
    QS_CHECK(checkReadable(path));
    OpenImage file {std::ifstream(path, std::ios::binary)};
    if (!file.file)
        return fail(badImage(path, "it cannot be opened"));
    if (isJpeg(file.file) && hasOverlongTable(file.file))
        return fail(badImage(path, "a Huffman table is too long"));
    file.file.clear();
    file.file.seekg(0);
    ImageSize size;
    int channels = 0;
    if (!stbi_info_from_callbacks(&kCallbacks, &file, &size.width, &size.height, &channels))
        return fail(badImage(path, failureText()));
    if (std::int64_t(size.width) * size.height > kMostPixels)
        return fail(badImage(path, size.text() + " pixels are too many"));
    return size;
}

Result<Image> readImage(const std::string& path)
{
    QS_CHECK(readImageSize(path));
    OpenImage file {std::ifstream(path, std::ios::binary)};
    constexpr int kRgb = 3;
    Image image;
    int channels = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_callbacks(&kCallbacks, &file, &image.width, &image.height, &channels, kRgb),
        stbi_image_free);
    if (!pixels)
        return fail(badImage(path, failureText()));
    if (file.endedEarly && !isJpeg(file.file))
        return fail(badImage(path, "it is truncated"));
    image.pixels.assign(pixels.get(),
                        pixels.get() + std::size_t(image.width) * std::size_t(image.height) * kRgb);
    return image;
}

} // namespace qs
