// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/pipeline/stages.h"
#endif
#include "ui/samples/sample_picture.h"

#include <QImage>
#include <QObject>
#include <QString>

#include <map>
#include <optional>
#include <vector>

class QTimer;

namespace qs {

class EngineService;
class Workspace;

/// Pictures of samples' inputs, read and drawn on a pool thread and cached. Requests of one turn of
/// the event loop are answered together. GUI thread only.
class SamplePictures : public QObject
{
    Q_OBJECT

public:
    explicit SamplePictures(Workspace& workspace, QObject* parent = nullptr);

    /// Sets model and data, and the side of a picture in pixels; drops pictures of others. Without
    /// a model there are no pictures.
    void setSource(SampleInputsRequest source, int side);
    /// Returns the sample's picture; null if it is not drawn yet: then `arrived` follows.
    const QImage* ask(std::int64_t sample);
    /// Name and shape of the input, "x [1, 8, 8]", or the reason for a missing picture; empty
    /// until it is read.
    QString textOf(std::int64_t sample) const;

Q_SIGNALS:
    void arrived();

private:
    struct Picture
    {
        QImage image; ///< null if the input cannot be read
        QString text;
    };
    using Pictures = std::map<std::int64_t, Picture>;
    void readWanted();
    static Pictures read(EngineService& engine, const SampleInputsRequest& request, int side,
                         const PictureColours& colours, const JobContext& job);

    Workspace& m_workspace;
    SampleInputsRequest m_source;
    int m_side = 0;
    int m_number = 0; ///< of the source
    Pictures m_known;
    std::vector<std::int64_t> m_wanted;
    bool m_isReading = false;
    QTimer* m_start;
};

} // namespace qs
