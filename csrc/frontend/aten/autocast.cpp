#include <ATen/autocast_mode.h>

#include "autograd/casting.h"

namespace at::autocast {

namespace casting = ::taeda::casting;

bool is_autocast_enabled(c10::DeviceType type) { return casting::enabled(type); }
void set_autocast_enabled(c10::DeviceType type, bool on) { casting::set_enabled(type, on); }
ScalarType get_autocast_dtype(c10::DeviceType type) { return c10::to_scalar_type(casting::lower_dtype(type)); }
void set_autocast_dtype(c10::DeviceType type, ScalarType dtype) {
  casting::set_lower_dtype(type, c10::to_dtype(dtype));
}
bool is_autocast_cache_enabled() { return casting::cache_enabled(); }
void set_autocast_cache_enabled(bool on) { casting::set_cache_enabled(on); }
void clear_cache() { casting::clear_cache(); }
int increment_nesting() { return casting::enter(); }
int decrement_nesting() { return casting::leave(); }

bool is_eligible(const Tensor& t, c10::DeviceType type) { return casting::is_eligible(t, type); }
Tensor cached_cast(ScalarType to, const Tensor& t, c10::DeviceType type) {
  return casting::cast(t, c10::to_dtype(to), type);
}

}  // namespace at::autocast
