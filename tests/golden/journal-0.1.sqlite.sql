BEGIN TRANSACTION;
CREATE TABLE format (version INTEGER NOT NULL);
INSERT INTO "format" VALUES(1);
CREATE TABLE record (place INTEGER PRIMARY KEY, call TEXT, key TEXT, text TEXT NOT NULL);
INSERT INTO "record" VALUES(4294967296,NULL,NULL,'{"index":0,"event":{"event":"called","label":"pay","payload":{"n":1},"id":"x","key":"k0"},"verdict":"violation","wall":1700000001.125,"reasons":[{"rule":"must_precede(look, pay)","kind":"order","message":"`pay` needs an earlier `look`","got":"!pay","expected":["look"],"help":"`look` must have succeeded first","span":null,"follow_on":false,"untimed":false,"possible":false,"severity":"error"}]}');
INSERT INTO "record" VALUES(4294967297,'1 a','1 k1','{"index":1,"event":{"event":"called","label":"look","payload":{"n":0.10,"text":"🧾"},"id":"a","at":2.5,"key":"k1"},"verdict":"allowed","wall":1700000001.125,"call":"a","status":"open","open":1}');
INSERT INTO "record" VALUES(4294967298,'1 a',NULL,'{"index":2,"event":{"event":"returned","label":"look","payload":{"v":1000000000000000000000000000000},"id":"a"},"verdict":"allowed","wall":1700000001.125,"call":"a","status":"finished","outcome":"ok"}');
INSERT INTO "record" VALUES(4294967299,'1 b',NULL,'{"index":3,"event":{"event":"called","label":"pay","id":"b","raw":"{\"n\": 2e999}"},"verdict":"allowed","wall":1700000001.125,"call":"b","status":"open","args":{"n":2E+999},"open":1}');
INSERT INTO "record" VALUES(4294967300,'1 b',NULL,'{"index":4,"event":{"event":"failed","id":"b","error":"cut"},"verdict":"allowed","wall":1700000001.125,"call":"b","status":"uncertain","open":1,"uncertain":1}');
INSERT INTO "record" VALUES(4294967301,NULL,NULL,'{"index":5,"event":{"event":"called","label":"pay","payload":{"n":2E+999},"id":"c"},"verdict":"needs_approval","wall":1700000001.125,"reasons":[{"rule":"call","kind":"uncertain","message":"an equal call of `pay` (`b`) may or may not have happened","got":"!pay","expected":[],"help":"a person must settle it as done or as failed","span":null,"follow_on":false,"untimed":false,"possible":false,"severity":"error"}],"ticket":"t-c","open":1,"uncertain":1}');
INSERT INTO "record" VALUES(4294967302,'1 b',NULL,'{"index":6,"event":{"event":"ordered","order":"settle","for":"b","by":"ana","payload":{"as":"done","result":{"ok":true}}},"verdict":"allowed","wall":1700000001.125,"call":"b","status":"finished","outcome":"ok"}');
INSERT INTO "record" VALUES(4294967303,NULL,NULL,'{"index":7,"event":{"event":"closed","at":9.25},"verdict":"allowed","wall":1700000001.125,"over":"closed"}');
INSERT INTO "record" VALUES(8589934592,NULL,NULL,'{"index":0,"event":{"event":"called","label":"pay","id":"c0"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934593,NULL,NULL,'{"index":1,"event":{"event":"called","label":"pay","payload":{},"id":"c1"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934594,NULL,NULL,'{"index":2,"event":{"event":"called","label":"pay","payload":{"amount":0.10,"exact":1E+999,"small":-1E-999,"zero":-0.0},"id":"c2"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934595,NULL,NULL,'{"index":3,"event":{"event":"called","label":"pay","payload":{"float":0.1,"tiny":5e-324,"large":1.7976931348623157e308,"minus":-0.0},"id":"c3"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934596,NULL,NULL,'{"index":4,"event":{"event":"called","label":"pay","payload":{"emoji":"🧾👩‍👩‍👧‍👦","nul":"a\u0000b","lines":" \r\n\t","quote":"\"''\\`$(rm)","rtl":"‮abc"},"id":"c5"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934597,NULL,NULL,'{"index":5,"event":{"event":"called","label":"pay","payload":{"":""," ":null,"event":"called","ключ":[true,false,null,1,"1",[],{}]},"id":"c6"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934598,NULL,NULL,'{"index":6,"event":{"event":"called","label":"pay","payload":{"deep":{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"in":[{"end":true}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}]}},"id":"c7"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934599,NULL,NULL,'{"index":7,"event":{"event":"called","label":"pay","payload":{"n":1},"id":"c","at":12.1,"run":"r","turn":"t","agent":"a","session":"s","batch":"b","key":"k","parent":"p","server":"s","executed_by":"host","answers":{"limit":true,"risk":"timeout"},"found":{"status":"finished","label":"pay","payload":{"n":1.50},"result":{"ok":true},"outcome":"ok","id":"c0"}},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934600,NULL,NULL,'{"index":8,"event":{"event":"called","label":"pay","raw":"{\"n\": 1,"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934601,NULL,NULL,'{"index":9,"event":{"event":"sent","label":null,"payload":{"text":"…"},"at":12.1,"run":"r","turn":"t","agent":"a","session":"s","batch":"b"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934602,NULL,NULL,'{"index":10,"event":{"event":"sent","label":"Bye"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934603,NULL,NULL,'{"index":11,"event":{"event":"returned","label":"pay","payload":{"ok":1.0},"id":"c","outcome":"denied","server":"s","executed_by":"h","found":{"status":"finished","label":"pay","payload":{"n":1.50},"result":{"ok":true},"outcome":"ok","id":"c0"}},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934604,NULL,NULL,'{"index":12,"event":{"event":"returned","label":"pay","id":"c","at":12.1,"run":"r","turn":"t","agent":"a","session":"s"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934605,NULL,NULL,'{"index":13,"event":{"event":"failed","id":"c","effect":"none","error":"cut","at":12.1,"run":"r","turn":"t","agent":"a","session":"s"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934606,NULL,NULL,'{"index":14,"event":{"event":"failed","id":"c"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934607,NULL,NULL,'{"index":15,"event":{"event":"received","label":null,"payload":{"text":"?"},"at":12.1,"run":"r","turn":"t","agent":"a","session":"s"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934608,NULL,NULL,'{"index":16,"event":{"event":"received","label":"Yes","payload":{"text":"yes 👍"}},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934609,NULL,NULL,'{"index":17,"event":{"event":"decided","decision":"edit","for":"c","ticket":"t","by":"ana","payload":{"n":2},"reason":"too much","at":12.1,"run":"r","turn":"t","agent":"a","session":"s"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934610,NULL,NULL,'{"index":18,"event":{"event":"ordered","order":"settle","for":"c","by":"ana","scope":{"tools":["pay"]},"payload":{"as":"done","result":1},"at":12.1,"run":"r","turn":"t","agent":"a","session":"s"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934611,NULL,NULL,'{"index":19,"event":{"event":"charged","usage":{"tokens":5,"usd":0.0031},"id":"c","at":12.1,"run":"r","turn":"t","agent":"a","session":"s"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934612,NULL,NULL,'{"index":20,"event":{"event":"opened","session":"s2","parent":"c","budget":{"calls":3},"at":"2024-05-01T12:00:00Z","run":"r"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934613,NULL,NULL,'{"index":21,"event":{"event":"listed","server":"fs","tools":{"read_file":"sha256:00"},"at":12.1,"run":"r","turn":"t","agent":"a","session":"s"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934614,NULL,NULL,'{"index":22,"event":{"event":"elapsed","at":1000000000.1},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934615,NULL,NULL,'{"index":23,"event":{"event":"elapsed","at":"2024-05-01T12:00:00+02:00"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934616,NULL,NULL,'{"index":24,"event":{"event":"closed"},"verdict":"allowed","wall":1700000001.125}');
INSERT INTO "record" VALUES(8589934617,NULL,NULL,'{"index":25,"event":{"event":"closed","at":12.1,"run":"r","turn":"t","agent":"a","session":"s"},"verdict":"allowed","wall":1700000001.125}');
CREATE TABLE session (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
        contract TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, created REAL NOT NULL
    );
INSERT INTO "session" VALUES(1,'run','kit','','sha256:6e307fff83ffffa3bbd712a712696ee446cb4df3f297c8ce909e9619ee561e0b',1700000001.125);
INSERT INTO "session" VALUES(2,'every event','kit','1','sha256:00',1700000000.25);
CREATE TABLE snapshot (number INTEGER PRIMARY KEY, length INTEGER NOT NULL, text TEXT NOT NULL);
INSERT INTO "snapshot" VALUES(1,3,'{"duly":1,"contract":"kit","digest":"sha256:6e307fff83ffffa3bbd712a712696ee446cb4df3f297c8ce909e9619ee561e0b","cursors":[],"facts":"1","data":[0],"registers":"{}","at":2.5,"more":{},"sum":"8f6ff715b43c9eff0f4f7046d7400e2f"}');
CREATE INDEX record_call ON record (call) WHERE call IS NOT NULL;
CREATE INDEX record_key ON record (key) WHERE key IS NOT NULL;
CREATE VIEW history AS
        SELECT session.id AS session, place & 4294967295 AS "index", text
        FROM record JOIN session ON session.number = place >> 32;
COMMIT;
PRAGMA application_id = 1685417081;
PRAGMA user_version = 1;
