-- Whether a body is sent again is asked of the beginnings of those before: few among many batches.
CREATE INDEX body_starts ON batches (source) WHERE starts_body = 1;
