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
    std::int64_t label = -1; ///< -1 where the folder has no labels
};

/// The images of a folder (.png .jpg .jpeg .bmp .ppm .pgm; names that begin with a dot are left
/// out).
struct ImageFolder
{
    std::vector<ImageFile> files;
    bool hasLabels = false;
    bool isByClass = false; ///< the files stand class after class
};

/// Images that lie in the folder itself come in natural order (img2 before img10); their labels, if
/// any, stand in `labels.txt` or `labels.csv` there: a line each, a file's name and a whole number,
/// or in order a number alone. Else each folder in it is a class: the sorted names are the labels 0
/// to n-1, as in torchvision's ImageFolder. Errors name the file and the line.
Result<ImageFolder> listImages(const std::string& folder);

/// Whether `a` comes before `b` when the numbers in them are compared as numbers.
bool naturallyBefore(const std::string& a, const std::string& b);

} // namespace qs
