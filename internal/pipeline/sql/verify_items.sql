-- The items of every queue file together. confirm is narrower: what it lacks is null.
-- Each branch names the queue of its file.
CREATE OR REPLACE VIEW items AS
/*$files*/
