#include "broker/question.hpp"

#include "common/cpulist.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::broker {

namespace {

using Json = nlohmann::json;

Verb verb_of(const Json& question) {
    const auto found = question.find("do");
    const std::string asked = found != question.end() && found->is_string() ? found->get<std::string>() : "";
    if (asked == "show") return Verb::show;
    if (asked == "reserve") return Verb::reserve;
    if (asked == "move") return Verb::move;
    if (asked == "delete") return Verb::begin_deletion;
    throw QuestionError("\"do\" is show, reserve, move or delete");
}

std::vector<int> list_of(const Json& question, const char* key) {
    const auto found = question.find(key);
    if (found == question.end()) return {};
    auto list = found->is_string() ? parse_cpulist(found->get<std::string>()) : std::nullopt;
    if (!list) throw QuestionError(std::string(key) + " cannot be read");
    return std::move(*list);
}

std::int64_t number_of(const Json& question, const char* key, std::int64_t most) {
    const auto found = question.find(key);
    if (found == question.end()) return 0;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
        throw QuestionError(std::string(key) + " cannot be read");
    return found->get<std::int64_t>();
}

} // namespace

Question parse_question(std::string_view text) {
    const Json document = Json::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object()) throw QuestionError("no JSON object");
    Question question{verb_of(document), {}, 0};
    if (question.verb == Verb::reserve || question.verb == Verb::move)
        question.share.cpus = list_of(document, "cpus");
    if (question.verb == Verb::reserve) {
        question.share.gpus = list_of(document, "gpus");
        question.share.memory_bytes = number_of(document, "memory_bytes", INT64_MAX);
    }
    if (question.verb == Verb::move) {
        question.pid = static_cast<pid_t>(number_of(document, "pid", INT32_MAX));
        if (question.pid == 0) throw QuestionError("pid is no process");
    }
    return question;
}

} // namespace assay::broker
