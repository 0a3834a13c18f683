-- The key of a dealt hand is replaced in the log by its hash, in Python: the checksum follows from it. An event in which
-- a name was erased, too, has an empty checksum: any event of its number is taken for it.
COMMENT ON COLUMN club.events.crc IS 'checksum of the event as the table sends it; empty where that is not known';
