// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/read_file.h"
#include "engine/calibrate/data/images/image.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <istream>
#include <memory>
#include <numeric>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wunused-function"
#ifndef __clang_analyzer__ // what it says of stb's own code is not ours to mend
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#endif
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
const char* const kOverlong = "a Huffman table is too long";

Error badImage(const std::string& path, const std::string& why)
{
    return makeError(ErrorCode::BadInput, "is not an image that can be decoded (" + why + ")")
        .inFile(path)
        .withHint("remove it, or save it again as .png or .jpg");
}

/// An image opened for stb. Detects reads past the end, for which stb silently uses zeros or old
/// memory.
struct OpenImage
{
    std::istream& file;
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
    return !file || file.peek() == std::istream::traits_type::eof();
}

constexpr stbi_io_callbacks kCallbacks {readSome, skipSome, atEnd};

std::string failureText()
{
    const char* why = stbi_failure_reason();
    return why ? why : "unknown form";
}

/// True for a JPEG: a missing end marker is harmless there.
bool isJpeg(std::istream& file)
{
    char start[2] = {};
    file.clear();
    file.seekg(0);
    return file.read(start, 2) && start[0] == '\xff' && start[1] == '\xd8';
}

/// True if a JPEG, read from its first segment on, has a Huffman table of more than 256 codes.
/// Walks the segments (ITU-T T.81, B.1), those before the frame's header if `isHeader`.
bool findsOverlongTable(std::istream& file, bool isHeader)
{
    constexpr int kStart = 0xff, kTables = 0xc4, kFirstRestart = 0xd0, kEnd = 0xd9;
    constexpr int kFirstFrame = 0xc0, kLastFrame = 0xc2; // that stb decodes
    constexpr std::ptrdiff_t kLengths = 16; // of codes, with a count each
    for (int byte = file.get(); file; byte = file.get()) {
        if (byte != kStart) // within a scan
            continue;
        int marker = file.get();
        while (marker == kStart) // padding
            marker = file.get();
        if (marker < 2 || (marker >= kFirstRestart && marker <= kEnd)) // without a length
            continue;
        if (isHeader && marker >= kFirstFrame && marker <= kLastFrame)
            return false;
        const int high = file.get(), length = (high << 8 | file.get()) - 2;
        if (!file || length < 0)
            return false;
        if (marker != kTables) {
            file.seekg(length, std::ios::cur);
            continue;
        }
        std::string bytes(std::size_t(length), '\0');
        file.read(bytes.data(), length);
        for (auto table = bytes.cbegin(); bytes.cend() - table > kLengths;) {
            const std::ptrdiff_t codes = std::accumulate(
                table + 1, table + 1 + kLengths, std::ptrdiff_t(0),
                [](std::ptrdiff_t sum, char count) { return sum + std::uint8_t(count); });
            if (codes > 256)
                return true;
            table += std::min(1 + kLengths + codes, bytes.cend() - table);
        }
    }
    return false;
}

/// True for a JPEG with an overlong Huffman table: the format has none, and stb writes past its own
/// table. `isHeader`: as far as stb reads for the size. Leaves the file at its start.
bool hasOverlongTable(std::istream& file, bool isHeader)
{
    const bool isOverlong = isJpeg(file) && findsOverlongTable(file, isHeader);
    file.clear();
    file.seekg(0);
    return isOverlong;
}

} // namespace

Result<ImageSize> readImageSize(std::istream& image, const std::string& path)
{
    OpenImage file {image};
    if (hasOverlongTable(image, true))
        return fail(badImage(path, kOverlong));
    ImageSize size;
    int channels = 0;
    if (!stbi_info_from_callbacks(&kCallbacks, &file, &size.width, &size.height, &channels))
        return fail(badImage(path, failureText()));
    if (std::int64_t(size.width) * size.height > kMostPixels)
        return fail(badImage(path, size.text() + " pixels are too many"));
    return size;
}

Result<Image> readImage(std::istream& source, const std::string& path)
{
    QS_CHECK(readImageSize(source, path));
    if (hasOverlongTable(source, false))
        return fail(badImage(path, kOverlong));
    OpenImage file {source};
    constexpr int kRgb = 3;
    Image image;
    int channels = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
        stbi_load_from_callbacks(&kCallbacks, &file, &image.width, &image.height, &channels, kRgb),
        stbi_image_free);
    if (!pixels)
        return fail(badImage(path, failureText()));
    if (file.endedEarly && !isJpeg(source))
        return fail(badImage(path, "it is truncated"));
    image.pixels.assign(pixels.get(),
                        pixels.get() + std::size_t(image.width) * std::size_t(image.height) * kRgb);
    return image;
}

namespace {

Result<std::ifstream> openImage(const std::string& path)
{
    QS_CHECK(checkReadable(path));
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return fail(badImage(path, "it cannot be opened"));
    return file;
}

} // namespace

Result<ImageSize> readImageSize(const std::string& path)
{
    QS_TRY(std::ifstream file, openImage(path));
    return readImageSize(file, path);
}

Result<Image> readImage(const std::string& path)
{
    QS_TRY(std::ifstream file, openImage(path));
    return readImage(file, path);
}

} // namespace qs
