-- What the referee makes of it. `companion club rebuild` empties these and replays every log.

CREATE TABLE club.judged (
    table_id text PRIMARY KEY REFERENCES club.tables,
    seq      bigint NOT NULL DEFAULT 0      -- up to this event
);

CREATE TABLE club.matches (
    table_id text NOT NULL REFERENCES club.tables,
    match    bigint NOT NULL,
    last     bigint NOT NULL,
    state    jsonb NOT NULL,
    figures  jsonb NOT NULL,                -- what its players have done in finished hands
    PRIMARY KEY (table_id, match)
);

CREATE TABLE club.hands (
    table_id text NOT NULL REFERENCES club.tables,
    match    bigint NOT NULL,
    hand     integer NOT NULL,
    result   jsonb NOT NULL,                -- as `companion replay --json` gives a hand
    PRIMARY KEY (table_id, match, hand)
);
