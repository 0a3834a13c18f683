-- Names that were erased, as keyed hashes: what tables send again, and add to such a match, is found by them.

CREATE TABLE club.erased_names (
    digest   text NOT NULL,                 -- of a name's folded words; of a player's exact word in one match
    table_id text NOT NULL DEFAULT '',      -- the match whose record names a player by that word; empty: everywhere
    match    bigint NOT NULL DEFAULT 0,
    words    smallint NOT NULL,             -- how many words the name has
    alias    text NOT NULL,                 -- what stands in its place
    at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (table_id, match, digest)
);

-- An older club kept no hash of the names that it erased: what is added to those matches is still kept without its words.
ALTER TABLE club.erasures ADD COLUMN is_blind boolean NOT NULL DEFAULT false;

UPDATE club.erasures SET is_blind = true;
