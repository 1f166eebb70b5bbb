// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/verify/certificate.h"

#include <string>
#include <vector>

namespace qs {

/// A verdict as people read it, in the terminal and in the window alike.
struct CertificateRow
{
    std::string file;
    std::string runtime; ///< "(bytes)" for the file alone
    std::string outcome; ///< "passed", "FAILED", "not compared", "not run"
    /// Of the worst output, in dB: with ours, against the float model there and here; "exact"
    /// without noise, "" where nothing was measured.
    std::string agreement, there, here;
    std::vector<std::string> lines; ///< what else there is to say of it, without its name
    /// The nodes whose integers differ, a line each, the farthest first: "'conv1': 12 of 3456
    /// integers differ, by 2 steps at most".
    std::vector<std::string> nodesApart;
    RuntimeVerdict::Outcome verdict = RuntimeVerdict::Outcome::NotRun;
    bool isShown = true; ///< else only its lines matter: bytes that are as they were
};

/// "model.onnx in onnxruntime", "model.pt2".
std::string placeOf(const RuntimeVerdict& verdict);
/// In the order of the certificate.
std::vector<CertificateRow> certificateRows(const Certificate& certificate);
/// "2 checks failed", "no export could be run in any runtime"; "" where it passed.
std::string failureText(const Certificate& certificate);

} // namespace qs
