// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of scene documents to Python objects and back.

#include "scene_document.hpp"

#ifdef DIFFSIM_PYTHON_SCENES
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "app/scene_document.hpp"

namespace diffsim::python {

namespace nb = nanobind;

namespace {

constexpr int deepest = 32;  // levels of nested lists and dicts

app::Value part_of_document(nb::handle object, const app::Place& place, int depth);

app::Value empty_value(app::Value::Kind kind, const app::Place& place) {
  app::Value value;
  value.kind = kind;
  value.place = place;
  return value;
}

app::Value mapping_of(const nb::dict& items, const app::Place& place, int depth) {
  app::Value value = empty_value(app::Value::Kind::mapping, place);
  for (const auto [name, item] : items) {
    const std::string key = nb::cast<std::string>(nb::str(name));
    value.keys.push_back(key);
    value.items.push_back(
        part_of_document(item, {place.file, 0, place.key.empty() ? key : place.key + '.' + key}, depth + 1));
  }
  return value;
}

app::Value list_of_items(nb::handle items, const app::Place& place, int depth) {
  app::Value value = empty_value(app::Value::Kind::list, place);
  for (const nb::handle item : items)
    value.items.push_back(
        part_of_document(item, {place.file, 0, place.key + '[' + std::to_string(value.items.size()) + ']'}, depth + 1));
  return value;
}

app::Value located(app::Value value, const app::Place& place) {
  value.place = place;
  return value;
}

app::Value part_of_document(nb::handle object, const app::Place& place, int depth) {
  using Content = app::ScalarContent;
  if (depth > deepest) place.fail("is nested too deeply; a list or dict must not contain itself");
  if (object.is_none()) return empty_value(app::Value::Kind::nothing, place);
  if (nb::isinstance<nb::bool_>(object)) return located(app::scalar_with(Content(nb::cast<bool>(object))), place);
  if (nb::isinstance<nb::int_>(object)) {  // of any size
    app::Value value = empty_value(app::Value::Kind::scalar, place);
    value.text = nb::cast<std::string>(nb::str(object));
    return value;
  }
  if (nb::isinstance<nb::float_>(object)) return located(app::scalar_with(Content(nb::cast<double>(object))), place);
  if (nb::isinstance<nb::str>(object)) return located(app::scalar_with(Content(nb::cast<std::string>(object))), place);
  if (nb::isinstance<nb::dict>(object)) return mapping_of(nb::borrow<nb::dict>(object), place, depth);
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object)) return list_of_items(object, place, depth);
  if (nb::hasattr(object, "tolist")) return part_of_document(object.attr("tolist")(), place, depth + 1);  // numpy
  if (nb::hasattr(object, "__fspath__")) return part_of_document(object.attr("__fspath__")(), place, depth + 1);
  place.fail("is a value of the type " + nb::cast<std::string>(nb::str(object.type().attr("__name__"))) +
             "; give a dict, a list, an array, a str, a number, a bool or None");
}

}  // namespace

nb::object document_to_python(const app::Value& value) {
  if (value.is_mapping()) {
    nb::dict made;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const nb::str key(value.keys[i].c_str());
      made[key] = document_to_python(value.items[i]);
    }
    return made;
  }
  if (value.is_list()) {
    nb::list made;
    for (const app::Value& item : value.items) made.append(document_to_python(item));
    return made;
  }
  if (!value.is_scalar()) return nb::none();
  return std::visit(
      [](const auto& content) -> nb::object {
        using Type = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<Type, std::string>)
          return nb::str(content.c_str(), content.size());
        else
          return nb::cast(content);
      },
      app::content_of(value));
}

app::Value document_of(nb::handle object, const std::string& file) {
  const app::Place place{std::make_shared<const std::string>(file), 0, ""};
  if (!nb::isinstance<nb::dict>(object)) place.fail("a scene is a dict; give one");
  return part_of_document(object, place, 0);
}

}  // namespace diffsim::python

#endif
