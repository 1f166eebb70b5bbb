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
/// registered; null where none did. Any thread.
c10::ClassTypePtr findForeignClass(std::string_view className);

/// The target of the operator that the method is in graphs (`methodOperator`); it is registered
/// with the dispatcher when it is first asked for and stays. The constructor is one that gives the
/// object. Methods that return something are taken to change nothing. Nothing where the class has
/// no such method, where it returns nothing, where it is Python's or where the operator would have
/// the name of another. Any thread.
std::optional<std::string> classMethodTarget(const c10::ClassTypePtr& type,
                                             const std::string& method);

/// The method that an operator of `classMethodTarget` is; nothing for others. Any thread.
std::optional<ClassMethod> findClassMethod(std::string_view target);

/// "torch.classes.sites.SparseTensor.dense"; of the constructor the class itself.
std::string methodInPython(const ClassMethod& method);

} // namespace qs
