// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>

#include <memory>
#include <span>

class QIODevice;

namespace qs {

/// Writes an RGB picture as a PNG row by row: a picture of any size needs memory for a few rows
/// only. Borrows the open device; any thread.
class PngStream
{
public:
    PngStream(QIODevice& device, const QSize& size);
    ~PngStream();
    /// Writes whole rows of three bytes per pixel, from the top. False if writing to the device
    /// fails.
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
