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
    std::string runtime; ///< "(bytes)" for the file alone, "(none)" if no runtime executed it
    /// "passed", "FAILED", "not compared", "not run", "NOT VERIFIED".
    std::string outcome;
    /// In dB, of all outputs the least: with ours, against the float model there and here; "exact"
    /// without noise, "" where nothing was measured.
    std::string agreement, there, here;
    std::vector<std::string> lines; ///< further remarks, without its name
    /// The nodes whose integers differ, a line each, the farthest first: "'conv1': 12 of 3456
    /// integers differ, by 2 steps at most".
    std::vector<std::string> nodesApart;
    RuntimeVerdict::Outcome verdict = RuntimeVerdict::Outcome::NotRun;
    bool isShown = true; ///< else only its lines matter: bytes that are as they were
};

/// "model.int8.onnx in onnxruntime", "model.int8.pt2".
std::string placeOf(const RuntimeVerdict& verdict);
/// In the order of the certificate.
std::vector<CertificateRow> certificateRows(const Certificate& certificate);
/// One sentence on the state that calls started from; "" of a model without state.
std::string stateText(CallState state);
/// "2 checks failed", "1 export not verified: no runtime executed it", "no export could be run in
/// any runtime"; "" where it passed.
std::string failureText(const Certificate& certificate);

} // namespace qs
