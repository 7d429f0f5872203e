// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>

#include <utility>

#include "device/sim/memory.h"

namespace thaw::sim {

constexpr c10::DispatchKeySet cpu_keys{c10::DispatchKey::CPU};
constexpr c10::DispatchKeySet device_keys{c10::DispatchKey::PrivateUse1};

/// A tensor with the geometry of `like` over another storage, on the backend of `keys`.
at::Tensor over_storage(c10::Storage storage, c10::DispatchKeySet keys, const at::Tensor& like);

/// CPU tensors in place of the device tensors of one call. One CPU storage stands for one device
/// storage and one CPU tensor for one device tensor, so that kernels see the same aliases and
/// overlaps as on the device.
class Mirror {
 public:
  enum class Contents {
    device,    ///< the device's own bytes; CPU tensors are kept with the block for later calls
    recorded,  ///< the same bytes under tensors of the caller's own, for a node to keep
    zeros,     ///< private copies of the same sizes, to try a call out
    ones
  };

  explicit Mirror(Contents contents) : contents_(contents) {}

  /// Throws DeviceError 700 for memory of another simulated device.
  at::Tensor operator()(const at::Tensor& device_tensor);
  /// The device storage that a CPU tensor's storage stands for, or null.
  c10::StorageImpl* storage_behind(const at::Tensor& cpu_tensor) const;

 private:
  at::Tensor kept_with_block(Block& block, c10::StorageImpl& storage, const at::Tensor& tensor);
  at::Tensor make(c10::StorageImpl& storage, Block* block, const at::Tensor& tensor);
  c10::Storage make_storage(c10::StorageImpl& storage, Block* block) const;

  Contents contents_;
  c10::SmallVector<std::pair<c10::StorageImpl*, c10::Storage>, 6> storages_;
  c10::SmallVector<std::pair<c10::TensorImpl*, at::Tensor>, 6> tensors_;
};

/// The device's bytes as a storage that owns nothing.
c10::Storage raw_storage(void* bytes, size_t size);

/// A view of a device storage with the geometry of a CPU tensor.
at::Tensor device_view(c10::StorageImpl& storage, const at::Tensor& like);

/// Replaces every defined tensor of a value (a Tensor, Tensor?, or list of them) by what `replace`
/// returns for it.
template <class Replace>
void replace_tensors(c10::IValue& value, Replace&& replace) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) value = replace(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> replaced;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      replaced.push_back(tensor.defined() ? replace(tensor) : tensor);
    }
    value = std::move(replaced);
  } else if (value.isList() && !value.isIntList() && !value.isDoubleList() && !value.isBoolList()) {
    const c10::impl::GenericList list = value.toList();
    c10::impl::GenericList replaced(list.elementType());
    for (c10::IValue element : list) {
      replace_tensors(element, replace);
      replaced.push_back(std::move(element));
    }
    value = std::move(replaced);
  }
}

}  // namespace thaw::sim
