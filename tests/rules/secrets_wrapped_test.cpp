// Lines come inside other text: in JSON strings, in quotes, coloured, behind labels, and cut where
// a body ends. In all of these, the secrets of a line are hidden and the rest of it stays.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/secrets.h"

namespace faultline {
namespace {

const Secrets& in_the_catalog() {
  static const std::shared_ptr<const Secrets> secrets = load_catalog().secrets;
  return *secrets;
}

std::string shown_of(const std::string& line, bool is_cut = false) {
  std::string result;
  OpenSecret open;
  return in_the_catalog().hide(line, is_cut, open, result) ? result : line;
}

std::string escaped(const std::string& text, bool with_slashes = false) {
  std::string result;
  for (const char c : text) {
    if (c == '\x1b') {
      result += "\\u001b";
      continue;
    }
    if (c == '\t') {
      result += "\\t";
      continue;
    }
    if (c == '"' || c == '\\' || (with_slashes && c == '/')) result += '\\';
    result += c;
  }
  return result;
}

struct Wrap {
  std::string name;
  std::string before;
  std::string after;
  std::function<std::string(const std::string&)> written;  // how a text is written inside it
};

std::string unchanged(const std::string& text) { return text; }

std::vector<Wrap> all_wraps() {
  const auto once = [](const std::string& text) { return escaped(text); };
  const auto twice = [](const std::string& text) { return escaped(escaped(text)); };
  const auto thrice = [](const std::string& text) { return escaped(escaped(escaped(text))); };
  const auto with_slashes = [](const std::string& text) { return escaped(text, true); };
  return {
      {"JSON", R"({"log":")", R"(\n","stream":"stderr","time":"2026-03-05T02:47:10.123Z"})", once},
      {"JSON of fluent-bit", R"({"date":1772678830.1,"log":"ERROR )", R"(","host":"gpu-7"})", once},
      {"JSON of PHP", R"({"message":")", R"(","level":"info"})", with_slashes},
      {"JSON in JSON", R"({"log":"{\"level\":\"error\",\"msg\":\")", R"(\",\"rank\":3}\n"})",
       twice},
      {"JSON in JSON in JSON", R"({"a":"{\"b\":\"{\\\"c\\\":\\\")", R"(\\\"}\"}"})", thrice},
      {"a colour", "\x1b[31m", "\x1b[0m", unchanged},
      {"a colour of JSON", R"({"log":"\u001b[31;1m)", R"(\u001b[0m\n","stream":"stdout"})", once},
      {"a label of srun", "3: ", "", unchanged},
      {"an error of srun", "srun: error: gpu-7: task 3: ", "", unchanged},
      {"a label of kubectl", "[pod/train-worker-3/main] ", "", unchanged},
      {"a label of torchrun", "[default3]:[rank3]: ", "", unchanged},
      {"a line of CRI", "2026-03-05T02:47:10.123456789Z stderr F ", "", unchanged},
      {"a line of Loki", R"({"stream":{"app":"train"},"values":[["1772678830","E )", R"("]]})",
       once},
  };
}

std::vector<Wrap> quotes() {
  return {{"single quotes", "RuntimeError('", "')", unchanged},
          {"double quotes", "RuntimeError(\"", "\")", unchanged}};
}

// The pieces of a line that become stars, if they are long enough not to occur by chance.
std::vector<std::string> secrets_of(const std::string& line) {
  constexpr std::size_t kLeast = 6;
  std::vector<std::string> secrets;
  const std::string shown = shown_of(line);
  for (std::size_t begin = 0; (begin = shown.find('*', begin)) != shown.npos;) {
    const std::size_t end = std::min(shown.find_first_not_of('*', begin), shown.size());
    if (end - begin >= kLeast) secrets.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return secrets;
}

void expect_none(const std::string& shown, const std::vector<std::string>& secrets,
                 const Wrap& wrap) {
  for (const std::string& secret : secrets)
    EXPECT_EQ(shown.find(wrap.written(secret)), shown.npos) << "in " << wrap.name << ": " << shown;
}

std::vector<std::string> all_lines(std::vector<std::string> SecretShape::* some) {
  std::vector<std::string> lines;
  for (const SecretShape& shape : in_the_catalog().shapes())
    for (const std::string& line : shape.*some) lines.push_back(expanded_sample(line));
  return lines;
}

void expect_hidden_within(const std::string& line, const Wrap& wrap) {
  const std::string wrapped = wrap.before + wrap.written(line) + wrap.after;
  const std::string shown = shown_of(wrapped);
  ASSERT_EQ(shown.size(), wrapped.size());
  expect_none(shown, secrets_of(line), wrap);
  EXPECT_TRUE(shown.starts_with(wrap.before)) << shown;
  EXPECT_TRUE(shown.ends_with(wrap.after)) << shown;
}

TEST(SecretsWrapped, AreHiddenAndWhatIsAroundThemStays) {
  for (const std::string& line : all_lines(&SecretShape::samples)) {
    for (const Wrap& wrap : all_wraps()) ASSERT_NO_FATAL_FAILURE(expect_hidden_within(line, wrap));
    for (const Wrap& wrap : quotes())
      if (line.find_first_of("'\"") == line.npos) {
        ASSERT_NO_FATAL_FAILURE(expect_hidden_within(line, wrap));
      }
  }
}

TEST(SecretsWrapped, AreHiddenWhereTheyAreColoured) {
  for (const std::string& line : all_lines(&SecretShape::samples))
    for (const std::string& secret : secrets_of(line)) {
      std::string coloured = line;
      coloured.replace(line.find(secret), secret.size(), "\x1b[1;32m" + secret + "\x1b[0m");
      for (const std::string& whole : {coloured, "{\"log\":\"" + escaped(coloured) + "\\n\"}"})
        EXPECT_EQ(shown_of(whole).find(secret), whole.npos) << shown_of(whole);
    }
}

TEST(SecretsWrapped, AreHiddenWhereverABodyEnds) {
  const std::vector<Wrap> wraps = all_wraps();
  std::size_t number = 0;
  for (const std::string& line : all_lines(&SecretShape::samples)) {
    const Wrap& wrap = wraps[number++ % wraps.size()];
    const std::string wrapped = wrap.before + wrap.written(line) + wrap.after;
    const std::vector<std::string> secrets = secrets_of(line);
    for (std::size_t cut = 1; cut < wrapped.size(); ++cut)
      expect_none(shown_of(shown_of(wrapped.substr(0, cut), true) + wrapped.substr(cut)), secrets,
                  wrap);
  }
}

TEST(SecretsWrapped, WhatLooksAlikeStays) {
  for (const std::string& line : all_lines(&SecretShape::harmless)) {
    for (const Wrap& wrap : all_wraps()) {
      const std::string wrapped = wrap.before + wrap.written(line) + wrap.after;
      EXPECT_EQ(shown_of(wrapped), wrapped) << "in " << wrap.name;
    }
    for (const Wrap& wrap : quotes())
      if (line.find_first_of("'\"") == line.npos) {
        const std::string wrapped = wrap.before + line + wrap.after;
        EXPECT_EQ(shown_of(wrapped), wrapped) << "in " << wrap.name;
      }
  }
}

// How trainers, model servers, kernels and node agents speak of tokens, keys and passwords.
const char* const kSaidOften[] = {
    "number of tokens per batch: 1048576, tokens: [1, 2, 3]",
    "iteration 40/ 5000 | consumed tokens: 83886080 | elapsed time per iteration (ms): 812.5",
    "KV Cache is allocated. #tokens: 1843968, K size: 21.3 GB, V size: 21.3 GB",
    "Prefill batch, #new-seq: 3, #new-token: 4096, #cached-token: 128, token usage: 0.42",
    "{'loss': 1.93, 'token_acc': '0.5512', 'learning_rate': '3.0e-05', 'epoch': '0.41'}",
    "  \"bos_token_id\": 128000,",
    "  \"eos_token_id\": [128001, 128008, 128009],",
    "Updated tokens: {'eos_token_id': 151645, 'bos_token_id': None, 'pad_token_id': 151643}.",
    "output_tensor, num_tokens = forward_step(step_function, batch, model, num_microbatches)",
    "  'ppo_max_token_len_per_gpu': 24576,",
    "tokenizer='/models/Qwen2.5-7B-Instruct', tokenizer_mode='auto', tokenizer_revision=None",
    "set the environment variable TOKENIZERS_PARALLELISM=(true | false)",
    "Chunked prefill is enabled with max_num_batched_tokens=8192.",
    "> padded vocab (size: 128256) with 256 dummy tokens (new size: 128512)",
    "hub_token=<HUB_TOKEN>, push_to_hub_token=<PUSH_TO_HUB_TOKEN>,",
    "api_key=None, ssl_keyfile=None, ssl_keyfile_password=None, served_model_name=None",
    "skip_special_tokens=True, spaces_between_special_tokens=False, include_stop_str=False",
    "special token '<|im_start|>' has id 151644",
    "token 12 of 4096: ' the', logprob=-0.31",
    "Token indices sequence length is longer than the maximum (5012 > 4096)",
    "FLAG: --authentication-token-webhook=\"true\" --bootstrap-token-auth=\"false\"",
    "FLAG: --tls-private-key-file=\"/var/lib/kubelet/pki/kubelet.key\"",
    "gdm-password][911]: pam_unix(gdm-password:auth): authentication failure; user=ada",
    "sshd[811]: Accepted publickey for ada from 10.0.0.9 port 51234 ssh2: ED25519 SHA256:abc",
    "sshd[811]: Failed password for invalid user admin from 10.0.0.9 port 51236 ssh2",
    "sudo: ada : TTY=pts/3 ; PWD=/home/ada/runs/17 ; USER=root ; COMMAND=/usr/sbin/dmidecode",
    "systemd[1]: Started systemd-ask-password-console.path - Dispatch Password Requests.",
    "NetworkManager[77]: device (wlp3s0): no secrets: No agents were available for this request.",
    "MountVolume.SetUp failed for volume \"creds\" : secret \"registry-pull-4f9x2\" not found",
    "kernel: Loaded X.509 cert 'Build key: 2b8f00c4a1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6'",
    "integrity: Loading X.509 certificate: UEFI:db; Key type keyring was registered",
    "attention: key = self.key_proj(hidden); key: torch.Size([8, 32, 4096, 128])",
    "KeyError: 'model.layers.17.self_attn.key.weight'",
    "state_dict missing keys: ['lm_head.weight', 'model.embed_tokens.weight']",
    "wandb: W&B API key is configured. Use `wandb login --relogin` to force relogin",
    "wandb: Currently logged in as: ada (team-llama). Use `wandb login` to change",
    "https://hub.example.com/team/model@v2 resolved to commit 3f2b8c1e90a7d64455b0c1e2f3a4b5c6d7e8",
    "Pulled image registry.example:5000/train@sha256:3f2b8c1e90a7d64455b0c1e2f3a4b5c6d7e8f9a0",
    "init_method='tcp://10.0.0.7:29500', store=TCPStore(host=10.0.0.7, port=29500)",
    "gpu-7:42:43 [0] NCCL INFO NCCL_IB_PKEY set by environment to 0.",
    "torch.distributed.elastic: run_id=llama-17, rdzv_backend=c10d, authentication=none",
    "cache key: layers.3.mlp-fp8-e4m3-M16-N4096-K14336, hit=False",
    "    def from_pretrained(cls, name, *, token: Optional[str] = None, revision: str = 'main'):",
    "    raise ValueError('token=' + repr(token) + ' is of no model')",
    "    client = Client(api_key=os.environ['SERVICE_API_KEY'], password=getpass.getpass())",
    "ValueError: Invalid password: must be at least 8 characters",
};

TEST(SecretsWrapped, WhatIsSaidOftenStays) {
  EXPECT_GE(std::size(kSaidOften), 40U);
  for (const std::string line : kSaidOften) {
    EXPECT_EQ(shown_of(line), line);
    for (const Wrap& wrap : all_wraps()) {
      const std::string wrapped = wrap.before + wrap.written(line) + wrap.after;
      EXPECT_EQ(shown_of(wrapped), wrapped) << "in " << wrap.name;
    }
  }
}

// Each record holds one line of the key.
TEST(SecretsWrapped, OfAPrivateKeyAllRecordsAreHidden) {
  const std::string run = expanded_sample("<64>");
  const struct {
    const char* before;
    const char* after;
  } records[] = {
      {R"({"log":")", R"(\n","stream":"stderr","time":"2026-03-05T02:47:10.1Z"})"},
      {R"({"host":"gpu-7","message":")", R"(","level":"info"})"},
      {R"({"log":"{\"rank\":3,\"msg\":\")", R"(\"}\n","stream":"stderr"})"},
      {"    '", "\\n',"},
  };
  for (const auto& record : records) {
    SCOPED_TRACE(record.before);
    OpenSecret open;
    const auto shown = [&](const std::string& text) {
      const std::string line = record.before + text + record.after;
      std::string result;
      return in_the_catalog().hide(line, false, open, result) ? result : line;
    };
    const auto as_it_is = [&](const std::string& text) {
      return record.before + text + record.after;
    };
    EXPECT_EQ(shown("-----BEGIN RSA PRIVATE KEY-----"),
              as_it_is("-----BEGIN RSA PRIVATE KEY-----"));
    EXPECT_TRUE(open.in_key);
    EXPECT_EQ(shown(run), as_it_is(std::string(64, '*')));
    EXPECT_EQ(shown(run), as_it_is(std::string(64, '*')));
    if (std::string_view(record.before).find('{') != std::string_view::npos) {
      EXPECT_EQ(shown("Xk9="), as_it_is("****"));
    }
    EXPECT_EQ(shown("-----END RSA PRIVATE KEY-----"), as_it_is("-----END RSA PRIVATE KEY-----"));
    EXPECT_FALSE(open.in_key);
    EXPECT_EQ(shown("started"), as_it_is("started"));
  }
}

TEST(SecretsWrapped, OfAKeyWhoseBeginningWasNotSeenRecordsAreHidden) {
  const std::string run = expanded_sample("<64>");
  EXPECT_EQ(shown_of("{\"log\":\"" + run + "\\n\",\"stream\":\"stderr\"}"),
            "{\"log\":\"" + std::string(64, '*') + "\\n\",\"stream\":\"stderr\"}");
  const std::string digest = "{\"digest\":\"sha256:" + std::string(64, 'a') + "\",\"size\":7}";
  EXPECT_EQ(shown_of(digest), digest);
  const std::string integrity = "{\"integrity\":\"sha384-" + run + "\"}";
  EXPECT_EQ(shown_of(integrity), integrity);
}

TEST(SecretsWrapped, WhatOthersPrintBetweenTheLinesOfAKeyStays) {
  OpenSecret open;
  std::string line;
  EXPECT_FALSE(in_the_catalog().hide("[rank0]: -----BEGIN EC PRIVATE KEY-----", false, open, line));
  for (const std::string other : {"[rank1]: step 17 failed", "[rank1]: loss=0.25", ""}) {
    EXPECT_FALSE(in_the_catalog().hide(other, false, open, line)) << line;
    EXPECT_TRUE(open.in_key) << other;
  }
  EXPECT_TRUE(in_the_catalog().hide("[rank0]: " + expanded_sample("<64>"), false, open, line));
  EXPECT_TRUE(in_the_catalog().hide("[rank0]: q7Xm2Kd9", false, open, line));
  EXPECT_EQ(line, "[rank0]: ********");
}

// Secrets are found in lines of any length, in bounded memory.
TEST(SecretsWrapped, AreHiddenInALongLine) {
  const std::string password = "\\\"password\\\": \\\"q7Xm2Kd9Rw4T\\\"";
  for (const std::size_t before : {0U, 262100U, 262140U, 262144U, 600000U}) {
    const std::string line = "{\"log\":\"" + std::string(before, '.') + password + "\"}";
    EXPECT_EQ(shown_of(line).find("q7Xm2Kd9"), line.npos) << before;
  }
}

}  // namespace
}  // namespace faultline
