// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/attention/quantizable_attention.h"
#include "engine/execute/tensor_store.h"
#include "tests/support/graph_text_case.h"

#include <ATen/ATen.h>

using namespace qs;
using namespace qs::test;

namespace {

const Pass kAttention("quantizable-attention", makeAttentionQuantizable);

/// The weight of three projections at once, then that of the last layer.
std::shared_ptr<TensorStore> tensors()
{
    auto store = std::make_shared<TensorStore>();
    store->add(at::arange(12.F).reshape({6, 2}));
    store->add(at::ones({2, 2}));
    return store;
}

/// Notation with "M" for a module and "IN(layer)" for the scope of what is in it.
QString within(const QString& module, QString notation)
{
    static const QRegularExpression layer("IN\\((\\w+)\\)");
    notation.replace("IN()", "scope=\"M\" class=\"torch.nn.MultiheadAttention\"");
    notation.replace(layer, "scope=\"M.\\1\" class=\"torch.nn.Linear\"");
    return notation.replace("M_", module + "_").replace("\"M", "\"" + module);
}

const char* const kStored = R"(
    M_in: float32[6, 2] = parameter "M.in_proj_weight" tensor=1
    M_out: float32[2, 2] = parameter "M.out_proj.weight" tensor=2
)";
const char* const kCall = R"(
    M_packed: float32[4, 6] = aten.linear.default(input=%M_x, weight=%M_in) IN()
    M_apart: float32[4, 3, 2] = aten.unflatten.int(self=%M_packed, dim=-1, sizes=[3, 2]) IN()
    M_q: float32[4, 2] = aten.select.int(self=%M_apart, dim=1, index=0) IN()
    M_k: float32[4, 2] = aten.select.int(self=%M_apart, dim=1, index=1) IN()
    M_v: float32[4, 2] = aten.select.int(self=%M_apart, dim=1, index=2) IN()
    M_z: float32[4, 2] = aten.scaled_dot_product_attention.default(query=%M_q, key=%M_k, value=%M_v) IN()
    M_y: float32[4, 2] = aten.linear.default(input=%M_z, weight=%M_out) IN()
)";
const char* const kInput = "    M_x: float32[4, 2] = input\n";

const char* const kLayers = R"(
    module "M" ""
    module "M.linear_Q" "torch.nn.Linear" "M.linear_Q.weight"
    module "M.linear_K" "torch.nn.Linear" "M.linear_K.weight"
    module "M.linear_V" "torch.nn.Linear" "M.linear_V.weight"
    module "M.out_proj" "torch.nn.Linear"
)";
const char* const kLeft = "    M_out: float32[2, 2] = parameter \"M.out_proj.weight\" tensor=2\n";
const char* const kParts = R"(
    p_M_linear_Q_weight: float32[2, 2] = parameter "M.linear_Q.weight" tensor=%1
    p_M_linear_K_weight: float32[2, 2] = parameter "M.linear_K.weight" tensor=%2
    p_M_linear_V_weight: float32[2, 2] = parameter "M.linear_V.weight" tensor=%3
)";
const char* const kWritten = R"(
    linear_Q: float32[4, 2] = aten.linear.default(input=%M_x, weight=%p_M_linear_Q_weight) IN(linear_Q)
    linear_K: float32[4, 2] = aten.linear.default(input=%M_x, weight=%p_M_linear_K_weight) IN(linear_K)
    linear_V: float32[4, 2] = aten.linear.default(input=%M_x, weight=%p_M_linear_V_weight) IN(linear_V)
    M_z: float32[4, 2] = aten.scaled_dot_product_attention.default(query=%linear_Q, key=%linear_K, value=%linear_V) IN()
    M_y: float32[4, 2] = aten.linear.default(input=%M_z, weight=%M_out) IN(out_proj)
)";

/// Two modules that read two inputs.
QString both(const QString& notation)
{
    return within("a", notation) + within("b", notation);
}

std::vector<PassCase> shown()
{
    const QString root = "module \"\" \"\"\n";
    const QString partsOfA = within("a", QString(kParts).arg(3).arg(4).arg(5));
    const QString partsOfB = within("b", QString(kParts).arg(6).arg(7).arg(8));
    QString second = within("b", kWritten);
    for (const QString layer : {"linear_Q", "linear_K", "linear_V"})
        second.replace(layer + ":", layer + "_1:").replace("%" + layer, "%" + layer + "_1");
    return {
        {kAttention, "three projections at once become three layers",
         within("a", QString(kStored) + kInput + kCall) + "return %a_y",
         root + within("a", kLayers) + within("a", QString(kLeft) + kInput) + partsOfA
             + within("a", kWritten) + "return %a_y",
         tensors()},
        {kAttention, "so do those of a second module",
         both(kStored) + both(kInput) + both(kCall) + "return %a_y, %b_y",
         root + both(kLayers) + both(kLeft) + both(kInput) + partsOfA + partsOfB
             + within("a", kWritten) + second + "return %a_y, %b_y",
         tensors()},
        {kAttention, "linear layers of another module are not attention", R"(
            w: float32[2, 2] = parameter "a.out_proj.weight" tensor=2
            x: float32[4, 2] = input
            y: float32[4, 2] = aten.linear.default(input=%x, weight=%w) scope="a" class="my.Attention"
            return %y
        )",
         "", tensors()},
        {kAttention, "one projection is not three", within("a", R"(
            M_out: float32[2, 2] = parameter "M.out_proj.weight" tensor=2
            M_x: float32[4, 2] = input
            M_q: float32[4, 2] = aten.linear.default(input=%M_x, weight=%M_out) IN()
            M_y: float32[4, 2] = aten.linear.default(input=%M_q, weight=%M_out) IN()
            return %M_y
        )"),
         "", tensors()},
    };
}

} // namespace

class TestAttentionPass : public QObject
{
    Q_OBJECT
    const std::vector<PassCase> m_cases = shown();

private Q_SLOTS:
    void rewrites_data() { addRows(m_cases); }
    void rewrites() { compareRow(m_cases); }
};

QTEST_GUILESS_MAIN(TestAttentionPass)
#include "tst_attention_pass.moc"
