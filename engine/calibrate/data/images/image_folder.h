// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

struct ImageFile
{
    std::string path;
    std::int64_t label = -1; ///< -1 if the folder has no labels
};

/// The images of a folder (.png .jpg .jpeg .bmp .ppm .pgm; names that begin with a dot are
/// ignored).
struct ImageFolder
{
    std::vector<ImageFile> files;
    bool hasLabels = false;
    bool isByClass = false; ///< files are sorted by class
};

/// Lists images directly in the folder in natural order (img2 before img10). Their optional labels
/// are in `labels.txt` or `labels.csv`, one line each: a file name and an integer, or only an
/// integer in the order of the images. Else each subfolder is a class: the sorted names are the
/// labels 0 to n-1, as in torchvision's ImageFolder. Errors name the file and the line.
Result<ImageFolder> listImages(const std::string& folder);

} // namespace qs
