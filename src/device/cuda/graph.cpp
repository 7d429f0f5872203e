// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/graph.h"

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "device/cuda/errors.h"

namespace thaw::cuda {
namespace {

/// Each piece of memory once.
std::vector<MemoryUse> collect_memory(const std::vector<GraphNode>& nodes) {
  std::vector<MemoryUse> memory;
  for (const GraphNode& node : nodes) {
    for (const Argument& argument : node.arguments) {
      if (!argument.memory) continue;
      const auto known = std::find_if(memory.begin(), memory.end(), [&](const MemoryUse& use) {
        return use.address == argument.memory->address;
      });
      if (known == memory.end()) {
        memory.push_back(*argument.memory);
      } else {
        known->read |= argument.memory->read;
        known->written |= argument.memory->written;
      }
    }
  }
  return memory;
}

/// A file without a name, for what CUDA writes to files only.
class ScratchFile {
 public:
  ScratchFile() : descriptor_(memfd_create("graph", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  ~ScratchFile() { close(descriptor_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  std::string contents() const {
    std::string text;
    char chunk[4096];
    for (;;) {
      const ssize_t count =
          pread(descriptor_, chunk, sizeof chunk, static_cast<off_t>(text.size()));
      if (count <= 0) return text;
      text.append(chunk, static_cast<size_t>(count));
    }
  }

 private:
  int descriptor_;
};

}  // namespace

void Recording::record(const std::function<void()>& step, uint64_t pool) {
  try {
    with_device_errors("cudaStreamBeginCapture", [&] {
      capture_begin({pool, 0}, cudaStreamCaptureModeGlobal);
    });
  } catch (...) {
    give_up();
    throw;
  }
  try {
    with_device_errors("a call in a capture", step);
  } catch (...) {
    end_quietly();
    throw;
  }
  try {
    with_device_errors("cudaStreamEndCapture", [&] { capture_end(); });
  } catch (...) {
    give_up();
    throw;
  }
  with_device_errors("cudaGraphInstantiate", [&] { instantiate(); });
}

/// The capture may still be good, since the step failed by a check on the host (rule 8), or be
/// invalid.
void Recording::end_quietly() noexcept {
  try {
    capture_end();
  } catch (...) {
    give_up();
  }
}

void Recording::give_up() noexcept {
  cudaStreamCaptureStatus status{};
  if (cudaStreamIsCapturing(capture_stream_, &status) == cudaSuccess &&
      status != cudaStreamCaptureStatusNone) {
    cudaGraph_t rest = nullptr;
    if (cudaStreamEndCapture(capture_stream_, &rest) == cudaSuccess && rest != nullptr) {
      cudaGraphDestroy(rest);
    }
  }
  static_cast<void>(cudaGetLastError());
  for (const auto& [generator, increment] : captured_generator_states_) {
    generator->capturing_ = false;
  }
  // Either call throws if the capture had not come so far that it is needed.
  for (const auto& tell : {&c10::cuda::CUDACachingAllocator::endAllocateToPool,
                           &c10::cuda::CUDACachingAllocator::releasePool}) {
    try {
      tell(capture_dev_, mempool_id_);
    } catch (...) {
    }
  }
}

CudaGraph::CudaGraph(std::unique_ptr<Recording> recording, std::vector<GraphNode> nodes,
                     std::shared_ptr<int64_t> alive)
    : recording_(std::move(recording)),
      nodes_(std::move(nodes)),
      memory_(collect_memory(nodes_)),
      alive_(std::move(alive)) {
  ++*alive_;
}

CudaGraph::~CudaGraph() { --*alive_; }

void CudaGraph::replay(std::optional<uint64_t> /*order_seed*/) {
  with_device_errors("cudaGraphLaunch", [&] { recording_->replay(); });
}

std::string CudaGraph::dot() const {
  const ScratchFile file;
  check(cudaGraphDebugDotPrint(recording_->raw_cuda_graph(), file.path().c_str(), 0),
        "cudaGraphDebugDotPrint");
  return file.contents();
}

}  // namespace thaw::cuda
