// SPDX-License-Identifier: Apache-2.0
#include "kernels/checked_arguments.h"

#include <c10/util/Exception.h>

#include <type_traits>

#include "kernels/arithmetic.h"

namespace thaw::kernels {
namespace {

/// The operator and the device that all its tensors must be on.
struct Operator {
  const char* name;
  c10::Device device;

  void check_device(const at::Tensor& tensor, const char* argument) const {
    TORCH_CHECK(tensor.device() == device, name, ": ", argument, " is on ", tensor.device(),
                ", other arguments are on ", device);
  }

  template <class Byte>
  EntriesOf<Byte> entries(const at::Tensor& tensor, const char* argument) const {
    check_device(tensor, argument);
    TORCH_CHECK(tensor.dim() == 4, name, ": ", argument,
                " needs four dimensions, [outer, kv_heads, slots, dim], but has sizes ",
                tensor.sizes());
    const auto sizes = tensor.sizes();
    const auto strides = tensor.strides();
    TORCH_CHECK(strides[3] == 1 || sizes[3] <= 1, name, ": the elements of an entry of ", argument,
                " must lie side by side, but have stride ", strides[3]);
    const auto bytes = static_cast<int64_t>(tensor.element_size());
    Byte* data = nullptr;
    if constexpr (std::is_const_v<Byte>) {
      data = static_cast<Byte*>(tensor.const_data_ptr());
    } else {
      data = static_cast<Byte*>(tensor.mutable_data_ptr());
    }
    return {data,
            sizes[0],
            sizes[1],
            sizes[2],
            sizes[3],
            strides[0] * bytes,
            strides[1] * bytes,
            strides[2] * bytes,
            sizes[3] * bytes};
  }

  const int64_t* integers(const at::Tensor& tensor, const char* argument) const {
    check_device(tensor, argument);
    TORCH_CHECK(tensor.scalar_type() == at::kLong && tensor.is_contiguous(), name, ": ", argument,
                " must be contiguous int64, but is ", tensor.scalar_type(), " with sizes ",
                tensor.sizes(), " and strides ", tensor.strides());
    return tensor.const_data_ptr<int64_t>();
  }

  Places places(const at::Tensor& rows, const at::Tensor& positions) const {
    TORCH_CHECK(rows.dim() == 1 && positions.sizes() == rows.sizes(), name,
                ": rows and positions need one entry a place, but have sizes ", rows.sizes(),
                " and ", positions.sizes());
    return {integers(rows, "rows"), integers(positions, "positions"), rows.sizes()[0]};
  }

  Element element(const at::Tensor& tensor, const char* argument) const {
    switch (tensor.scalar_type()) {
      case at::kFloat:
        return Element::fp32;
      case at::kHalf:
        return Element::fp16;
      case at::kBFloat16:
        return Element::bf16;
      case at::kFloat8_e4m3fn:
        return Element::fp8_e4m3;
      default:
        TORCH_CHECK(false, name, ": ", argument, " has dtype ", tensor.scalar_type(),
                    "; Float, Half, BFloat16 and Float8_e4m3fn hold tags exactly");
    }
  }
};

template <class A, class B>
bool same_slots(const EntriesOf<A>& a, const EntriesOf<B>& b) {
  return a.outer == b.outer && a.heads == b.heads && a.slots == b.slots;
}

}  // namespace

AppendArguments append_arguments(const at::Tensor& keys, const at::Tensor& values,
                                 const at::Tensor& new_keys, const at::Tensor& new_values,
                                 const at::Tensor& rows, const at::Tensor& positions) {
  const Operator op{"thaw::append_", keys.device()};
  const AppendArguments a{
      op.entries<std::byte>(keys, "keys"), op.entries<std::byte>(values, "values"),
      op.entries<const std::byte>(new_keys, "new_keys"),
      op.entries<const std::byte>(new_values, "new_values"), op.places(rows, positions)};
  TORCH_CHECK(keys.scalar_type() == new_keys.scalar_type() &&
                  values.scalar_type() == new_values.scalar_type(),
              op.name, ": new entries need the cache's dtypes, ", keys.scalar_type(), " and ",
              values.scalar_type(), ", but have ", new_keys.scalar_type(), " and ",
              new_values.scalar_type());
  TORCH_CHECK(same_slots(a.keys, a.values), op.name, ": keys ", keys.sizes(), " and values ",
              values.sizes(), " differ in more than the last dimension");
  TORCH_CHECK(same_slots(a.new_keys, a.new_values) && a.new_keys.outer == a.places.count &&
                  a.new_keys.heads == a.keys.heads && a.new_keys.dim == a.keys.dim &&
                  a.new_values.dim == a.values.dim,
              op.name, ": new_keys ", new_keys.sizes(), " and new_values ", new_values.sizes(),
              " do not fit keys ", keys.sizes(), ", values ", values.sizes(), " and ",
              a.places.count, " places");
  return a;
}

CountRefusedArguments count_refused_arguments(const at::Tensor& refused, const at::Tensor& rows,
                                              const at::Tensor& positions, int64_t q_len,
                                              int64_t slots) {
  const Operator op{"thaw::count_refused_", refused.device()};
  TORCH_CHECK(refused.numel() == 1 && refused.scalar_type() == at::kLong, op.name,
              ": refused must be one int64, but is ", refused.scalar_type(), " with sizes ",
              refused.sizes());
  TORCH_CHECK(q_len >= 0 && slots >= 0, op.name, ": q_len ", q_len, " or slots ", slots,
              " is negative");
  return {refused.mutable_data_ptr<int64_t>(), op.places(rows, positions), q_len, slots};
}

TagArguments tag_arguments(const at::Tensor& new_keys, const at::Tensor& new_values,
                           const at::Tensor& rows, const at::Tensor& positions,
                           const at::Tensor& generation, int64_t layer) {
  const Operator op{"thaw::tag_", new_keys.device()};
  const TagArguments a{op.entries<std::byte>(new_keys, "new_keys"),
                       op.entries<std::byte>(new_values, "new_values"),
                       op.element(new_keys, "new_keys"),
                       op.element(new_values, "new_values"),
                       op.places(rows, positions),
                       op.integers(generation, "generation"),
                       layer};
  TORCH_CHECK(generation.numel() == 1, op.name, ": generation must be one int64, but has sizes ",
              generation.sizes());
  TORCH_CHECK(same_slots(a.new_keys, a.new_values) && a.new_keys.outer == a.places.count, op.name,
              ": new_keys ", new_keys.sizes(), " and new_values ", new_values.sizes(),
              " do not fit each other and ", a.places.count, " places");
  TORCH_CHECK(a.new_keys.dim >= tag_digits && a.new_values.dim >= tag_digits, op.name,
              ": a tag is ", tag_digits, " elements long, new_keys ", new_keys.sizes(),
              " or new_values ", new_values.sizes(), " have less");
  return a;
}

VisibleSumArguments visible_sum_arguments(const at::Tensor& out, const at::Tensor& keys,
                                          const at::Tensor& values,
                                          const std::optional<at::Tensor>& block_table,
                                          const at::Tensor& rows, const at::Tensor& positions,
                                          int64_t window, bool ring) {
  const Operator op{"thaw::visible_sum_", out.device()};
  TORCH_CHECK(out.dim() == 4 && out.scalar_type() == at::kFloat && out.is_contiguous(), op.name,
              ": out must be contiguous Float [places, heads, q_len, dim], but is ",
              out.scalar_type(), " with sizes ", out.sizes(), " and strides ", out.strides());
  const bool paged = block_table.has_value() && block_table->defined();
  TORCH_CHECK(!paged || block_table->dim() == 2, op.name,
              ": block_table must be [rows, blocks_of_a_row], but has sizes ",
              block_table->sizes());
  const auto sizes = out.sizes();
  VisibleSumArguments a{out.mutable_data_ptr<float>(),
                        sizes[1],
                        sizes[2],
                        op.entries<const std::byte>(keys, "keys"),
                        op.entries<const std::byte>(values, "values"),
                        op.element(keys, "keys"),
                        op.element(values, "values"),
                        paged ? op.integers(*block_table, "block_table") : nullptr,
                        paged ? block_table->sizes()[0] : keys.sizes()[0],
                        paged ? block_table->sizes()[1] : 1,
                        op.places(rows, positions),
                        window,
                        ring};
  TORCH_CHECK(same_slots(a.keys, a.values) && a.keys.dim == a.values.dim && a.keys.dim == sizes[3],
              op.name, ": keys ", keys.sizes(), ", values ", values.sizes(), " and out ", sizes,
              " do not fit each other");
  TORCH_CHECK(sizes[0] == a.places.count, op.name, ": out ", sizes, " does not fit ",
              a.places.count, " places");
  TORCH_CHECK(a.keys.heads > 0 && sizes[1] % a.keys.heads == 0, op.name, ": ", sizes[1],
              " query heads are no multiple of ", a.keys.heads, " kv heads");
  TORCH_CHECK(window >= 0, op.name, ": window ", window, " is negative");
  return a;
}

}  // namespace thaw::kernels
