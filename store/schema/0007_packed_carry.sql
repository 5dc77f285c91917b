-- How sources.carry is written. 0: as it is. 1: compressed, because a dump that waits for its rest
-- may be large, and a sender can make it so with few bytes.
ALTER TABLE sources ADD COLUMN carry_form INTEGER NOT NULL DEFAULT 0;
