// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/jit_type.h>

#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// A method of a C++ class (`torch::class_`) as graphs call it.
struct ClassMethod
{
    c10::ClassTypePtr type;
    std::string name; ///< "dense", "features_getter", "__init__"
};
inline constexpr std::string_view kConstructor = "__init__";

/// The class of that name ("__torch__.torch.classes.sites.SparseTensor") that a loaded library
/// registered; null if no library did. Any thread.
c10::ClassTypePtr findForeignClass(std::string_view className);

/// The target of the operator that represents the method in graphs (`methodOperator`); the first
/// call registers it with the dispatcher for the life of the process. The constructor's operator
/// returns the object. A method with a result is assumed to be pure. Empty if the class has no such
/// method, the method has no result or is written in Python, or the operator's name is taken. Any
/// thread.
std::optional<std::string> classMethodTarget(const c10::ClassTypePtr& type,
                                             const std::string& method);

/// The method of a target from `classMethodTarget`; empty for other targets. Any thread.
std::optional<ClassMethod> findClassMethod(std::string_view target);

/// The method's name in Python, "torch.classes.sites.SparseTensor.dense"; for the constructor, the
/// name of the class.
std::string methodInPython(const ClassMethod& method);

} // namespace qs
