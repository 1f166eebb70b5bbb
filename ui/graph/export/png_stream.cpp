// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/export/png_stream.h"

#include <QIODevice>
#include <QtEndian>

#include <zlib.h>

namespace qs {

struct PngStream::Deflater
{
    z_stream stream {};
    Deflater() { deflateInit(&stream, Z_BEST_SPEED); }
    ~Deflater() { deflateEnd(&stream); }
};

PngStream::PngStream(QIODevice& device, const QSize& size)
    : m_device(device)
    , m_size(size)
    , m_deflater(std::make_unique<Deflater>())
{
    m_good = m_device.write("\x89PNG\r\n\x1a\n", 8) == 8;
    QByteArray header(13, '\0');
    qToBigEndian<quint32>(quint32(size.width()), header.data());
    qToBigEndian<quint32>(quint32(size.height()), header.data() + 4);
    header[8] = 8; // bits per channel
    header[9] = 2; // red, green, blue
    m_good = chunk("IHDR", header) && m_good;
}

PngStream::~PngStream() = default;

bool PngStream::chunk(const char* type, const QByteArray& data)
{
    QByteArray body(type, 4);
    body += data;
    quint32 length = qToBigEndian<quint32>(quint32(data.size()));
    quint32 check = qToBigEndian<quint32>(
        quint32(crc32(0, reinterpret_cast<const Bytef*>(body.constData()), uInt(body.size()))));
    return m_device.write(reinterpret_cast<const char*>(&length), 4) == 4
        && m_device.write(body) == body.size()
        && m_device.write(reinterpret_cast<const char*>(&check), 4) == 4;
}

bool PngStream::deflate(std::span<const unsigned char> bytes, bool last)
{
    auto& stream = m_deflater->stream;
    stream.next_in = const_cast<Bytef*>(bytes.data());
    stream.avail_in = uInt(bytes.size());
    QByteArray out(1 << 16, Qt::Uninitialized);
    do {
        stream.next_out = reinterpret_cast<Bytef*>(out.data());
        stream.avail_out = uInt(out.size());
        ::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        const auto made = out.size() - qsizetype(stream.avail_out);
        if (made > 0 && !chunk("IDAT", out.left(made)))
            return false;
    } while (stream.avail_out == 0);
    return true;
}

bool PngStream::writeRows(std::span<const unsigned char> pixels)
{
    const std::size_t row = std::size_t(m_size.width()) * 3;
    const unsigned char unfiltered = 0;
    for (std::size_t at = 0; m_good && at + row <= pixels.size(); at += row)
        m_good = deflate({&unfiltered, 1}, false) && deflate(pixels.subspan(at, row), false);
    return m_good;
}

bool PngStream::finish()
{
    m_good = m_good && deflate({}, true) && chunk("IEND", {});
    return m_good;
}

} // namespace qs
