// What SIGHUP changes in a running server. If something is wrong, what was in force stays, and one
// line of the log says why.
#pragma once

#include "alerts/delivery.h"
#include "alerts/routing.h"
#include "app/serve_options.h"
#include "http/access.h"
#include "http/tls.h"
#include "rules/knowledge/live_catalog.h"
#include "service/live_jobs.h"
#include "service/metrics.h"
#include "service/retention.h"
#include "store/store.h"

namespace faultline {

struct SettingsInForce {
  Given given;
  ReadSettings read;
};

// The parts of a running server that follow the settings.
struct Reloadable {
  LiveCatalog& catalog;
  LiveReceivers& receivers;
  AlertDelivery& alerts;
  Retention& retention;
  Store& store;
  LiveJobs& jobs;
};

Catalog catalog_of(const ServeOptions& options);

std::int64_t expiry_of(const TlsKeys& tls);  // in seconds since 1970
std::string expiry_text(const TlsKeys& tls);

// Warns in time if the certificate expires soon.
void tell_of_expiry(const TlsKeys& tls);

// Reads the file of settings and the rules again. Names changed settings that need a restart.
void reload(const SettingsInForce& settings, const Reloadable& follows);
void reload(Access& access);
void reload(TlsKeys& tls, Metrics& metrics);

}  // namespace faultline
