// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/gmsh/gmsh_sections.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <span>
#include <string>

#include "mesh/readers/gmsh/gmsh_elements.hpp"

namespace diffsim::gmsh {

std::int32_t TaggedMesh::add_group(int dimension, int tag) {
  const auto [entry, is_new] = group_numbers_.try_emplace({dimension, tag}, static_cast<std::int32_t>(groups.size()));
  if (is_new) groups.push_back({"", dimension, tag});
  return entry->second;
}

namespace {

/// Maximum number of groups per entity. The limit bounds the memory that a malformed file can request: this memory is
/// proportional to (groups of an entity) × (elements of the entity).
constexpr std::size_t most_groups_of_an_entity = 64;

class SectionReader {
 public:
  SectionReader(const Document& document, const Contents& contents, double scale, int order, CellKind kind)
      : document_(document), contents_(contents), scale_(scale), order_(order), kind_(kind) {}

  TaggedMesh read();

 private:
  void reserve_nodes(std::int64_t count);
  void reserve_cells(std::int64_t count);
  void read_physical_names();
  template <class Source>
  void read_entities(Source in);
  template <class Source>
  void read_entity(Source& in, int dimension);
  template <class Source>
  void read_nodes_22(Source in, std::int64_t count);
  template <class Source>
  void read_nodes_41(Source in);
  void read_elements_22(TextSource in, std::int64_t count);
  void read_elements_22(BinarySource in, std::int64_t count);
  template <class Source>
  void read_elements_41(Source in);

  template <class Source>
  void add_node_tag(const Source& in, std::int64_t tag);
  template <class Source>
  void add_coordinates(Source& in);
  template <class Source>
  void add_element_22(const Source& in, const ElementType& type, std::int32_t tag, std::size_t offset);
  template <class Source>
  void add_element(const Source& in, const ElementType& type, std::span<const std::int32_t> groups, std::size_t offset);
  template <class Source>
  void trim_cell(const Source& in, const ElementType& type);
  bool joins_last_cell(std::int32_t group) const;
  template <class Source>
  const ElementType& element_type(const Source& in, int number) const;
  template <class Source>
  const std::vector<std::int32_t>& groups_of(const Source& in, int dimension, int tag) const;

  const Document& document_;
  const Contents& contents_;
  const double scale_;
  const int order_;
  const CellKind kind_;
  TaggedMesh mesh_;
  std::map<std::pair<int, int>, std::vector<std::int32_t>> entities_;  ///< (dimension, tag) → groups
  std::vector<std::int64_t> nodes_;                                    ///< node tags of the last element read
  bool last_was_cell_ = false;
  int cell_type_ = 0;  ///< Gmsh element type that all tetrahedra have
};

TaggedMesh SectionReader::read() {
  if (!contents_.physical_names.name.empty()) read_physical_names();
  if (contents_.version == 22) {
    const auto read_counted = [this](const Section& section, const char* what, auto&& read_rest) {
      TextSource in(document_, section);
      in.begin_record("count");
      const std::int64_t count = in.size(what);
      in.end_record();
      if (document_.binary)
        read_rest(BinarySource(document_, section, in.position()), count);
      else
        read_rest(in, count);
    };
    read_counted(contents_.nodes, "the number of nodes",
                 [this](const auto& in, std::int64_t count) { read_nodes_22(in, count); });
    read_counted(contents_.elements, "the number of elements",
                 [this](const auto& in, std::int64_t count) { read_elements_22(in, count); });
  } else {
    const auto read_section = [this](const Section& section, auto&& read_whole) {
      if (document_.binary)
        read_whole(BinarySource(document_, section, section.begin));
      else
        read_whole(TextSource(document_, section));
    };
    if (!contents_.entities.name.empty())
      read_section(contents_.entities, [this](const auto& in) { read_entities(in); });
    read_section(contents_.nodes, [this](const auto& in) { read_nodes_41(in); });
    read_section(contents_.elements, [this](const auto& in) { read_elements_41(in); });
  }
  return std::move(mesh_);
}

void SectionReader::reserve_nodes(std::int64_t count) {
  mesh_.node_tags.reserve(static_cast<std::size_t>(count));
  mesh_.node_offsets.reserve(static_cast<std::size_t>(count));
  mesh_.coordinates.reserve(3 * static_cast<std::size_t>(count));
}

void SectionReader::reserve_cells(std::int64_t count) {
  mesh_.cells.reserve(4 * static_cast<std::size_t>(count));
  mesh_.cell_offsets.reserve(static_cast<std::size_t>(count));
}

/// Reads $PhysicalNames, which is text in binary files too.
void SectionReader::read_physical_names() {
  TextSource in(document_, contents_.physical_names);
  in.begin_record("count");
  const std::int64_t count = in.size("the number of names");
  check_count(in, count, 4, "names");
  in.end_record();
  std::set<std::pair<int, std::string_view>> taken;
  for (std::int64_t i = 0; i < count; ++i) {
    in.begin_record("names", i, count);
    const int dimension = in.int32("the group's dimension");
    if (dimension < 0 || dimension > 3) in.fail("a physical group has dimension 0 to 3; correct it");
    const int tag = in.int32("the group's tag");
    if (tag <= 0) in.fail("the tag of a physical group must be positive; correct it");
    const auto group = static_cast<std::size_t>(mesh_.add_group(dimension, tag));
    const std::string_view name = in.quoted_text("the group's name");
    if (group != static_cast<std::size_t>(i)) in.fail("this physical group has two names; keep one");
    if (!name.empty() && !taken.emplace(dimension, name).second)
      in.fail("two physical groups of dimension " + std::to_string(dimension) + " are called " + in_quotes(name) +
              "; rename one");
    mesh_.groups[group].name = name;
    in.end_record();
  }
  in.finish("names");
}

template <class Source>
void SectionReader::read_entities(Source in) {
  in.begin_record("counts");
  std::int64_t counts[4];
  for (auto& count : counts) {
    count = in.size("the number of entities");
    check_count(in, count, 4 * Source::int_bytes, "entities");
  }
  in.end_record();
  for (int dimension = 0; dimension < 4; ++dimension) {
    for (std::int64_t i = 0; i < counts[dimension]; ++i) {
      in.begin_record("entities", i, counts[dimension]);
      read_entity(in, dimension);
      in.end_record();
    }
  }
  in.finish("entities");
}

/// Reads an entity: tag, position (points) or bounding box, physical tags and, except for points, bounding entities.
template <class Source>
void SectionReader::read_entity(Source& in, int dimension) {
  const int entity = in.int32("the entity's tag");
  const auto [entry, is_new] = entities_.try_emplace({dimension, entity});
  if (!is_new) in.fail("a second entity of this dimension and tag; keep one");
  for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) in.real("a coordinate of the entity");

  const std::int64_t num_tags = in.size("the number of physical tags");
  check_count(in, num_tags, Source::int_bytes, "physical tags");
  for (std::int64_t i = 0; i < num_tags; ++i) {
    const std::int32_t tag = in.int32("a physical tag");
    if (tag == std::numeric_limits<std::int32_t>::min()) in.fail("the physical tag is out of range; correct it");
    if (tag == 0) continue;
    const std::int32_t group = mesh_.add_group(dimension, std::abs(tag));  // the sign encodes the orientation
    auto& groups = entry->second;
    if (std::find(groups.begin(), groups.end(), group) != groups.end()) continue;
    if (groups.size() == most_groups_of_an_entity)
      in.fail("an entity in more than " + std::to_string(most_groups_of_an_entity) + " physical groups; use fewer");
    groups.push_back(group);
  }
  if (dimension == 0) return;
  const std::int64_t num_bounding = in.size("the number of bounding entities");
  check_count(in, num_bounding, Source::int_bytes, "bounding entities");
  for (std::int64_t i = 0; i < num_bounding; ++i) in.int32("a bounding entity");
}

template <class Source>
void SectionReader::add_node_tag(const Source& in, std::int64_t tag) {
  if (tag <= 0) in.fail("node tag " + std::to_string(tag) + " is not positive; number the nodes from 1");
  mesh_.node_tags.push_back(tag);
}

template <class Source>
void SectionReader::add_coordinates(Source& in) {
  for (int k = 0; k < 3; ++k) {
    const double value = in.real("a coordinate");
    if (!std::isfinite(value)) in.fail("a coordinate is " + std::to_string(value) + "; it must be finite");
    const double scaled = scale_ * value;
    if (!std::isfinite(scaled)) in.fail("a coordinate times `scale` is too large; use a smaller scale");
    mesh_.coordinates.push_back(scaled);
  }
}

template <class Source>
void SectionReader::read_nodes_22(Source in, std::int64_t count) {
  check_count(in, count, Source::int_bytes + 3 * Source::real_bytes, "nodes");
  reserve_nodes(count);
  for (std::int64_t i = 0; i < count; ++i) {
    in.begin_record("nodes", i, count);
    mesh_.node_offsets.push_back(in.position());
    add_node_tag(in, in.int32("a node tag"));
    add_coordinates(in);
    in.end_record();
  }
  in.finish("nodes");
}

template <class Source>
void SectionReader::read_nodes_41(Source in) {
  in.begin_record("counts");
  const std::int64_t num_blocks = in.size("the number of blocks");
  const std::int64_t num_nodes = in.size("the number of nodes");
  check_count(in, num_nodes, Source::size_bytes + 3 * Source::real_bytes, "nodes");
  in.size("the least node tag");
  in.size("the greatest node tag");
  in.end_record();
  reserve_nodes(num_nodes);

  for (std::int64_t block = 0; block < num_blocks; ++block) {
    in.begin_record("blocks", block, num_blocks);
    const int dimension = in.int32("the entity's dimension");
    if (dimension < 0 || dimension > 3) in.fail("an entity has dimension 0 to 3; correct it");
    in.int32("the entity's tag");
    const int parametric = in.int32("0, or 1 for parametric nodes");
    if (parametric != 0 && parametric != 1) in.fail("the parametric mark is 0 or 1; correct it");
    const int num_parameters = parametric == 1 ? dimension : 0;
    const std::int64_t count = in.size("the block's number of nodes");
    check_count(in, count, Source::size_bytes + (3 + static_cast<std::size_t>(num_parameters)) * Source::real_bytes,
                "nodes");
    if (count > num_nodes - static_cast<std::int64_t>(mesh_.node_tags.size()))
      in.fail("the blocks have more nodes than the section's count, " + std::to_string(num_nodes) +
              "; correct the counts");
    in.end_record();
    for (std::int64_t i = 0; i < count; ++i) {
      in.begin_record("node tags", i, count);
      mesh_.node_offsets.push_back(in.position());
      add_node_tag(in, in.size("a node tag"));
      in.end_record();
    }
    for (std::int64_t i = 0; i < count; ++i) {
      in.begin_record("node positions", i, count);
      add_coordinates(in);
      for (int k = 0; k < num_parameters; ++k) in.real("a parameter of the node");
      in.end_record();
    }
  }
  if (static_cast<std::int64_t>(mesh_.node_tags.size()) != num_nodes)
    in.fail("the section's count says " + std::to_string(num_nodes) + " nodes, but its blocks have " +
            std::to_string(mesh_.node_tags.size()) + "; correct the counts");
  in.finish("blocks of nodes");
}

template <class Source>
const ElementType& SectionReader::element_type(const Source& in, int number) const {
  const ElementType* type = find_element_type(number);
  if (!type) in.fail("element type " + std::to_string(number) + " is not known; save the mesh with simplices only");
  const std::string problem = refusal(*type, kind_);
  if (!problem.empty()) in.fail(problem);
  return *type;
}

/// Prepares nodes_ of a cell for storage: sets `nodes_per_cell` and, in second-order tetrahedra, exchanges the last two
/// nodes. In Gmsh, the last two nodes are on the edges (2,3) and (1,3), in this order (manual, "Node ordering"); in
/// element.hpp, edge (1,3) precedes edge (2,3).
template <class Source>
void SectionReader::trim_cell(const Source& in, const ElementType& type) {
  if (type.dimension != dimension_of(kind_)) return;
  if (kind_ != CellKind::tetrahedron) {
    mesh_.nodes_per_cell = corners_of(kind_);
    return;
  }
  if (mesh_.cell_offsets.empty()) {
    cell_type_ = type.number;
    mesh_.nodes_per_cell = order_ == 2 ? type.num_nodes : type.num_corners;
  }
  if (type.number != cell_type_)
    in.fail("the file has tetrahedra of " + std::to_string(find_element_type(cell_type_)->num_nodes) + " and of " +
            std::to_string(type.num_nodes) + " nodes; save the mesh in one order (in Gmsh: -order 1 or -order 2)");
  if (mesh_.nodes_per_cell == 10) std::swap(nodes_[8], nodes_[9]);
}

/// Returns whether the cell in nodes_ repeats the last cell in order to add another group to that cell. In format 2.2,
/// Gmsh writes a cell of several groups once for each group.
bool SectionReader::joins_last_cell(std::int32_t group) const {
  if (!last_was_cell_ || !std::equal(mesh_.cells.end() - mesh_.nodes_per_cell, mesh_.cells.end(), nodes_.begin()))
    return false;
  const std::int64_t last = static_cast<std::int64_t>(mesh_.cell_offsets.size()) - 1;
  auto entry = mesh_.cell_groups.rbegin();
  if (entry == mesh_.cell_groups.rend() || entry->cell != last) return false;  // the last cell has no group
  for (; entry != mesh_.cell_groups.rend() && entry->cell == last; ++entry)
    if (entry->group == group) return false;
  return true;
}

/// Adds the element in nodes_ to the mesh, with the physical group `tag`. The tag 0 means that the element is in no
/// group.
template <class Source>
void SectionReader::add_element_22(const Source& in, const ElementType& type, std::int32_t tag, std::size_t offset) {
  if (tag == std::numeric_limits<std::int32_t>::min()) in.fail("the physical tag is out of range; correct it");
  trim_cell(in, type);
  if (tag == 0) return add_element(in, type, {}, offset);
  const std::int32_t group = mesh_.add_group(type.dimension, std::abs(tag));  // the sign encodes the orientation
  if (type.dimension == dimension_of(kind_) && joins_last_cell(group))
    mesh_.cell_groups.push_back({static_cast<std::int64_t>(mesh_.cell_offsets.size()) - 1, group});
  else
    add_element(in, type, {&group, 1}, offset);
}

/// Adds the element in nodes_ to the cells or to the group elements. For a cell, trim_cell() must have been called.
template <class Source>
void SectionReader::add_element(const Source& in, const ElementType& type, std::span<const std::int32_t> groups,
                                std::size_t offset) {
  ++mesh_.num_elements[static_cast<std::size_t>(type.dimension)];
  last_was_cell_ = type.dimension == dimension_of(kind_);
  if (last_was_cell_) {
    const auto cell = static_cast<std::int64_t>(mesh_.cell_offsets.size());
    mesh_.cells.insert(mesh_.cells.end(), nodes_.begin(), nodes_.begin() + mesh_.nodes_per_cell);
    mesh_.cell_offsets.push_back(offset);
    for (const std::int32_t group : groups) mesh_.cell_groups.push_back({cell, group});
    return;
  }
  if (groups.empty() || type.dimension > dimension_of(kind_)) return;
  if (type.num_corners == 0)
    in.fail("a physical group has a " + std::to_string(type.num_nodes) + "-node " + type.name +
            ", which no tetrahedron has on its surface; mesh with triangles of first or second order");
  RawMesh::GroupElement element{{}, type.dimension, order_ == 2 ? type.num_nodes : type.num_corners, 0, offset};
  std::copy_n(nodes_.begin(), element.num_nodes, element.nodes.begin());
  for (const std::int32_t group : groups) {
    element.group = group;
    mesh_.group_elements.push_back(element);
  }
}

/// Reads text elements, one per line. A line contains the number, the type, the number of tags, the tags (the first tag
/// is the physical group) and the nodes of the element.
void SectionReader::read_elements_22(TextSource in, std::int64_t count) {
  check_count(in, count, 4 * TextSource::int_bytes, "elements");
  reserve_cells(count);
  for (std::int64_t i = 0; i < count; ++i) {
    in.begin_record("elements", i, count);
    const std::size_t offset = in.position();
    in.size("the element's number");
    const ElementType& type = element_type(in, in.int32("the element's type"));
    const std::int32_t num_tags = in.int32("the number of tags");
    if (num_tags < 0) in.fail("the number of tags must not be negative; correct it");
    std::int32_t physical = 0;
    for (std::int32_t k = 0; k < num_tags; ++k) {
      const std::int32_t tag = in.int32("a tag of the element");
      if (k == 0) physical = tag;
    }
    nodes_.resize(static_cast<std::size_t>(type.num_nodes));
    for (auto& node : nodes_) node = in.int32("a node of the element");
    in.end_record();
    add_element_22(in, type, physical, offset);
  }
  in.finish("elements");
}

/// Reads binary elements in blocks. A block begins with the element type, the number of elements and the number of
/// tags; then follow the number, the tags and the nodes of each element.
void SectionReader::read_elements_22(BinarySource in, std::int64_t count) {
  check_count(in, count, 2 * BinarySource::int_bytes, "elements");
  reserve_cells(count);
  for (std::int64_t done = 0; done < count;) {
    const ElementType& type = element_type(in, in.int32("the block's element type"));
    const std::int32_t in_block = in.int32("the block's number of elements");
    if (in_block < 0 || in_block > count - done)
      in.fail("the block has " + std::to_string(in_block) + " elements, but " + std::to_string(count - done) +
              " remain of the section's count; correct the counts");
    const std::int32_t num_tags = in.int32("the number of tags");
    if (num_tags < 0) in.fail("the number of tags must not be negative; correct it");
    nodes_.resize(static_cast<std::size_t>(type.num_nodes));
    const std::size_t integers = 1 + static_cast<std::size_t>(num_tags) + nodes_.size();
    check_count(in, in_block, integers * BinarySource::int_bytes, "elements");
    for (std::int32_t i = 0; i < in_block; ++i) {
      const std::size_t offset = in.position();
      in.int32("the element's number");
      const std::int32_t physical = num_tags > 0 ? in.int32("a tag of the element") : 0;
      if (num_tags > 1) in.skip(static_cast<std::size_t>(num_tags - 1) * BinarySource::int_bytes);
      for (auto& node : nodes_) node = in.int32("a node of the element");
      add_element_22(in, type, physical, offset);
    }
    done += in_block;
  }
  in.finish("elements");
}

template <class Source>
const std::vector<std::int32_t>& SectionReader::groups_of(const Source& in, int dimension, int tag) const {
  static const std::vector<std::int32_t> none;
  const auto entity = entities_.find({dimension, tag});
  if (entity != entities_.end()) return entity->second;
  if (contents_.partitioned && !mesh_.groups.empty())
    in.fail("the physical groups of a partitioned mesh are not read; save it unpartitioned (in Gmsh: -part 0)");
  return none;
}

template <class Source>
void SectionReader::read_elements_41(Source in) {
  in.begin_record("counts");
  const std::int64_t num_blocks = in.size("the number of blocks");
  const std::int64_t num_elements = in.size("the number of elements");
  check_count(in, num_elements, 2 * Source::size_bytes, "elements");
  in.size("the least element tag");
  in.size("the greatest element tag");
  in.end_record();
  reserve_cells(num_elements);

  std::int64_t done = 0;
  for (std::int64_t block = 0; block < num_blocks; ++block) {
    in.begin_record("blocks", block, num_blocks);
    const int dimension = in.int32("the entity's dimension");
    const int entity = in.int32("the entity's tag");
    const ElementType& type = element_type(in, in.int32("the block's element type"));
    if (type.dimension != dimension)
      in.fail("a " + std::string(type.name) + " does not belong to an entity of dimension " +
              std::to_string(dimension) + "; correct the block's first line");
    const std::int64_t count = in.size("the block's number of elements");
    check_count(in, count, (1 + static_cast<std::size_t>(type.num_nodes)) * Source::size_bytes, "elements");
    if (count > num_elements - done)
      in.fail("the blocks have more elements than the section's count, " + std::to_string(num_elements) +
              "; correct the counts");
    in.end_record();
    const std::vector<std::int32_t>& groups = groups_of(in, dimension, entity);
    nodes_.resize(static_cast<std::size_t>(type.num_nodes));
    for (std::int64_t i = 0; i < count; ++i) {
      in.begin_record("elements", i, count);
      const std::size_t offset = in.position();
      in.size("the element's tag");
      for (auto& node : nodes_) node = in.size("a node of the element");
      in.end_record();
      trim_cell(in, type);
      add_element(in, type, groups, offset);
    }
    done += count;
  }
  if (done != num_elements)
    in.fail("the section's count says " + std::to_string(num_elements) + " elements, but its blocks have " +
            std::to_string(done) + "; correct the counts");
  in.finish("blocks of elements");
}

}  // namespace

TaggedMesh read_sections(const Document& document, const Contents& contents, double scale, int order, CellKind kind) {
  return SectionReader(document, contents, scale, order, kind).read();
}

}  // namespace diffsim::gmsh
