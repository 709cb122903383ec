#include "broker/partition.hpp"

#include "common/cpulist.hpp"
#include "common/schema.hpp"

#include <nlohmann/json.hpp>

namespace assay::broker {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string())
        throw PartitionError(std::string("missing text: ") + key);
    return found->get<std::string>();
}

std::vector<int> stored_list(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    if (!found->is_string()) throw PartitionError(std::string(key) + " must be a list such as 0-3,8");
    const auto text = found->get<std::string>();
    if (text.empty()) return {};
    auto list = parse_cpulist(text);
    if (!list) throw PartitionError(std::string(key) + " must be a list such as 0-3,8");
    return std::move(*list);
}

Hierarchy hierarchy_of(const Json& object) {
    if (!object.is_object()) throw PartitionError("a hierarchy must be an object");
    Hierarchy found{text_of(object, "controller"), text_of(object, "mount"), text_of(object, "folder")};
    if (found.mount.empty() || found.mount[0] != '/' || !found.folder.starts_with(found.mount + '/') ||
        found.folder.find("/..") != std::string::npos) {
        throw PartitionError("the folder " + found.folder + " is not below " + found.mount);
    }
    return found;
}

} // namespace

Partition parse_partition(std::string_view text) {
    const Json document = Json::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object()) throw PartitionError("not a JSON object");
    const auto schema = document.find("schema");
    if (schema == document.end() || *schema != schema_version)
        throw PartitionError("written for another version of assay");
    Partition partition;
    partition.name = text_of(document, "name");
    const auto hierarchies = document.find("hierarchies");
    if (hierarchies == document.end() || !hierarchies->is_array() || hierarchies->empty())
        throw PartitionError("missing hierarchies");
    for (const auto& one : *hierarchies) partition.hierarchies.push_back(hierarchy_of(one));
    partition.cpus = stored_list(document, "cpus");
    if (partition.cpus.empty()) throw PartitionError("missing cpus");
    partition.gpus = stored_list(document, "gpus");
    const auto memory = document.find("memory_bytes");
    if (memory != document.end()) {
        if (!memory->is_number_unsigned()) throw PartitionError("memory_bytes must be a number");
        partition.memory_bytes = memory->get<std::int64_t>();
    }
    return partition;
}

} // namespace assay::broker
