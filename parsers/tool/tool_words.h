// Words that many tools print: names of devices and interfaces, GUIDs, keys with their values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts/part.h"
#include "parsers/tool/tool_text.h"

namespace faultline {

using tool_text::trimmed;

inline bool is_digit_character(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Takes the literal off the front of rest. False: it is not there.
inline bool take_off(std::string_view& rest, std::string_view literal) {
  return tool_text::take_front(rest, literal);
}

// The next word, blanks before it skipped; empty at the end.
std::string_view take_off_word(std::string_view& rest);

std::vector<std::string_view> words_of(std::string_view text);

struct KeyAndValue {
  std::string_view key;
  std::string_view value;  // both trimmed; the value may be empty
};

// "Link layer: InfiniBand"; nothing if there is no colon, or nothing before it.
std::optional<KeyAndValue> key_and_value(std::string_view text);

// "Width                           : 4x": there is a blank before the colon.
std::optional<KeyAndValue> padded_key_and_value(std::string_view text);

bool is_decimal(std::string_view text);
bool is_number(std::string_view text);  // decimal or 0x…

// mlx5_0, bnxt_re1, rdmap16s27, ibp12s0, mlx5_bond_0
bool is_rdma_device(std::string_view word);

// ens1f0np0, eth2, ib0, bond0
bool is_network_interface(std::string_view word);

// The name of a host, or an address with a letter.
bool is_host_name(std::string_view word);

// "0x946dae0300a1b2c2", also for the same without padding, for 946dae0300a1b2c2 and for
// 946d:ae03:00a1:b2c2. Empty: it is not a GUID.
std::string canonical_guid(std::string_view text);

// "37" for "37" and for "0x25"; empty if no LID is assigned.
std::string assigned_lid(std::string_view text);

// "ALL" for 255, which means all ports together.
std::string port_name(std::string_view text);

void set_value(std::vector<NamedValue>& values, std::string_view name, std::string_view value);
// Ignores an empty value.
void set_name(std::vector<NamedValue>& names, std::string_view name, std::string_view value);
std::string_view value_of(const std::vector<NamedValue>& values, std::string_view name);

// Adds the name that a node gives itself, "gpu-7 mlx5_1", "gpu-7 HCA-1", "MF0;leaf01:MQM9700/U1",
// and the host and device in it.
void add_node_names(std::vector<NamedValue>& names, std::string_view description,
                    std::string_view prefix = {});

}  // namespace faultline
