-- One table says who works on what: also on rows to embed ("embedding <token>"), on searches
-- ("search <id>") and on notices ("notice <id>"). embed_task.until is when a row that failed may be
-- tried again, and no more.
ALTER TABLE search_task DROP COLUMN claimer;
ALTER TABLE search_task DROP COLUMN claimed_until;
UPDATE embed_task SET until = 0 WHERE attempts = 0;
