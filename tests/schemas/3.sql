BEGIN TRANSACTION;
CREATE TABLE "event" (
        seq   INTEGER PRIMARY KEY,  -- the order of everything; clocks order nothing
        match INTEGER NOT NULL,     -- the seq of the `setup` event that began the match
        at_s  REAL NOT NULL,        -- the clock on the wall, for people
        kind  TEXT NOT NULL,
        body  TEXT NOT NULL,        -- JSON
        crc   INTEGER NOT NULL      -- CRC-32 of all that stands before it
    ) STRICT;
INSERT INTO "event" VALUES(1,1,1790000000.5,'setup','{"lines":["edition classic","side Ann","side Bob"],"by":"Ann"}',3452198869);
INSERT INTO "event" VALUES(2,1,1790000000.5,'line','{"text":"hand first Ann","by":"Ann"}',433878456);
INSERT INTO "event" VALUES(3,1,1790000000.5,'setting','{"key":"policy","value":"tap","by":"Ann"}',1345167687);
INSERT INTO "event" VALUES(4,1,1790000000.5,'seat','{"player":"Ann","by":"Ann"}',1417217198);
INSERT INTO "event" VALUES(5,1,1790000000.5,'line','{"text":"player Ann \"Ann Ünal\"","by":"Ann"}',2251344861);
INSERT INTO "event" VALUES(6,1,1790000000.5,'seat','{"player":"Bob","by":"Bob"}',3715647023);
INSERT INTO "event" VALUES(7,1,1790000000.5,'line','{"text":"Ann roll","by":"Ann","source":"phone"}',4086319717);
INSERT INTO "event" VALUES(8,1,1790000000.5,'line','{"text":"Bob roll","by":"Bob","source":"phone"}',1543185539);
INSERT INTO "event" VALUES(9,1,1790000000.5,'line','{"text":"Ann 100","by":"Ann","source":"phone"}',378176379);
INSERT INTO "event" VALUES(10,1,1790000000.5,'line','{"text":"Bob stop > Ann","by":"Bob","source":"phone"}',2018827740);
INSERT INTO "event" VALUES(11,1,1790000000.5,'line','{"text":"Ann right-of-way !","by":"Ann","source":"phone"}',590293007);
INSERT INTO "event" VALUES(12,1,1790000000.5,'line','{"text":"Ann 75","by":"Ann","source":"phone"}',1955123862);
INSERT INTO "event" VALUES(13,1,1790000000.5,'line','{"text":"Bob 50","by":"Bob","source":"phone"}',1207223396);
INSERT INTO "event" VALUES(14,1,1790000000.5,'correct','{"of":13,"text":"Bob 25","by":"Bob"}',1899829568);
INSERT INTO "event" VALUES(15,1,1790000000.5,'line','{"text":"Ann 25","by":"Ann","source":"phone"}',3774839836);
INSERT INTO "event" VALUES(16,1,1790000000.5,'undo','{"of":15,"by":"Ann"}',3503652213);
INSERT INTO "event" VALUES(17,1,1790000000.5,'line','{"text":"Ann 200","by":"Ann","source":"phone"}',2945341384);
INSERT INTO "event" VALUES(18,1,1790000000.5,'retract','{"of":17,"by":"Bob"}',1781338979);
INSERT INTO "event" VALUES(19,1,1790000000.5,'line','{"text":"Ann discard 25","by":"Ann","source":"phone"}',3111466851);
INSERT INTO "event" VALUES(20,1,1790000000.5,'undo','{"of":19,"by":"Ann"}',4079798629);
INSERT INTO "event" VALUES(21,1,1790000000.5,'redo','{"of":20,"by":"Ann"}',3986819974);
INSERT INTO "event" VALUES(22,1,1790000000.5,'setting','{"key":"policy","value":"play-on","by":"Ann"}',121300254);
INSERT INTO "event" VALUES(23,1,1790000000.5,'setting','{"key":"other-side-verifies","value":"yes","by":"Ann"}',2507961059);
INSERT INTO "event" VALUES(24,1,1790000000.5,'line','{"text":"Bob 100","by":"Ann","source":"phone"}',1919931692);
INSERT INTO "event" VALUES(25,1,1790000000.5,'setting','{"key":"other-side-verifies","value":"no","by":"Ann"}',1275636726);
INSERT INTO "event" VALUES(26,1,1790000000.5,'line','{"text":"end","by":"Ann","source":"phone"}',4216696165);
INSERT INTO "event" VALUES(27,27,1790000000.5,'setup','{"lines":["side Cid","side Dee"],"by":""}',4070894777);
INSERT INTO "event" VALUES(28,27,1790000000.5,'line','{"text":"hand first Dee","by":""}',2280811344);
INSERT INTO "event" VALUES(29,27,1790000000.5,'setting','{"key":"policy","value":"play-on","by":""}',3637176035);
INSERT INTO "event" VALUES(30,27,1790000000.5,'line','{"text":"Dee roll","by":"Dee","source":"phone"}',3885883731);
INSERT INTO "event" VALUES(31,27,1790000000.5,'answer','{"zone":"side-1/battle","expected":null,"seen":"roll","answer":"ignore","by":"Cid"}',3678251580);
INSERT INTO "event" VALUES(32,27,1790000000.5,'line','{"text":"Dee discard 50","by":"Dee","source":"phone","before":30}',981313991);
INSERT INTO "event" VALUES(33,27,1790000000.5,'waive','{"of":32,"by":"Cid"}',2758907349);
INSERT INTO "event" VALUES(34,27,1790000000.5,'wish','{"of":32,"by":"Cid"}',1480228596);
INSERT INTO "event" VALUES(35,27,1790000000.5,'call','{"by":"Dee"}',801878657);
INSERT INTO "event" VALUES(36,27,1790000000.5,'letter','{"letter":1,"what":"coming","of":35,"by":"Flo","text":""}',1128809028);
INSERT INTO "event" VALUES(37,27,1790000000.5,'call','{"by":"Dee","is_over":true}',328044871);
INSERT INTO "event" VALUES(38,27,1790000000.5,'claim','{"text":"Dee 25","by":"Dee"}',237390404);
CREATE INDEX event_of_match ON event (match, seq);
COMMIT;
PRAGMA user_version = 3;
