// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thaw {

/// Cases that several tests run.
inline const std::string clean_case = "thaw case 1\nprefill 0 5\ncapture g\nreplay g x3\n";
inline const std::string frozen_case =
    "thaw case 1\ncache counter:host_int\nprefill 0 5\ncapture g\nreplay g x3\n";
inline const std::string expected_case = frozen_case + "expect slots@3.2\nexpect static clean\n";
inline const std::string disappointed_case =
    frozen_case + "expect slots@3.1\nexpect freeze\nexpect static slots\n";
inline const std::string needs_cuda_case = "thaw case 1\ndevice cuda\nprefill 0 5\n";
inline const std::string broken_case = "thaw case 1\nprefill 0 5\nreplay h\n";

}  // namespace thaw
