#include "kube/cache/delta.h"

#include <ostream>

namespace kube {

std::string_view toString(DeltaType type) noexcept {
  switch (type) {
    case DeltaType::Added:
      return "Added";
    case DeltaType::Updated:
      return "Updated";
    case DeltaType::Deleted:
      return "Deleted";
    case DeltaType::Replaced:
      return "Replaced";
    case DeltaType::Sync:
      return "Sync";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, DeltaType type) { return out << toString(type); }

}  // namespace kube
