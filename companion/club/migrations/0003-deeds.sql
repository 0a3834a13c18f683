-- What the club's own people have done: tournaments, calls answered, corrections. Only ever added to.

CREATE TABLE club.deeds (
    seq   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic text NOT NULL,                    -- tournament:NUMBER, table:ID, people
    kind  text NOT NULL,
    who   text NOT NULL,                    -- the name of whoever did it
    at    timestamptz NOT NULL DEFAULT now(),
    body  jsonb NOT NULL
);

CREATE INDEX deeds_of_a_topic ON club.deeds (topic, seq);

CREATE INDEX deeds_of_a_kind ON club.deeds (kind, at);

CREATE SEQUENCE club.tournament_numbers;

ALTER TABLE club.tables ADD COLUMN has_letters boolean NOT NULL DEFAULT false;  -- something waits to be handed out
