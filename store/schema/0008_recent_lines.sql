-- Of a source that shippers push to: the last lines, by their digests, so that they are recognised if a shipper
-- sends them again in other bodies. Opaque here.
ALTER TABLE sources ADD COLUMN recent BLOB NOT NULL DEFAULT x'';
