// SPDX-License-Identifier: Apache-2.0
#include "device/sim/mirror.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "device/sim/allocator.h"
#include "device/sim/context.h"

namespace thaw::sim {

namespace {

c10::Storage cpu_storage(c10::DataPtr pointer, size_t size) {
  return {c10::Storage::use_byte_size_t(), size, std::move(pointer), c10::GetAllocator(c10::kCPU),
          /*resizable=*/true};
}

/// What kernels do not change about a tensor; so any tensor that has it can stand for the device's.
bool same_geometry(const at::Tensor& a, const at::Tensor& b) {
  return a.storage_offset() == b.storage_offset() && a.dtype() == b.dtype() &&
         a.sizes().equals(b.sizes()) && a.strides().equals(b.strides()) &&
         a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

}  // namespace

at::Tensor over_storage(c10::Storage storage, c10::DispatchKeySet keys, const at::Tensor& like) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, like.dtype());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(),
                                                      like.storage_offset());
  if (C10_UNLIKELY(like.is_conj())) tensor._set_conj(true);
  if (C10_UNLIKELY(like.is_neg())) tensor._set_neg(true);
  return tensor;
}

c10::Storage raw_storage(void* bytes, size_t size) {
  return cpu_storage(c10::DataPtr(bytes, c10::Device(c10::kCPU)), size);
}

at::Tensor device_view(c10::StorageImpl& storage, const at::Tensor& like) {
  c10::Storage shared(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(&storage));
  return over_storage(std::move(shared), device_keys, like);
}

at::Tensor Mirror::operator()(const at::Tensor& device_tensor) {
  c10::StorageImpl& storage = *device_tensor.storage().unsafeGetStorageImpl();
  Block* block = block_of(storage);
  if (block != nullptr && block->owner != &Context::current()) {
    throw device_error(Error::illegal_address, "a tensor of another simulated device");
  }
  if (contents_ == Contents::device && block != nullptr) {
    return kept_with_block(*block, storage, device_tensor);
  }
  c10::TensorImpl* key = device_tensor.unsafeGetTensorImpl();
  for (const auto& [known, mirrored] : tensors_) {
    if (known == key) return mirrored;
  }
  at::Tensor mirrored = make(storage, block, device_tensor);
  tensors_.emplace_back(key, mirrored);
  return mirrored;
}

at::Tensor Mirror::kept_with_block(Block& block, c10::StorageImpl& storage,
                                   const at::Tensor& tensor) {
  constexpr size_t kept = 4;
  BlockMirrors& mirrors = block.mirrors;
  if (!mirrors.storage) mirrors.storage = make_storage(storage, &block);
  storages_.emplace_back(&storage, mirrors.storage);
  for (const at::Tensor& mirrored : mirrors.tensors) {
    if (same_geometry(mirrored, tensor)) return mirrored;
  }
  const c10::InferenceMode normal(false);  // later calls may be outside inference mode
  at::Tensor mirrored = over_storage(mirrors.storage, cpu_keys, tensor);
  if (mirrors.tensors.size() < kept) {
    mirrors.tensors.push_back(mirrored);
  } else {
    mirrors.tensors[mirrors.next_replaced++ % kept] = mirrored;
  }
  return mirrored;
}

at::Tensor Mirror::make(c10::StorageImpl& storage, Block* block, const at::Tensor& tensor) {
  for (const auto& [known, mirrored] : storages_) {
    if (known == &storage) return over_storage(mirrored, cpu_keys, tensor);
  }
  c10::Storage mirrored_storage = make_storage(storage, block);
  storages_.emplace_back(&storage, mirrored_storage);
  at::Tensor mirrored = over_storage(mirrored_storage, cpu_keys, tensor);
  if (contents_ == Contents::ones && storage.nbytes() > 0) {
    at::Tensor all = over_storage(std::move(mirrored_storage), cpu_keys, mirrored);
    const auto elements = static_cast<int64_t>(storage.nbytes() / tensor.itemsize());
    all.unsafeGetTensorImpl()->set_storage_offset(0);
    all.unsafeGetTensorImpl()->set_sizes_contiguous({elements});
    all.fill_(1);
  }
  return mirrored;
}

c10::Storage Mirror::make_storage(c10::StorageImpl& storage, Block* block) const {
  const size_t size = storage.nbytes();
  if (contents_ == Contents::device || contents_ == Contents::recorded) {
    return raw_storage(block != nullptr ? Memory::bytes_of(*block) : nullptr, size);
  }
  void* copy = size > 0 ? std::calloc(1, size) : nullptr;
  if (size > 0 && copy == nullptr) throw std::bad_alloc();
  return cpu_storage({copy, copy, &std::free, c10::Device(c10::kCPU)}, size);
}

c10::StorageImpl* Mirror::storage_behind(const at::Tensor& cpu_tensor) const {
  const c10::StorageImpl* storage = cpu_tensor.storage().unsafeGetStorageImpl();
  for (const auto& [device_storage, mirrored] : storages_) {
    if (mirrored.unsafeGetStorageImpl() == storage) return device_storage;
  }
  return nullptr;
}

}  // namespace thaw::sim
