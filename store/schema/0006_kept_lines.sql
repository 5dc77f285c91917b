-- What was read of a source, less its calls, to be read again: ingest/kept_lines.h. A row is of the
-- batch that had this number when it was committed. No row: nothing was kept of its stretch.
CREATE TABLE kept_lines (
  batch        INTEGER PRIMARY KEY,
  source       INTEGER NOT NULL REFERENCES sources (id),
  from_offset  INTEGER NOT NULL,
  to_offset    INTEGER NOT NULL,
  lines_before INTEGER NOT NULL,         -- in the source
  follows      INTEGER NOT NULL,         -- since the row before there were only calls
  received     INTEGER NOT NULL,
  content      BLOB NOT NULL             -- compressed
) STRICT;
CREATE INDEX kept_lines_by_source ON kept_lines (source, lines_before);

-- Up to where lines are kept of a source, but for calls; and how many bytes they take.
ALTER TABLE sources ADD COLUMN kept_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN kept_bytes INTEGER NOT NULL DEFAULT 0;
