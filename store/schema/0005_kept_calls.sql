-- What the calls of a job's batches came to, up to and with one of them: see store/kept_calls.h.
CREATE TABLE kept_calls (
  job     TEXT PRIMARY KEY,
  through INTEGER NOT NULL,              -- id of the last batch whose calls it counts
  content BLOB NOT NULL                  -- rules/state packs it; compressed
) STRICT, WITHOUT ROWID;

-- Null: the batch is as it was committed. Else its calls were dropped, because kept_calls counts
-- them. Not empty: the batch is several in one, and these are their numbers and fingerprints.
ALTER TABLE batches ADD COLUMN prints BLOB;
CREATE INDEX batches_with_calls ON batches (source) WHERE prints IS NULL;
