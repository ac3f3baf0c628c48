-- Writes the record batches of one file as a staged Parquet file. Input: the view
-- arrow_in with the columns of extract.Layout. Order: as the engine gets the
-- batches, nearly that of the file; whoever needs an order uses rec. No dictionary
-- is tried on columns of unique texts and fingerprints: it would be thrown away.
COPY (SELECT * FROM arrow_in) TO /*$file*/
(FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE 122880)
