-- One side as a view over its staged files: rid = file_no << 40 | rec.
CREATE OR REPLACE VIEW /*$side*/ AS
/*$files*/
