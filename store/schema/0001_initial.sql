-- Times are microseconds since 1970, UTC. Offsets and line numbers are as in model/batch.h.

-- "FLTL", so that a file of ours is known from any other SQLite database.
PRAGMA application_id = 0x464C544C;

-- What is known of each source, and how far it has been read.
CREATE TABLE sources (
  id            INTEGER PRIMARY KEY,
  job           TEXT NOT NULL,
  name          TEXT NOT NULL,
  host          TEXT NOT NULL,           -- '': not said
  rank          INTEGER,
  read_to       INTEGER NOT NULL,        -- offset of the next byte to read
  lines         INTEGER NOT NULL,
  carry         BLOB NOT NULL,
  recognized    INTEGER NOT NULL,
  facts         INTEGER NOT NULL,
  complete      INTEGER NOT NULL,
  last_received INTEGER NOT NULL,
  UNIQUE (job, name)
) STRICT;

-- The order of ids is the order of commits. content is store/batch_codec.h's: everything of a batch
-- except its events. It stands last, so that reading the other columns does not read it.
CREATE TABLE batches (
  id          INTEGER PRIMARY KEY,
  source      INTEGER NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  host        TEXT NOT NULL,             -- as the sender said with this batch
  rank        INTEGER,
  received    INTEGER NOT NULL,
  from_offset INTEGER NOT NULL,          -- from here on: the fingerprint
  to_offset   INTEGER NOT NULL,
  digest      INTEGER NOT NULL,
  head_digest INTEGER NOT NULL,
  starts_body INTEGER NOT NULL,
  content     BLOB NOT NULL
) STRICT;
CREATE INDEX batches_by_source ON batches (source);

-- Everything but calls: rare, and what people ask for by host and kind.
CREATE TABLE events (
  batch          INTEGER NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
  place          INTEGER NOT NULL,       -- Event::order
  line           INTEGER NOT NULL,
  offset         INTEGER NOT NULL,
  wall           INTEGER,
  uncertainty    INTEGER NOT NULL,
  zone_assumed   INTEGER NOT NULL,
  uptime         INTEGER,
  speaker        INTEGER NOT NULL,       -- index into the batch's speakers; who that is follows
  host           TEXT,
  pid            INTEGER,
  device         INTEGER,
  rank           INTEGER,
  kind           TEXT NOT NULL,
  fact           TEXT NOT NULL,          -- JSON
  text           TEXT NOT NULL,
  PRIMARY KEY (batch, place)
) STRICT;

CREATE TABLE findings (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: pages go on after it
  job      TEXT NOT NULL,
  attempt  INTEGER NOT NULL,
  id       TEXT NOT NULL,
  cause    TEXT NOT NULL,
  severity INTEGER NOT NULL,
  opened   INTEGER NOT NULL,
  changed  INTEGER NOT NULL,
  resolved INTEGER,                      -- null: open
  body     TEXT NOT NULL,                -- the finding as JSON
  UNIQUE (job, attempt, id)
) STRICT;
CREATE INDEX findings_by_id ON findings (id);

-- Holds one row, which /readyz writes to see whether writing works.
CREATE TABLE probe (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL
) STRICT;
INSERT INTO probe VALUES (1, 0);
