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

  // Asks one connection to end in favour of a newcomer: of the peer that has most connections, the
  // one that has been silent for longest, if it has been silent for some time. If there is none,
  // one that sends its request more slowly than any network.
  void ask_for_room_for(const Connection& newcomer) const;

  void add(std::shared_ptr<Connection> connection);
  void remove(const std::shared_ptr<Connection>& connection);

  const std::set<std::shared_ptr<Connection>>& all() const { return all_; }
  std::size_t size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }

 private:
  std::size_t count_of(const std::string& peer) const;
  std::shared_ptr<Connection> longest_silent() const;
  std::shared_ptr<Connection> slowest_in_favour_of(const std::string& peer) const;

  const std::size_t most_;
  const std::size_t most_of_a_peer_;
  std::set<std::shared_ptr<Connection>> all_;
  std::map<std::string, std::size_t> by_peer_;
};

}  // namespace faultline
