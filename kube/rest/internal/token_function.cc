#include "kube/rest/internal/token_function.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/when.h"
#include "kube/http/internal/header_text.h"

namespace kube::detail {
namespace {

// A token may expire on its way.
constexpr Clock::Duration kTokenLeeway = std::chrono::seconds{10};

class TokenFunction final : public RenewingSource {
 public:
  TokenFunction(TokenSource source, Clock& clock)
      : RenewingSource(clock), source_(std::move(source)) {}

 private:
  Secret issue(const Secret*, bool, const Patience& patience) override {
    const IssuedToken issued = ask(patience);
    if (issued.token.empty()) throw ConfigError("the token source gave an empty token");
    Secret secret{.authorization = bearer(issued.token, "the token source's token"),
                  .expires = issued.expires};
    if (issued.expires) {
      const Clock::Duration left = *issued.expires - clock_.wallNow();
      // A token of a short life is used for most of it.
      secret.staleAfter = clock_.deadlineAfter(std::max(left - kTokenLeeway, left / 10 * 9));
    }
    return secret;
  }

  IssuedToken ask(const Patience& patience) const {
    try {
      if (patience.deadline == Clock::noDeadline) return blockOn(source_(), patience.stop);
      const Clock::Duration left = patience.deadline - clock_.now();
      return blockOn(within(left, source_(), clock_), patience.stop);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Canceled || error.kind() == ErrorKind::Timeout) throw;
      throw ConfigError(fmt::format("the token source failed: {}", error.what()));
    } catch (const std::exception& error) {
      throw ConfigError(fmt::format("the token source failed: {}", error.what()));
    }
  }

  const TokenSource source_;
};

}  // namespace

std::unique_ptr<CredentialSource> tokenFunction(TokenSource source, Clock& clock) {
  return std::make_unique<TokenFunction>(std::move(source), clock);
}

}  // namespace kube::detail
