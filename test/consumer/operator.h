#pragma once

#include <kube/rest/config.h>

#include <stop_token>

/// Keeps a ConfigMap for every Network until a stop is requested.
void runOperator(const kube::Config& config, const std::stop_token& stop);
