// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/verify/certificate.h"

#include <string>
#include <vector>

namespace qs {

/// A verdict as text, for terminal and window.
struct CertificateRow
{
    std::string file;
    std::string runtime; ///< "(bytes)" for the file alone, "(none)" if no runtime executed it
    /// "passed", "FAILED", "not compared", "not run", "NOT VERIFIED".
    std::string outcome;
    /// SQNR in dB of the worst output: runtime against ours, runtime against the float model, ours
    /// against the float model. "exact" without noise, "" if not measured.
    std::string agreement, there, here;
    std::vector<std::string> lines; ///< further remarks, without the file's name
    /// One line for each node whose integers differ, largest difference first: "'conv1': 12 of 3456
    /// integers differ, by 2 steps at most".
    std::vector<std::string> nodesApart;
    RuntimeVerdict::Outcome verdict = RuntimeVerdict::Outcome::NotRun;
    bool isShown = true; ///< false: only `lines` are shown, since the file is unchanged
};

/// What a verdict is about: "model.int8.onnx in onnxruntime", or "model.int8.pt2" for a file
/// itself.
std::string placeOf(const RuntimeVerdict& verdict);
/// One row for each verdict, in the order of the certificate.
std::vector<CertificateRow> certificateRows(const Certificate& certificate);
/// One sentence on the state from which calls started; "" for a model without state.
std::string stateText(CallState state);
/// "2 checks failed", "1 export not verified: no runtime executed it", "no export could be run in
/// any runtime"; "" if it passed.
std::string failureText(const Certificate& certificate);

} // namespace qs
