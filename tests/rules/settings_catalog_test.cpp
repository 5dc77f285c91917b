#include "rules/knowledge/settings_catalog.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "model/cause.h"
#include "rules/knowledge/catalog.h"
#include "rules/knowledge/catalog_files.h"

namespace faultline {
namespace {

const SettingsCatalog& shipped() {
  static const Catalog catalog = load_catalog();
  return catalog.settings;
}

Between between(std::string_view variable) {
  const ComparedSetting* setting = shipped().find("environment " + std::string(variable));
  return setting == nullptr ? Between::nobody : setting->between;
}

std::string complaint_about(std::string_view text) {
  try {
    read_settings("settings.yaml", text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(SettingsCatalog, KnowsWhatAllRanksMustAgreeOn) {
  for (const char* variable :
       {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NTHREADS", "NCCL_BUFFSIZE", "NCCL_MIN_NCHANNELS",
        "NCCL_MAX_NCHANNELS", "NCCL_NET", "NCCL_IB_QPS_PER_CONNECTION", "NCCL_SOCKET_MAGIC"})
    EXPECT_EQ(between(variable), Between::ranks) << variable;
  EXPECT_EQ(shipped().find("version nccl")->between, Between::ranks);
  EXPECT_EQ(shipped().find("version nccl")->cause, "software.version_mismatch");
}

TEST(SettingsCatalog, LetsHostsNameTheirInterfacesAsTheyLike) {
  for (const char* variable : {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_SOMETHING_UNKNOWN"}) {
    const ComparedSetting* setting = shipped().find("environment " + std::string(variable));
    ASSERT_NE(setting, nullptr) << variable;
    EXPECT_EQ(setting->between, Between::hosts) << variable;
    EXPECT_EQ(setting->severity, Severity::info) << variable;
  }
}

TEST(SettingsCatalog, LeavesToEachProcessWhatIsItsOwn) {
  for (const char* variable : {"NCCL_DEBUG_FILE", "NCCL_DEBUG", "NCCL_HOSTID",
                               "CUDA_VISIBLE_DEVICES", "NCCL_TOPO_DUMP_FILE"})
    EXPECT_EQ(between(variable), Between::nobody) << variable;
}

TEST(SettingsCatalog, KnowsValuesThatDefeatTheirPurpose) {
  const auto cause_of = [](std::string_view question, std::string_view value) {
    for (const SuspiciousValue& suspicious : shipped().suspicious)
      if (suspicious.matches(question, value)) return std::string(name_of(suspicious.cause));
    return std::string();
  };
  EXPECT_EQ(cause_of("environment NCCL_P2P_DISABLE", "1"), "config.p2p_disabled");
  EXPECT_EQ(cause_of("environment NCCL_IB_DISABLE", "1"), "config.network_fallback");
  EXPECT_EQ(cause_of("environment NCCL_NET_GDR_LEVEL", "LOC"), "config.gdr_disabled");
  EXPECT_EQ(cause_of("environment NCCL_TIMEOUT", "3600"), "config.environment_mismatch");
  EXPECT_EQ(cause_of("environment NCCL_P2P_DISABLE", "0"), "");
  EXPECT_EQ(cause_of("environment NCCL_NET_GDR_LEVEL", "SYS"), "");
}

TEST(SettingsCatalog, KnowsVariablesThatAreNotWhatTheyAreTakenFor) {
  const auto told = [](std::string_view variable, std::string_view value) {
    std::string why;
    for (const SuspiciousValue& suspicious : shipped().suspicious)
      if (suspicious.where == Where::anywhere && suspicious.without.empty() &&
          suspicious.matches("environment " + std::string(variable), value))
        why += suspicious.why;
    return why;
  };
  struct Row {
    const char* variable;
    const char* value;
    const char* words;  // empty: nothing is wrong with it
  };
  for (const Row& row : {Row{"TORCH_NCCL_TRACE_BUFFER_SIZE", "209715200", "entries, not bytes"},
                         Row{"TORCH_NCCL_TRACE_BUFFER_SIZE", "20000", ""},
                         Row{"TORCH_NCCL_TRACE_BUFFER_SIZE", "0", "switches off"},
                         Row{"TORCH_FR_BUFFER_SIZE", "1000000000", "entries, not bytes"},
                         Row{"NCCL_DEBUG_FILE", "/tmp/nccl.%h.%d", "only %h (host) and %p"},
                         Row{"NCCL_DEBUG_FILE", "/tmp/nccl.%h.%p", ""},
                         Row{"NCCL_COMM_ID", "10.0.0.1:29500", ""},
                         Row{"NCCL_COMM_ID", "10.0.0.1", "an address and a port"},
                         Row{"NCCL_DEBUG", "INFO", ""},
                         Row{"NCCL_DEBUG", "1", "anything else switches the lines off"},
                         Row{"NCCL_ASYNC_ERROR_HANDLING", "1", "TORCH_NCCL_ASYNC_ERROR_HANDLING"},
                         Row{"NCCL_BLOCKING_WAIT", "1", "TORCH_NCCL_BLOCKING_WAIT"},
                         Row{"TORCH_NCCL_BLOCKING_WAIT", "1", "disables the watchdog"},
                         Row{"TORCH_NCCL_BLOCKING_WAIT", "0", ""},
                         Row{"NCCL_IB_TIMEOUT", "22", ""},
                         Row{"NCCL_IB_TIMEOUT", "600", "an exponent"},
                         Row{"NCCL_SOCKET_IFNAME", "eth0", ""},
                         Row{"NCCL_SOCKET_IFNAME", "mlx5_0", "NCCL_IB_HCA takes"},
                         Row{"NCCL_IB_HCA", "mlx5_bond_0", ""},
                         Row{"NCCL_IB_HCA", "ens10f0np0", "NCCL_SOCKET_IFNAME takes"},
                         Row{"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "/shared/dumps/", "not a folder"},
                         Row{"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "/shared/dumps/rank_", ""}}) {
    const std::string why = told(row.variable, row.value);
    if (*row.words == '\0')
      EXPECT_EQ(why, "") << row.variable << "=" << row.value;
    else
      EXPECT_NE(why.find(row.words), std::string::npos) << row.variable << ": " << why;
  }
}

TEST(SettingsCatalog, NeverAccusesWithMoreThanItsFamilyMay) {
  for (const auto& [name, setting] : shipped().compared) {
    EXPECT_TRUE(is_of(setting.cause, Family::config) ||
                setting.cause == "software.version_mismatch")
        << name;
    EXPECT_LE(setting.severity, Severity::warning) << name;
    EXPECT_LE(setting.confidence.value_or(0), 0.97) << name;
  }
  for (const SuspiciousValue& value : shipped().suspicious)
    EXPECT_LE(value.severity, Severity::warning) << value.setting;
}

TEST(SettingsFile, IsRefusedWithTheLineAndTheMend) {
  const std::string tail = "suspicious: []\n";
  EXPECT_EQ(complaint_about("compare: []\n"),
            "settings.yaml:1: suspicious is missing; add \"suspicious:\" to this entry");
  EXPECT_EQ(complaint_about("compare: {}\n" + tail),
            "settings.yaml:1: compare is not a list; write its entries as a list");
  EXPECT_EQ(complaint_about("compare:\n- settings: [NCCL_ALGO]\n" + tail),
            "settings.yaml:2: between is missing; add \"between:\" to this entry");
  EXPECT_EQ(complaint_about("compare:\n- settings: [NCCL_ALGO]\n  between: friends\n" + tail),
            "settings.yaml:3: between \"friends\" is unknown; use ranks, hosts or nobody");
  EXPECT_EQ(complaint_about("compare:\n- settings: [A, A]\n  between: ranks\n" + tail),
            "settings.yaml:2: \"environment A\" is listed twice, first in line 2; remove one of "
            "the two");
  EXPECT_EQ(complaint_about("compare:\n- settings: [\"A*B\"]\n  between: ranks\n" + tail),
            "settings.yaml:2: \"A*B\" has a * before its end; put it at the end");
  EXPECT_EQ(
      complaint_about("compare:\n- settings: [A]\n  between: ranks\n  confidence: much\n" + tail),
      "settings.yaml:4: confidence \"much\" is not between 0 and 1; write such a number");
  EXPECT_EQ(
      complaint_about("compare:\n- settings: [A]\n  between: ranks\n  class: config.gdr\n" + tail)
          .substr(0, 50),
      "settings.yaml:4: class \"config.gdr\" is unknown; us");
  EXPECT_EQ(complaint_about("compare: []\nsuspicious:\n- setting: A\n  values: [\"*\"]\n"
                            "  at_least: many\n  why: w\n"),
            "settings.yaml:5: at_least \"many\" is not a whole number; write one such as 100");
  EXPECT_EQ(complaint_about("compare: []\nsuspicious:\n- setting: A\n  values: [\"1\"]\n"),
            "settings.yaml:3: why is missing; add \"why:\" to this entry");
  EXPECT_EQ(
      complaint_about("compare: []\nsuspicious:\n- setting: A\n  value: \"1\"\n").substr(0, 44),
      "settings.yaml:4: field \"value\" is unknown; a");
}

}  // namespace
}  // namespace faultline
