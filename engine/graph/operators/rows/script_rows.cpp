// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/rows/operator_rows.h"

namespace qs {

namespace {

using T = ResultType;
using R = ResultRank;
using X = OperatorTrait;

constexpr OperatorRow kScriptRows[] = {
    {"Bool", T::Unknown, R::Unknown, {X::Folds}},
    {"Float", T::Unknown, R::Unknown, {X::Folds}},
    {"Int", T::Unknown, R::Unknown, {X::Folds}},
    {"ScalarImplicit", T::Unknown, R::Unknown, {X::Folds}},
    {"__contains__", T::Unknown, R::Unknown, {X::Folds}},
    {"__derive_index", T::Unknown, R::Unknown, {X::Folds}},
    {"__getitem__", T::Unknown, R::Unknown, {X::Folds, X::Restores}},
    {"__is__", T::Unknown, R::Unknown, {X::Restores}},
    {"__isnot__", T::Unknown, R::Unknown, {X::Restores}},
    {"__lshift__", T::Unknown, R::Unknown, {X::Folds}},
    {"__not__", T::Unknown, R::Unknown, {X::Folds, X::Restores}},
    {"__range_length", T::Unknown, R::Unknown, {X::Folds}},
    {"__rshift__", T::Unknown, R::Unknown, {X::Folds}},
    {"_assert_async", T::Unknown, R::Unknown, {X::Asserts}},
    {"_assert_async.msg", T::Unknown, R::Unknown, {X::Asserts, X::AboutTracing}},
    {"_assert_scalar", T::Unknown, R::Unknown, {X::Asserts, X::AboutTracing}},
    {"_assert_tensor_metadata", T::Unknown, R::Unknown, {X::Asserts, X::AboutTracing}},
    {"_functional_assert_async", T::Unknown, R::Unknown, {X::Asserts}},
    {"_functional_assert_scalar", T::Unknown, R::Unknown, {X::Asserts}},
    {"_local_scalar_dense", T::Unknown, R::Unknown, {X::ReadsNumber}},
    {"_print", T::Unknown, R::Unknown, {X::Prints, X::Forbidden}},
    {"device", T::Unknown, R::Unknown, {X::Folds}},
    {"dim", T::Unknown, R::Unknown, {X::Measures, X::Restores}},
    {"endswith", T::Unknown, R::Unknown, {X::Folds}},
    {"floordiv", T::Unknown, R::Unknown, {X::Folds}},
    {"format", T::Unknown, R::Unknown, {X::Folds, X::Restores}},
    {"from_file", T::Unknown, R::Unknown, {X::Forbidden}},
    {"is_floating_point", T::Unknown, R::Unknown, {X::Measures}},
    {"item", T::Unknown, R::Unknown, {X::ReadsNumber}},
    {"join", T::Unknown, R::Unknown, {X::Folds}},
    {"len", T::Unknown, R::Unknown, {X::Folds, X::Restores}},
    {"list", T::Unknown, R::Unknown, {X::Folds}},
    {"lower", T::Unknown, R::Unknown, {X::Folds}},
    {"ord", T::Unknown, R::Unknown, {X::Folds}},
    {"prim.Constant", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.GetAttr", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.If", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.ListConstruct", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.ListUnpack", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.Print", T::Unknown, R::Unknown, {X::Forbidden}},
    {"prim.PythonOp", T::Unknown, R::Unknown, {X::Forbidden}},
    {"prim.RaiseException", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.SetAttr", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.TupleConstruct", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.TupleIndex", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.TupleSlice", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.TupleUnpack", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.Uninitialized", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.abs", T::Unknown, R::Unknown, {X::Folds}},
    {"prim.device", T::Unknown, R::Unknown, {X::Restores}},
    {"prim.dtype", T::Unknown, R::Unknown, {X::Measures, X::Restores}},
    {"prim.fork", T::Unknown, R::Unknown, {X::Forbidden}},
    {"prim.is_cuda", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.is_meta", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.is_mkldnn", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.is_mps", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.is_nested", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.is_sparse", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.is_vulkan", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.is_xpu", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.max", T::Unknown, R::Unknown, {X::Folds}},
    {"prim.min", T::Unknown, R::Unknown, {X::Folds}},
    {"prim.requires_grad", T::Unknown, R::Unknown, {X::AnswersNo}},
    {"prim.rpc_async", T::Unknown, R::Unknown, {X::Forbidden}},
    {"prim.rpc_remote", T::Unknown, R::Unknown, {X::Forbidden}},
    {"prim.rpc_sync", T::Unknown, R::Unknown, {X::Forbidden}},
    {"prim.unchecked_cast", T::Unknown, R::Unknown, {X::Restores}},
    {"q_scale", T::Unknown, R::Unknown, {X::Restores}},
    {"qscheme", T::Unknown, R::Unknown, {X::Restores}},
    {"replace", T::Unknown, R::Unknown, {X::Folds}},
    {"save", T::Unknown, R::Unknown, {X::Forbidden}},
    {"size", T::Unknown, R::Unknown, {X::Measures, X::Restores}},
    {"sorted", T::Unknown, R::Unknown, {X::Folds}},
    {"startswith", T::Unknown, R::Unknown, {X::Folds}},
    {"str", T::Unknown, R::Unknown, {X::Folds}},
    {"strip", T::Unknown, R::Unknown, {X::Folds}},
    {"sym_constrain_range", T::Unknown, R::Unknown, {X::Asserts, X::AboutTracing}},
    {"sym_constrain_range_for_size", T::Unknown, R::Unknown, {X::Asserts, X::AboutTracing}},
    {"sym_numel", T::Unknown, R::Unknown, {X::Measures}},
    {"sym_size", T::Unknown, R::Unknown, {X::Measures}},
    {"upper", T::Unknown, R::Unknown, {X::Folds}},
    {"warn", T::Unknown, R::Unknown, {X::Restores}},
};

} // namespace

OperatorRows scriptRows()
{
    return {OperatorFamily::Other, kScriptRows};
}

} // namespace qs
