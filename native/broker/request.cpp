#include "broker/request.hpp"

#include "common/cpulist.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::broker {

namespace {

using Json = nlohmann::json;

Verb verb_of(const Json& request) {
    const auto found = request.find("request");
    const std::string verb = found != request.end() && found->is_string() ? found->get<std::string>() : "";
    if (verb == "show") return Verb::show;
    if (verb == "reserve") return Verb::reserve;
    if (verb == "move") return Verb::move;
    if (verb == "delete") return Verb::begin_deletion;
    throw RequestError("\"request\" must be show, reserve, move or delete");
}

std::vector<int> list_of(const Json& request, const char* key) {
    const auto found = request.find(key);
    if (found == request.end()) return {};
    auto list = found->is_string() ? parse_cpulist(found->get<std::string>()) : std::nullopt;
    if (!list) throw RequestError("invalid value of " + std::string(key));
    return std::move(*list);
}

std::int64_t number_of(const Json& request, const char* key, std::int64_t max_value) {
    const auto found = request.find(key);
    if (found == request.end()) return 0;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > static_cast<std::uint64_t>(max_value))
        throw RequestError("invalid value of " + std::string(key));
    return found->get<std::int64_t>();
}

} // namespace

Request parse_request(std::string_view text) {
    const Json document = Json::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object()) throw RequestError("not a JSON object");
    Request request{verb_of(document), {}, 0};
    if (request.verb == Verb::reserve || request.verb == Verb::move)
        request.share.cpus = list_of(document, "cpus");
    if (request.verb == Verb::reserve) {
        request.share.gpus = list_of(document, "gpus");
        request.share.memory_bytes = number_of(document, "memory_bytes", INT64_MAX);
    }
    if (request.verb == Verb::move) {
        request.pid = static_cast<pid_t>(number_of(document, "pid", INT32_MAX));
        if (request.pid == 0) throw RequestError("invalid value of pid");
    }
    return request;
}

} // namespace assay::broker
