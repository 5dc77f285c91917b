// What became of a line that was offered to a layer with a memory.
#pragma once

namespace faultline {

enum class Step {
  not_mine,  // untouched
  peeled,    // the layer is off; the line goes on
  held,      // the layer keeps it until more lines have come
};

}  // namespace faultline
