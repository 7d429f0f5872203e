// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_device.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include <cstring>
#include <mutex>
#include <stdexcept>

#include "device/cuda/allocations.h"
#include "device/cuda/describe.h"
#include "device/cuda/errors.h"
#include "device/cuda/graph.h"

namespace thaw {
namespace {

constexpr c10::DeviceIndex first_gpu = 0;

/// A stream of the first GPU's, once CUDA and LibTorch are known to have one.
c10::cuda::CUDAStream take_side_stream() {
  int count = 0;
  cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  if (count == 0) throw cuda::device_error(cudaErrorNoDevice, "cudaGetDeviceCount");
  return cuda::with_device_errors("the first use of CUDA", [] {
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    c10::cuda::set_device(first_gpu);
    return c10::cuda::getStreamFromPool(/*isHighPriority=*/false, first_gpu);
  });
}

/// The address of a contiguous tensor's bytes, of the device or of the host.
std::byte* bytes_of(const at::Tensor& tensor) {
  if (!tensor.is_contiguous()) {
    throw std::invalid_argument("bytes of a tensor that is not contiguous");
  }
  if (!tensor.is_cuda() && !tensor.is_cpu()) {
    throw std::invalid_argument("a tensor of another device");
  }
  return static_cast<std::byte*>(const_cast<void*>(tensor.const_data_ptr()));
}

void check_no_capture() {
  if (c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None) {
    throw std::logic_error("memory is written from outside while a capture is under way");
  }
}

/// In order behind the work of the current stream, and complete on return.
void copy_bytes(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(first_gpu);
  cuda::check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

at::CUDAGeneratorImpl& default_generator() {
  return *at::cuda::detail::getDefaultCUDAGenerator(first_gpu).get<at::CUDAGeneratorImpl>();
}

}  // namespace

CudaDevice::CudaDevice() : side_stream_(take_side_stream()) {}

c10::Device CudaDevice::torch_device() const { return {c10::DeviceType::CUDA, first_gpu}; }

void CudaDevice::synchronize() {
  cuda::with_device_errors("cudaDeviceSynchronize", [] { c10::cuda::device_synchronize(); });
}

std::unique_ptr<Graph> CudaDevice::capture(const std::function<void()>& step,
                                           const CaptureOptions& options) {
  // What was enqueued so far is not part of the capture, nor is it waited for in it (rule 6).
  synchronize();
  // Memory that the step frees was somebody's before it.
  const auto before = cuda::Allocations::now();
  auto recording = std::make_unique<cuda::Recording>();
  {
    const c10::cuda::CUDAStreamGuard on_side_stream(side_stream_);
    recording->record(step, options.pool);
  }
  const uint64_t pool = recording->pool_number();
  const auto after = cuda::Allocations::now();
  const auto find = [&](uintptr_t address) -> std::optional<MemoryUse> {
    if (auto use = before.find(address, pool)) return use;
    if (auto use = after.find(address, pool)) return use;
    return cuda::find_pinned(address);
  };
  auto nodes = cuda::describe(recording->raw_cuda_graph(), find);
  return std::make_unique<cuda::CudaGraph>(std::move(recording), std::move(nodes), graphs_alive_);
}

std::span<const std::byte> CudaDevice::read(const at::Tensor& tensor,
                                            std::vector<std::byte>& scratch) const {
  const std::byte* from = bytes_of(tensor);
  if (tensor.is_cpu()) return {from, tensor.nbytes()};
  scratch.resize(tensor.nbytes());
  copy_bytes(scratch.data(), from, scratch.size(), cudaMemcpyDeviceToHost);
  return scratch;
}

void CudaDevice::write(const at::Tensor& tensor, size_t offset, std::span<const std::byte> bytes) {
  check_no_capture();
  std::byte* to = bytes_of(tensor);
  if (offset > tensor.nbytes() || bytes.size() > tensor.nbytes() - offset) {
    throw std::out_of_range("a write past the end of a tensor");
  }
  copy_bytes(to + offset, bytes.data(), bytes.size(), cudaMemcpyDefault);
}

void CudaDevice::fill(const at::Tensor& tensor, std::byte value) {
  check_no_capture();
  std::byte* to = bytes_of(tensor);
  const int number = std::to_integer<int>(value);
  if (tensor.nbytes() == 0) return;
  if (tensor.is_cpu()) {
    std::memset(to, number, tensor.nbytes());
    return;
  }
  cuda::check(
      cudaMemsetAsync(to, number, tensor.nbytes(), c10::cuda::getCurrentCUDAStream(first_gpu)),
      "cudaMemsetAsync");
}

GeneratorState CudaDevice::generator() const {
  at::CUDAGeneratorImpl& generator = default_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex_);
  return {.seed = generator.current_seed(), .offset = generator.get_offset()};
}

void CudaDevice::set_generator(const GeneratorState& state) {
  if (state.offset % 4 != 0) {
    throw std::invalid_argument("a generator's offset must be a multiple of 4");
  }
  at::CUDAGeneratorImpl& generator = default_generator();
  const std::lock_guard<std::mutex> lock(generator.mutex_);
  generator.set_current_seed(state.seed);
  generator.set_offset(state.offset);
}

MemoryState CudaDevice::state(const MemoryUse& /*use*/) const { return MemoryState::live; }

MemoryUse CudaDevice::memory_of(const at::Tensor& tensor) const {
  const c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  MemoryUse use;
  use.address = reinterpret_cast<uintptr_t>(storage.data());
  use.bytes = storage.nbytes();
  use.host = tensor.is_cpu();
  return use;
}

void CudaDevice::reset(const DeviceBehaviour& /*behaviour*/) {
  synchronize();
  at::cuda::clearCublasWorkspaces();
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(first_gpu);
  const int64_t blocks =
      stats.allocation[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)].current;
  if (blocks != 0 || *graphs_alive_ != 0) {
    throw std::logic_error(fmt::format("a reset while {} blocks of memory and {} graphs are alive",
                                       blocks, *graphs_alive_));
  }
  cuda::with_device_errors("cudaFree", [] { c10::cuda::CUDACachingAllocator::emptyCache(); });
  set_generator({});
}

}  // namespace thaw
