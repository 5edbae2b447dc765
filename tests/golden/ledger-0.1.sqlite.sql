BEGIN TRANSACTION;
CREATE TABLE balance (number INTEGER PRIMARY KEY, length INTEGER NOT NULL, text TEXT NOT NULL);
INSERT INTO "balance" VALUES(2,1,'{"":{"":{"USD":"9.99"}}}');
CREATE TABLE format (version INTEGER NOT NULL);
INSERT INTO "format" VALUES(1);
CREATE TABLE ledger (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
INSERT INTO "ledger" VALUES(1,'golden/at_most(send, per=day, zone=Europe/Berlin, same=args.to, scope=store)');
INSERT INTO "ledger" VALUES(2,'golden/money');
INSERT INTO "ledger" VALUES(3,'golden/cooldown(ping, 60, scope=store)');
INSERT INTO "ledger" VALUES(4,'golden/budget');
CREATE TABLE posting (place INTEGER PRIMARY KEY, text TEXT NOT NULL);
INSERT INTO "posting" VALUES(4294967296,'{"session":"one","record":0,"add":{"2025-12-01":{"\"ana\"":{"n":"1"}}}}');
INSERT INTO "posting" VALUES(4294967297,'{"session":"two","record":0,"add":{"2025-12-01":{"\"ana\"":{"n":"1"}}}}');
INSERT INTO "posting" VALUES(4294967298,'{"session":"one","record":1,"add":{"2025-12-01":{"\"ana\"":{"n":"-1"}}}}');
INSERT INTO "posting" VALUES(4294967299,'{"session":"two","record":2,"add":{"2025-12-02":{"\"🧾\"":{"n":"1"}}}}');
INSERT INTO "posting" VALUES(8589934592,'{"session":"one","record":2,"add":{"":{"":{"USD":"9.99"}}}}');
INSERT INTO "posting" VALUES(12884901888,'{"session":"one","record":4,"add":{"":{"":{"1764676805.25":"1"}}}}');
INSERT INTO "posting" VALUES(17179869184,'{"session":"one","record":0,"add":{"":{"":{"calls":"1"}}}}');
INSERT INTO "posting" VALUES(17179869185,'{"session":"two","record":0,"add":{"":{"":{"calls":"1"}}}}');
INSERT INTO "posting" VALUES(17179869186,'{"session":"one","record":1,"add":{"":{"":{"calls":"-1"}}}}');
INSERT INTO "posting" VALUES(17179869187,'{"session":"two","record":2,"add":{"":{"":{"calls":"1"}}}}');
INSERT INTO "posting" VALUES(17179869188,'{"session":"one","record":2,"add":{"":{"":{"calls":"1"}}}}');
INSERT INTO "posting" VALUES(17179869189,'{"session":"one","record":4,"add":{"":{"":{"calls":"1"}}}}');
INSERT INTO "posting" VALUES(17179869190,'{"session":"two","record":5,"add":{"":{"":{"usd":"0.5"}}}}');
CREATE TABLE record (place INTEGER PRIMARY KEY, call TEXT, key TEXT, text TEXT NOT NULL);
INSERT INTO "record" VALUES(4294967296,'1 a',NULL,'{"index":0,"event":{"event":"called","label":"send","payload":{"to":"ana"},"id":"a","at":0.0,"wall":1764590400.0},"verdict":"allowed","wall":1764590400.0,"call":"a","status":"open","open":1,"ledgers":{"golden/at_most(send, per=day, zone=Europe/Berlin, same=args.to, scope=store)":{"2025-12-01":{"\"ana\"":{}}},"golden/budget":{"":{"":{}}}}}');
INSERT INTO "record" VALUES(4294967297,'1 a',NULL,'{"index":1,"event":{"event":"failed","id":"a","effect":"none","at":2.0,"wall":1764590402.0},"verdict":"allowed","wall":1764590402.0,"call":"a","status":"failed"}');
INSERT INTO "record" VALUES(4294967298,'1 p',NULL,'{"index":2,"event":{"event":"called","label":"pay","payload":{"amount":9.99,"unit":"USD"},"id":"p","at":3.0,"wall":1764590403.0},"verdict":"allowed","wall":1764590403.0,"call":"p","status":"open","open":1,"ledgers":{"golden/money":{"":{"":{}}},"golden/budget":{"":{"":{"calls":"2"}}}}}');
INSERT INTO "record" VALUES(4294967299,'1 p',NULL,'{"index":3,"event":{"event":"returned","label":"pay","payload":{},"id":"p","at":4.0,"wall":1764590404.0},"verdict":"allowed","wall":1764590404.0,"call":"p","status":"finished","outcome":"ok"}');
INSERT INTO "record" VALUES(4294967300,'1 g',NULL,'{"index":4,"event":{"event":"called","label":"ping","payload":{},"id":"g","at":5.0,"wall":1764676805.25},"verdict":"allowed","wall":1764676805.25,"call":"g","status":"open","open":1,"ledgers":{"golden/cooldown(ping, 60, scope=store)":{"":{"":{}}},"golden/budget":{"":{"":{"calls":"3"}}}}}');
INSERT INTO "record" VALUES(8589934592,'2 a',NULL,'{"index":0,"event":{"event":"called","label":"send","payload":{"to":"ana"},"id":"a","at":0.0,"wall":1764590400.0},"verdict":"allowed","wall":1764590400.0,"call":"a","status":"open","open":1,"ledgers":{"golden/at_most(send, per=day, zone=Europe/Berlin, same=args.to, scope=store)":{"2025-12-01":{"\"ana\"":{"n":"1"}}},"golden/budget":{"":{"":{"calls":"1"}}}}}');
INSERT INTO "record" VALUES(8589934593,NULL,NULL,'{"index":1,"event":{"event":"called","label":"send","payload":{"to":"ana"},"id":"b","at":1.0,"wall":1764590401.0},"verdict":"violation","wall":1764590401.0,"reasons":[{"rule":"at_most(send, 2, per=day, zone=Europe/Berlin, same=args.to, scope=store)","kind":"count","message":"`send` is allowed 2 times, and was admitted 2 times in all sessions of this store on 2025-12-01","got":"!send","expected":[],"help":"wait 39599 s, for the next day","span":null,"follow_on":false,"untimed":false,"possible":false,"severity":"error","place":""}],"open":1,"ledgers":{"golden/at_most(send, per=day, zone=Europe/Berlin, same=args.to, scope=store)":{"2025-12-01":{"\"ana\"":{"n":"2"}}},"golden/budget":{"":{"":{"calls":"2"}}}}}');
INSERT INTO "record" VALUES(8589934594,'2 c',NULL,'{"index":2,"event":{"event":"called","label":"send","payload":{"to":"🧾"},"id":"c","at":86400.0,"wall":1764676800.0},"verdict":"allowed","wall":1764676800.0,"call":"c","status":"open","open":2,"ledgers":{"golden/at_most(send, per=day, zone=Europe/Berlin, same=args.to, scope=store)":{"2025-12-01":{},"2025-12-02":{"\"🧾\"":{}}},"golden/budget":{"":{"":{"calls":"1"}}}}}');
INSERT INTO "record" VALUES(8589934595,NULL,NULL,'{"index":3,"event":{"event":"called","label":"pay","payload":{"amount":"0.02","unit":"USD"},"id":"p","at":86400.0,"wall":1764676800.0},"verdict":"violation","wall":1764676800.0,"reasons":[{"rule":"money","kind":"amount","message":"`pay` asks for 0.02 USD, and 0.01 of 10 USD are left in all sessions of this store","got":"!pay","expected":[],"help":"ask for less","span":null,"follow_on":false,"untimed":false,"possible":false,"severity":"error","place":""}],"open":2,"ledgers":{"golden/money":{"":{"":{"USD":"9.99"}}},"golden/budget":{"":{"":{"calls":"3"}}}}}');
INSERT INTO "record" VALUES(8589934596,NULL,NULL,'{"index":4,"event":{"event":"called","label":"ping","payload":{},"id":"g","at":86400.0,"wall":1764676806.0},"verdict":"violation","wall":1764676806.0,"reasons":[{"rule":"cooldown(ping, 60, scope=store)","kind":"rate","message":"`ping` is allowed once in 60 s in all sessions of this store","got":"!ping","expected":[],"help":"wait 59.25 s","span":null,"follow_on":false,"untimed":false,"possible":false,"severity":"error","place":""}],"open":2,"ledgers":{"golden/cooldown(ping, 60, scope=store)":{"":{"":{"1764676805.25":"1"}}},"golden/budget":{"":{"":{"calls":"4"}}}}}');
INSERT INTO "record" VALUES(8589934597,NULL,NULL,'{"index":5,"event":{"event":"charged","usage":{"usd":0.5},"at":86400.0,"wall":1764676800.0},"verdict":"allowed","wall":1764676800.0,"open":2,"ledgers":{"golden/budget":{"":{"":{"calls":"4"}}}}}');
CREATE TABLE session (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        contract TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, created REAL NOT NULL
    );
INSERT INTO "session" VALUES(1,'one','golden','1','sha256:f541f69c779d8c5c91a6114171f564f732f23921a619ecc17bdb7b21ccacf75e',1764590400.0);
INSERT INTO "session" VALUES(2,'two','golden','1','sha256:f541f69c779d8c5c91a6114171f564f732f23921a619ecc17bdb7b21ccacf75e',1764590400.0);
CREATE TABLE snapshot (number INTEGER PRIMARY KEY, length INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX record_call ON record (call) WHERE call IS NOT NULL;
CREATE INDEX record_key ON record (key) WHERE key IS NOT NULL;
CREATE VIEW history AS
        SELECT session.id AS session, place & 4294967295 AS "index", text
        FROM record JOIN session ON session.number = place >> 32;
COMMIT;
PRAGMA application_id = 1685417081;
PRAGMA user_version = 1;
