-- The life of a finding: what part it plays, in which incident, why it ended, and what an operator
-- says of it.
ALTER TABLE findings ADD COLUMN role INTEGER NOT NULL DEFAULT 2;      -- Role: an observation
ALTER TABLE findings ADD COLUMN incident TEXT NOT NULL DEFAULT '';
ALTER TABLE findings ADD COLUMN reason TEXT NOT NULL DEFAULT '';      -- of its end; '': it is open
ALTER TABLE findings ADD COLUMN openings INTEGER NOT NULL DEFAULT 1;
ALTER TABLE findings ADD COLUMN review TEXT NOT NULL DEFAULT '';      -- the latest one's verdict
ALTER TABLE findings ADD COLUMN reviewed INTEGER;
UPDATE findings SET reason = 'not_seen' WHERE resolved IS NOT NULL;

-- Grows with every change of any finding: who pulls goes on after the last it saw.
ALTER TABLE findings ADD COLUMN change INTEGER NOT NULL DEFAULT 0;
UPDATE findings SET change = number;
CREATE UNIQUE INDEX findings_by_change ON findings (change);

CREATE TABLE reviews (
  id      INTEGER PRIMARY KEY,
  finding INTEGER NOT NULL REFERENCES findings (number) ON DELETE CASCADE,
  verdict TEXT NOT NULL,                 -- acknowledged, wrong, closed, reopened
  who     TEXT NOT NULL,
  note    TEXT NOT NULL,
  time    INTEGER NOT NULL
) STRICT;

-- What receivers are to be told: one row for each receiver and state of a finding, written with the
-- finding. severity, role and incident are those the receiver knows the alert by: a finding in
-- which one of them changes ends as one alert and begins as another.
CREATE TABLE outbox (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  receiver  TEXT NOT NULL,
  finding   INTEGER NOT NULL REFERENCES findings (number) ON DELETE CASCADE,
  firing    INTEGER NOT NULL,            -- 0: resolved
  told_with TEXT NOT NULL,               -- rows of one receiver that are told together
  severity  INTEGER NOT NULL,
  role      INTEGER NOT NULL,
  incident  TEXT NOT NULL,
  since     INTEGER NOT NULL,            -- when it became so
  due       INTEGER NOT NULL,            -- not to be told before
  attempted INTEGER NOT NULL DEFAULT 0,  -- the receiver may know of it
  delivered INTEGER,                     -- null: it waits
  refused   INTEGER NOT NULL DEFAULT 0   -- delivered, and the receiver will not have it
) STRICT;
CREATE INDEX outbox_by_finding ON outbox (finding, receiver);
CREATE INDEX outbox_by_receiver ON outbox (receiver, told_with);
CREATE INDEX outbox_waiting ON outbox (receiver, told_with, due) WHERE delivered IS NULL;
