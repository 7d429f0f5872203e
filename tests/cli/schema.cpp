// SPDX-License-Identifier: Apache-2.0
#include "cli/schema.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

namespace thaw {
namespace {

using nlohmann::json;

json load(const std::string& file) {
  std::ifstream in(std::string(THAW_SOURCES) + "/docs/schema/" + file);
  if (!in) throw std::runtime_error("no schema " + file);
  return json::parse(in);
}

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  throw std::runtime_error("unknown type " + type);
}

class Validator {
 public:
  explicit Validator(std::string file) : file_(std::move(file)), root_(load(file_)) {}

  void check(const json& value, const json& schema, const std::string& at) {
    for (const auto& [word, rule] : schema.items()) check_word(value, schema, word, rule, at);
  }

  void check_reference(const json& value, const std::string& reference, const std::string& at) {
    const size_t hash = reference.find('#');
    const std::string file = reference.substr(0, hash);
    if (!file.empty() && file != file_) {
      Validator other(file);
      other.check_reference(value, reference.substr(hash), at);
      errors_.insert(errors_.end(), other.errors_.begin(), other.errors_.end());
      return;
    }
    check(value, root_.at(json::json_pointer(reference.substr(hash + 1))), at);
  }

  const std::vector<std::string>& errors() const { return errors_; }

 private:
  void demand(bool good, const std::string& at, const std::string& what) {
    if (!good) errors_.push_back(at + ": " + what);
  }

  void check_word(const json& value, const json& schema, const std::string& word, const json& rule,
                  const std::string& at) {
    static constexpr std::array silent = {"$schema", "$id", "$defs", "title", "description"};
    if (std::find(silent.begin(), silent.end(), word) != silent.end()) return;
    if (word == "type") {
      check_type(value, rule, at);
    } else if (word == "const") {
      demand(value == rule, at, "is not " + rule.dump());
    } else if (word == "enum") {
      demand(std::find(rule.begin(), rule.end(), value) != rule.end(), at,
             value.dump() + " is not one of " + rule.dump());
    } else if (word == "minimum") {
      demand(value.is_number() && value.get<double>() >= rule.get<double>(), at,
             "is not at least " + rule.dump());
    } else if (word == "required") {
      for (const auto& key : rule) {
        demand(value.contains(key), at, "lacks " + key.get<std::string>());
      }
    } else if (word == "properties") {
      check_properties(value, rule, at);
    } else if (word == "additionalProperties" && rule == false) {
      for (const auto& [key, ignored] : value.items()) {
        demand(schema.at("properties").contains(key), at, "has an unknown key " + key);
      }
    } else if (word == "items") {
      for (size_t i = 0; i < value.size(); ++i) check(value[i], rule, at + "/" + std::to_string(i));
    } else if (word == "anyOf") {
      check_any(value, rule, at);
    } else if (word == "$ref") {
      check_reference(value, rule.get<std::string>(), at);
    } else {
      throw std::runtime_error("unknown schema word " + word);
    }
  }

  void check_type(const json& value, const json& rule, const std::string& at) {
    const bool good = rule.is_array()
                          ? std::any_of(rule.begin(), rule.end(),
                                        [&](const json& type) { return has_type(value, type); })
                          : has_type(value, rule);
    demand(good, at, "is not of type " + rule.dump());
  }

  void check_properties(const json& value, const json& rule, const std::string& at) {
    for (const auto& [key, schema] : rule.items()) {
      if (value.contains(key)) check(value[key], schema, at + "/" + key);
    }
  }

  void check_any(const json& value, const json& rule, const std::string& at) {
    std::vector<std::string> all;
    for (const json& schema : rule) {
      Validator attempt(file_);
      attempt.check(value, schema, at);
      if (attempt.errors_.empty()) return;
      all.insert(all.end(), attempt.errors_.begin(), attempt.errors_.end());
    }
    errors_.push_back(at + ": fits none of its forms");
    errors_.insert(errors_.end(), all.begin(), all.end());
  }

  std::string file_;
  json root_;
  std::vector<std::string> errors_;
};

}  // namespace

std::vector<std::string> schema_errors(const nlohmann::json& document,
                                       const std::string& reference) {
  Validator validator(reference.substr(0, reference.find('#')));
  validator.check_reference(document, reference, "");
  return validator.errors();
}

}  // namespace thaw
