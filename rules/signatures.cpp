#include "rules/signatures.h"

namespace faultline {

class Signatures::Impl {};

Signatures::Signatures() = default;
Signatures::Signatures(std::vector<MessageSignature>) {}
Signatures::~Signatures() = default;

std::span<const MessageSignature> Signatures::all() const { return {}; }
const MessageSignature* Signatures::find(std::string_view) const { return nullptr; }
std::optional<SignatureMatch> Signatures::match(const Remark&) const { return std::nullopt; }
bool Signatures::wants(std::string_view) const { return false; }

}  // namespace faultline
