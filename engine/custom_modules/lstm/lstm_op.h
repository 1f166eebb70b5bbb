// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// The parts of an `aten.lstm.input` node.
struct LstmOp
{
    ValueRef input, hidden, cell; ///< sequence and the two initial states
    std::size_t layers = 1;
    std::size_t directions = 1;
    bool hasBiases = true;
    bool batchFirst = false;
    std::size_t cells() const { return layers * directions; }
    /// Parameters of one layer and direction: weight_ih, weight_hh and, with biases, two of them.
    std::size_t parametersPerCell() const { return hasBiases ? 4 : 2; }
};

/// The observed values inside a cell, in order of computation (the submodules of
/// torch.ao.nn.quantizable.LSTMCell).
inline constexpr std::array<std::string_view, 7> kLstmCellValues {
    "igates", "hgates", "gates", "fgate_cx", "igate_cgate", "fgate_cx_igate_cgate", "ogate_cy"};

/// Returns a cell's path within the LSTM, as in torch.ao's module: "layers.0.layer_fw.cell". Cells
/// are numbered as their parameters: forward, then backward, layer by layer.
std::string lstmCellPath(const LstmOp& op, std::size_t cell);
/// "layers.0.layer_fw.cell.gates".
std::string lstmInterior(const LstmOp& op, std::size_t cell, std::string_view value);

/// Returns the parts of an LSTM node; nullopt for other nodes and for LSTMs of another form.
std::optional<LstmOp> readLstm(const Node& node);

/// Returns why an LSTM node cannot be quantized statically, or "": projections, packed sequences,
/// training mode, states that are not two tensors. A clause without a subject.
std::string whyNoStaticLstm(const Node& node);

/// True if the initial states are zeros created by the LSTM's module, because its caller passed
/// none.
bool startsFromZeros(const Graph& graph, const Node& node);

} // namespace qs
