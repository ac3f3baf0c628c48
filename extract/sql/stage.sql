-- Writes the record batches of one file as a staged Parquet file. Input: the view
-- arrow_in with the columns of extract.Layout. Order: as the engine gets the
-- batches, nearly that of the file; whoever needs an order uses rec. No dictionary:
-- keys and fingerprints are unique, so that building one and throwing it away
-- took half of the time.
COPY (SELECT * FROM arrow_in) TO /*$file*/
(FORMAT parquet, COMPRESSION lz4_raw, DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 122880)
