// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QImage>

namespace qs {

struct SampleInput;

/// Colours of a picture that is not an image. A value.
struct PictureColours
{
    QColor ground, ink;
    bool isDark = false;
};

/// True if the input is an image: one or three channels before or after rows and columns.
bool isImageInput(const SampleInput& input);

/// Draws an input into a square of `side` pixels: an image from its least to its greatest value; a
/// line for one dimension; else a heat map of its rows. Any thread.
QImage pictureOf(const SampleInput& input, int side, const PictureColours& colours);

} // namespace qs
