// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>

#include <memory>
#include <span>

class QIODevice;

namespace qs {

/// Writes an RGB picture as a PNG row by row, so that a picture of any size needs the memory of a
/// few rows. Borrows the open device; any thread.
class PngStream
{
public:
    PngStream(QIODevice& device, const QSize& size);
    ~PngStream();
    /// Whole rows of three bytes a pixel, from the top. False where the device takes no more.
    bool writeRows(std::span<const unsigned char> pixels);
    /// Ends the file; all rows must have been written.
    bool finish();

private:
    struct Deflater;
    bool chunk(const char* type, const QByteArray& data);
    bool deflate(std::span<const unsigned char> bytes, bool last);

    QIODevice& m_device;
    QSize m_size;
    std::unique_ptr<Deflater> m_deflater;
    bool m_good = true;
};

} // namespace qs
