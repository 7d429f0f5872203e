// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace thaw {

/// What is wrong with a document, by the schemas in docs/schema: a sentence each, none if it fits.
/// Knows the part of JSON Schema that those two use: type, const, enum, minimum, properties,
/// required, additionalProperties, items, anyOf and $ref. Throws std::runtime_error for any other
/// word, so that nothing in the schemas goes unchecked.
std::vector<std::string> schema_errors(const nlohmann::json& document,
                                       const std::string& reference);

}  // namespace thaw
