// The source of Credentials for Config::tokenSource.
#pragma once

#include <memory>

#include "kube/rest/internal/credential_source.h"
#include "kube/rest/token_source.h"

namespace kube::detail {

std::unique_ptr<CredentialSource> tokenFunction(TokenSource source, Clock& clock);

}  // namespace kube::detail
