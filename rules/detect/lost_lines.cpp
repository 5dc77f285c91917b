#include "rules/detect/lost_lines.h"

#include "rules/knowledge/ground_names.h"

namespace faultline {

void doubt_lost_lines(double loss, Sureness& sure) {
  if (loss > 1.0 / 3)
    sure.add(Ground::most_lines_lost);
  else if (loss > 1.0 / 5)
    sure.add(Ground::many_lines_lost);
  else if (loss > 1.0 / 20)
    sure.add(Ground::lines_lost);
}

}  // namespace faultline
