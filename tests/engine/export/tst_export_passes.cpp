// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/convert.h"
#include "engine/execute/tensor_store.h"
#include "engine/export/exporter.h"
#include "engine/export/forms/custom_module_borders.h"
#include "engine/export/forms/fold_sizes.h"
#include "engine/export/forms/fold_weights.h"
#include "engine/export/forms/inline_regions.h"
#include "engine/export/forms/scan_recurrences.h"
#include "engine/export/forms/separate_dequantizes.h"
#include "engine/graph/operators/state.h"
#include "tests/support/graph_text_case.h"

#include <ATen/ATen.h>

using namespace qs;
using namespace qs::test;

namespace {

constexpr PassTraits kOfFile {.isVerified = false};

/// What the pass of that name gives while a .pt2 is written.
Result<GraphPtr> writing(const Graph& graph, const std::string& name)
{
    QTemporaryDir folder;
    const PassWatch watch({}, name);
    const auto written = writePt2(graph, folder.filePath("model.pt2").toStdString());
    if (!watch.graph())
        return fail(written ? makeError(ErrorCode::Internal, "it did not run") : written.error());
    return watch.graph();
}

const Pass kRegions("inline-regions", withoutRegions, kOfFile);
const Pass kSizes("fold-sizes", foldSizes);
const Pass kWeights("fold-weights", foldWeights);
const Pass kSeparate("separate-dequantizes", separateDequantizes);
const Pass kScans("scan-recurrences", scanRecurrences);
const Pass kScalars("scalar-tensors", [](const Graph& g) { return writing(g, "scalar-tensors"); });
const Pass kState("without-state-updates", withoutStateUpdates);
const Pass kBorders("custom-module-borders", absorbCustomModuleBorders);

const std::vector<PassCase> kSpelling {
    {kRegions, "what it writes to is a copy", R"(
            x: float32[4] = input
            all (rows: float32[2, 2]) = quantscope.region.default(operands=[%x], written=[0])
            subgraph
                a: float32[4] = input
                b: float32[2, 2] = aten.view.default(self=%a, size=[2, 2])
                c: float32[4] = aten.relu_.default(self=%a)
                return %b
            end
            y: float32[2, 2] = aten.add.Tensor(self=%rows, other=%rows)
            return %y
        )",
     R"(
            x: float32[4] = input
            clone: float32[4] = aten.clone.default(self=%x)
            b: float32[2, 2] = aten.view.default(self=%clone, size=[2, 2])
            c: float32[4] = aten.relu_.default(self=%clone)
            y: float32[2, 2] = aten.add.Tensor(self=%b, other=%b)
            return %y
        )"},
    {kRegions, "a module that was gathered, in a branch too", R"(
            p: bool[] = input
            x: float32[2] = input
            y: float32[2] = higher_order.cond(=%p, ="subgraph:0", =[%x])
            subgraph
                a: float32[2] = input
                b: float32[2] = quantscope.module.default(inputs=[%a], params=[])
                subgraph
                    c: float32[2] = input
                    d: float32[2] = aten.relu.default(self=%c)
                    return %d
                end
                return %b
            end
            return %y
        )",
     R"(
            p: bool[] = input
            x: float32[2] = input
            y: float32[2] = higher_order.cond(=%p, ="subgraph:0", =[%x])
            subgraph
                a: float32[2] = input
                d: float32[2] = aten.relu.default(self=%a)
                return %d
            end
            return %y
        )"},
    {kSizes, "sizes that are fixed, and arithmetic on them, are numbers", R"(
            x: float32[{"s0" 2 "s0"}, 3] = input
            open: SymInt = aten.sym_size.int(self=%x, dim=0)
            fixed: SymInt = aten.sym_size.int(self=%x, dim=-1)
            twice: SymInt = _operator.mul(=%fixed, =2)
            rank: SymInt = aten.dim.default(self=%x)
            y: float32[...] = aten.view.default(self=%x, size=[%open, %twice, %rank])
            return %y
        )",
     R"(
            x: float32[{"s0" 2 "s0"}, 3] = input
            open: SymInt = aten.sym_size.int(self=%x, dim=0)
            y: float32[...] = aten.view.default(self=%x, size=[%open, 6, 2])
            return %y
        )"},
    {kSizes, "TorchScript's list of sizes", R"(
            x: float32[?, 3] = input
            all: Custom = aten.size.default(self=%x)
            y: float32[...] = aten.zeros.default(size=%all)
            return %y
        )",
     R"(
            x: float32[?, 3] = input
            sym_size: SymInt = aten.sym_size.int(self=%x, dim=0)
            y: float32[...] = aten.zeros.default(size=[%sym_size, 3])
            return %y
        )"},
    {kSizes, "what has an expression, or no known shape, stays", R"(
            x: float32[...] = input
            z: float32[3] = input
            open: SymInt = aten.sym_size.int(self=%x, dim=0)
            named: SymInt expression="s0" = aten.sym_size.int(self=%z, dim=0)
            y: float32[...] = aten.view.default(self=%x, size=[%open, %named])
            return %y
        )",
     ""},
    {kScans, "a recurrence is a scan", R"(
            x: float32[5, 2] = input
            h: float32[2] = input
            w: float32[2] = input
            rnn (all: float32[5, 2], last: float32[2]) = quantscope.recur.default(sequence=%x, states=[%h], extra=[%w])
            subgraph
                slice: float32[2] = input
                state: float32[2] = input
                extra: float32[2] = input
                sum: float32[2] = aten.add.Tensor(self=%slice, other=%state)
                return %sum
            end
            return %all, %last
        )",
     R"(
            x: float32[5, 2] = input
            h: float32[2] = input
            w: float32[2] = input
            rnn_1 (rnn_scan_0: float32[2], rnn_scan_1: float32[5, 2]) = higher_order.scan(="subgraph:0", =[%h], =[%x], =[%w])
            subgraph
                state: float32[2] = input
                slice: float32[2] = input
                extra: float32[2] = input
                sum: float32[2] = aten.add.Tensor(self=%slice, other=%state)
                step: float32[2] = aten.clone.default(self=%sum)
                return %sum, %step
            end
            return %rnn_scan_1, %rnn_scan_0
        )"},
    {kScans, "a scan stays", R"(
            x: float32[5, 2] = input
            h: float32[2] = input
            rnn (last: float32[2]) = higher_order.scan(="subgraph:0", =[%h], =[%x], =[])
            subgraph
                state: float32[2] = input
                slice: float32[2] = input
                return %slice
            end
            return %last
        )",
     ""},
    {kScalars, "TorchScript's tensors of one number", R"(
            x: float32[2] = input
            a: float32[] = aten.tensor.float(t=0.5)
            b: int64[] = aten.tensor.int(t=3, dtype=None, device=device("cpu"))
            c: float64[] = aten.tensor.bool(t=True, dtype=dtype(float64))
            return %a, %b, %c
        )",
     R"(
            x: float32[2] = input
            a: float32[] = aten.scalar_tensor.default(s=0.5, dtype=dtype(float32), device=None)
            b: int64[] = aten.scalar_tensor.default(s=3, dtype=dtype(int64), device=device("cpu"))
            c: float64[] = aten.scalar_tensor.default(s=True, dtype=dtype(float64), device=None)
            return %a, %b, %c
        )"},
    {kScalars, "other tensors stay", R"(
            x: float32[2] = input
            a: float32[1] = aten.tensor.default(data=[0.5])
            b: float32[] = aten.full.default(size=[], fill_value=0.5)
            return %a, %b
        )",
     ""},
    {kState, "readers of an update read its value", R"(
            n: int64[] = parameter buffer=1
            a: int64[] = aten.add.Tensor(self=%n, other=1)
            next: int64[] = quantscope.set_state.default(holder="n", value=%a)
            return %next
        )",
     R"(
            n: int64[] = parameter buffer=1
            a: int64[] = aten.add.Tensor(self=%n, other=1)
            return %a
        )"},
};

std::shared_ptr<TensorStore> weight()
{
    auto store = std::make_shared<TensorStore>();
    store->add(at::tensor({0.5F, -1.F}));
    return store;
}

/// Linear layers and a residual read one dequantize. As `rows`, the last size left out, it is the
/// layers' input as it is.
PassCase besideLayers(bool rows)
{
    PassCase shown {kSeparate,
                    rows ? "rows that layers and a residual read"
                         : "a residual beside linear layers stays separate",
                    R"(
            x: int8[2, 2, 2] = input
            w: float32[2, 2] = input
            d: float32[2, 2, 2] = DQ(%x, PARAMS)
            a: float32[2, 2, 2] = aten.linear.default(input=%d, weight=%w)
            b: float32[2, 2, 2] = aten.linear.default(input=%d, weight=%w)
            sum: float32[2, 2, 2] = aten.add.Tensor(self=%a, other=%d)
            return [%a, %b, %sum]
        )",
                    R"(
            x: int8[2, 2, 2] = input
            w: float32[2, 2] = input
            d: float32[2, 2, 2] = DQ(%x, PARAMS)
            a: float32[2, 2, 2] = aten.linear.default(input=%d, weight=%w)
            d_1: float32[2, 2, 2] = DQ(%x, PARAMS)
            b: float32[2, 2, 2] = aten.linear.default(input=%d_1, weight=%w)
            d_2: float32[2, 2, 2] = DQ(%x, PARAMS, out_dtype=dtype(float32))
            sum: float32[2, 2, 2] = aten.add.Tensor(self=%a, other=%d_2)
            return [%a, %b, %sum]
        )"};
    if (rows) {
        shown.before.replace("[2, 2, 2]", "[2, 2]");
        shown.after.replace("[2, 2, 2]", "[2, 2]").remove(", out_dtype=dtype(float32)");
    }
    return shown;
}

const std::vector<PassCase> kQuantized {
    {kWeights, "a weight is held as its integers", R"(
            w: float32[2] = parameter "fc.weight" tensor=1 scope="fc"
            x: float32[2] = input
            q: int8[2] = Q(%w, PARAMS)
            d: float32[2] = DQ(%q, PARAMS)
            y: float32[2] = aten.mul.Tensor(self=%x, other=%d)
            return %y
        )",
     R"(
            x: float32[2] = input
            w_quantized: int8[2] = parameter "fc.weight" scope="fc" origin=1 tensor=2
            d: float32[2] = DQ(%w_quantized, PARAMS)
            y: float32[2] = aten.mul.Tensor(self=%x, other=%d)
            return %y
        )",
     weight()},
    {kWeights, "a weight is held as its half floats", R"(
            w: float32[2] = parameter tensor=1
            half: float16[2] = aten.to.dtype(self=%w, dtype=dtype(float16))
            wide: float32[2] = aten.to.dtype(self=%half, dtype=dtype(float32))
            return %wide
        )",
     R"(
            w_quantized: float16[2] = parameter "w" origin=1 tensor=2
            wide: float32[2] = aten.to.dtype(self=%w_quantized, dtype=dtype(float32))
            return %wide
        )",
     weight()},
    {kWeights, "integers are not quantized again, and unread values go", R"(
            x: int8[2] = input
            d: float32[2] = DQ(%x, PARAMS)
            q: int8[2] = Q(%d, PARAMS)
            again: float32[2] = DQ(%q, PARAMS)
            unread: int8[2] = Q(%again, PARAMS)
            return %again
        )",
     R"(
            x: int8[2] = input
            again: float32[2] = DQ(%x, PARAMS)
            return %again
        )"},
    {kWeights, "with other parameters they are", R"(
            x: int8[2] = input
            d: float32[2] = DQ(%x, scale=0.25, zero_point=0, quant_min=-128, quant_max=127, dtype=dtype(int8))
            q: int8[2] = Q(%d, PARAMS)
            return %q
        )",
     ""},
    {kSeparate, "each reader has its own", R"(
            x: int8[2] = input
            d: float32[2] = DQ(%x, PARAMS)
            square: float32[2] = aten.mul.Tensor(self=%d, other=%d)
            sum: float32[2] = aten.add.Tensor(self=%square, other=%d)
            return [%sum, %d]
        )",
     R"(
            x: int8[2] = input
            d: float32[2] = DQ(%x, PARAMS)
            square: float32[2] = aten.mul.Tensor(self=%d, other=%d)
            d_1: float32[2] = DQ(%x, PARAMS)
            sum: float32[2] = aten.add.Tensor(self=%square, other=%d_1)
            d_2: float32[2] = DQ(%x, PARAMS)
            return [%sum, %d_2]
        )"},
    {kSeparate, "one reader keeps it", R"(
            x: int8[2] = input
            d: float32[2] = DQ(%x, PARAMS)
            return %d
        )",
     ""},
    besideLayers(true),
    besideLayers(false),
    {kBorders, "a module takes and gives quantized values", R"(
            x: int8[2] = input
            d: float32[2] = DQ(%x, PARAMS)
            other: float32[2] = input
            lstm: float32[2] = quantscope.module.default(inputs=[%d, %other], params=[])
            subgraph
                a: float32[2] = input
                b: float32[2] = input
                return %a
            end
            q: int8[2] = Q(%lstm, PARAMS)
            y: float32[2] = DQ(%q, PARAMS)
            return %y
        )",
     R"(
            x: int8[2] = input
            other: float32[2] = input
            lstm: float32[2] = quantscope.module.default(inputs=[%x, %other], params=[])
            subgraph
                a: float32[2] = input
                b: float32[2] = input
                return %a
            end
            y: float32[2] = aten.dequantize.self(self=%lstm)
            return %y
        )"},
    {kBorders, "an operator takes floats", R"(
            x: int8[2] = input
            d: float32[2] = DQ(%x, PARAMS)
            a: float32[2] = aten.relu.default(self=%d)
            q: int8[2] = Q(%a, PARAMS)
            return %q
        )",
     ""},
};

} // namespace

class TestExportPasses : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerQuantizedDecomposed(); }
    void spells_data() { addRows(kSpelling); }
    void spells() { compareRow(kSpelling); }
    void quantizes_data() { addRows(kQuantized); }
    void quantizes() { compareRow(kQuantized, withSteps); }
};

QTEST_GUILESS_MAIN(TestExportPasses)
#include "tst_export_passes.moc"
