-- Who may come in as what. A token is kept as its hash alone.

CREATE TABLE club.people (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name    text NOT NULL,
    role    text NOT NULL,                  -- director, helper, player
    made_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE club.links ADD COLUMN person bigint REFERENCES club.people ON DELETE CASCADE;   -- none: a new director

CREATE TABLE club.sessions (
    digest  text PRIMARY KEY,
    person  bigint NOT NULL REFERENCES club.people ON DELETE CASCADE,
    made_at timestamptz NOT NULL DEFAULT now()
);

-- A name that was erased is replaced in the log; its checksum stays that of what the table has.
ALTER TABLE club.events ADD COLUMN erased smallint NOT NULL DEFAULT 0;  -- how many names have been

CREATE TABLE club.erasures (            -- what a table adds to such a match is kept without its words
    table_id text NOT NULL REFERENCES club.tables,
    match    bigint NOT NULL,
    PRIMARY KEY (table_id, match)
);

ALTER TABLE club.tables ADD COLUMN has_erased boolean NOT NULL DEFAULT false;
