// Findings of a decoder besides errors: unknown and duplicate fields. As the options demand, they
// are ignored, noted, or refused at the end.
//
// For source files of this folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/codec/options.h"

namespace kube::detail {

class Problems {
 public:
  explicit Problems(const DecodeOptions& options)
      : notes_(options.problems != nullptr ? options.problems
               : options.strict            ? &own_
                                           : nullptr),
        strict_(options.strict) {}
  Problems(const Problems&) = delete;
  Problems& operator=(const Problems&) = delete;

  /// The list for notes; null if notes are not wanted.
  std::vector<std::string>* notes() noexcept { return notes_; }

  /// Throws DecodeError that names all problems, if decoding is strict and there are any.
  void check(DecodeError::Where where) const {
    if (!strict_ || notes_->empty()) return;
    std::string all = "strict decoding error: ";
    for (const std::string& problem : *notes_) {
      if (&problem != &notes_->front()) all += ", ";
      all += problem;
    }
    throw DecodeError(std::move(where), std::move(all));
  }

 private:
  std::vector<std::string> own_;
  std::vector<std::string>* notes_;
  bool strict_;
};

}  // namespace kube::detail
