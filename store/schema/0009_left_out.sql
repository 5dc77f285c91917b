-- Batches count the events that were over a limit of their job, so they have a form that earlier programs cannot
-- read. The number of this file keeps those from opening the database.
SELECT 1;
