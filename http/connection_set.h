// The open connections. Neither a single peer nor silent connections may keep others out.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "http/connection.h"

namespace faultline {

class ConnectionSet {
 public:
  explicit ConnectionSet(std::size_t most);

  bool has_room_for(const Connection& connection) const;

  // Asks one connection to end: of the peer that has most connections, the one that has been silent
  // for longest, if it has been silent for some time.
  void ask_for_room() const;

  void add(std::shared_ptr<Connection> connection);
  void remove(const std::shared_ptr<Connection>& connection);

  const std::set<std::shared_ptr<Connection>>& all() const { return all_; }
  std::size_t size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }

 private:
  const std::size_t most_;
  const std::size_t most_of_a_peer_;
  std::set<std::shared_ptr<Connection>> all_;
  std::map<std::string, std::size_t> by_peer_;
};

}  // namespace faultline
