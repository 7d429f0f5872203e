// SPDX-License-Identifier: Apache-2.0
//
// The runtime's calls that LibTorch has no operator for, on the thread's context.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <functional>

#include "device/sim/memory.h"

namespace thaw::sim {

/// For c10::StreamGuard; memory is reused only within a stream. Like LibTorch's, it does not block:
/// the legacy stream, which is the default one, does not wait for it.
c10::Stream new_stream();
/// One as cudaStreamCreate makes it. While it captures, work on the default stream is 906 (rule
/// 18).
c10::Stream new_blocking_stream();
/// Of the current stream. Throws 906 on the default stream while a blocking one captures, which
/// invalidates nothing (rule 9).
bool stream_is_capturing();
void synchronize_device();

/// Pinned host memory, filled with 0xFF bytes. Refused beside captures like any cudaHostAlloc.
at::Tensor pinned_empty(at::IntArrayRef sizes, at::ScalarType type);
void malloc_and_free();      ///< a cudaMalloc and cudaFree past the caching allocator (rule 19)
void attach_memory_async();  ///< cudaStreamAttachMemAsync, which no graph can hold (rule 20)

/// Sets all bytes of a contiguous device tensor; in a capture, a node "memset" (rule 39).
void memset_async(const at::Tensor& tensor, uint8_t value);
/// Calls `function` in the order of the current stream; in a capture, at each replay: a node "host"
/// that owns it (rule 39). Inside, calls of the runtime are 800.
void launch_host_function(std::function<void()> function);

MemoryStats memory_stats(uint64_t pool);
size_t live_blocks();

}  // namespace thaw::sim
