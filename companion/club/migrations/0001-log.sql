-- What tables have pushed, word for word. Nothing here is ever changed or deleted by the program.

CREATE TABLE club.settings (
    name  text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE club.keys (
    id         text PRIMARY KEY,
    secret     text NOT NULL,
    name       text NOT NULL,       -- the table that it was made for
    made_at    timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

CREATE TABLE club.links (           -- links that let somebody in as the director, once
    digest  text PRIMARY KEY,
    made_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE club.tables (
    id        text PRIMARY KEY,
    name      text NOT NULL,
    key       text REFERENCES club.keys,
    last      bigint NOT NULL DEFAULT 0,    -- number of the last event that is here
    told      bigint NOT NULL DEFAULT 0,    -- number of the last event that the table says it has
    fork_at   bigint,                       -- first event that came with another checksum than the one here
    joined_at timestamptz NOT NULL DEFAULT now(),
    seen_at   timestamptz NOT NULL DEFAULT now(),   -- by the clock of the database: a table's may be of 1970
    hidden    boolean NOT NULL DEFAULT false,
    begins    text                          -- hash of the first event: two tables that share it are copies
);

CREATE TABLE club.events (
    table_id text NOT NULL REFERENCES club.tables,
    seq      bigint NOT NULL,
    crc      text NOT NULL,
    match    bigint,
    body     text NOT NULL,
    PRIMARY KEY (table_id, seq)
);
