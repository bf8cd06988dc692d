/** A database with one of each thing that a dump promises to hold, and with rows that are hard to carry. */
export const richSchema = `
  CREATE SCHEMA shop; CREATE SCHEMA "Odd ""name";
  CREATE EXTENSION pg_trgm SCHEMA public;
  CREATE TYPE shop.mood AS ENUM ('so so', 'it''s good', 'bad\\');
  CREATE DOMAIN shop.price AS numeric(10, 2) DEFAULT 0 CONSTRAINT not_negative CHECK (VALUE >= 0);
  CREATE TYPE shop.address AS (street text, zip varchar(10));
  CREATE SEQUENCE shop.ticket AS integer START WITH 7 INCREMENT BY 3 MAXVALUE 1000 CYCLE;
  CREATE FUNCTION shop.twice(n integer) RETURNS integer LANGUAGE sql IMMUTABLE RETURN n * 2;
  CREATE TABLE shop.customer (
    id bigint GENERATED ALWAYS AS IDENTITY (START WITH 100) PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    mood shop.mood DEFAULT 'so so',
    home shop.address,
    tags text[] NOT NULL DEFAULT '{}',
    doubled integer GENERATED ALWAYS AS (shop.twice(3)) STORED,
    seen timestamptz, born date, extra jsonb, raw bytea, ratio double precision
  ) WITH (fillfactor = 70);
  CREATE TABLE "Odd ""name"."Table; --" ("Column \\." text, n serial, price shop.price,
    customer bigint REFERENCES shop.customer ON DELETE CASCADE DEFERRABLE, UNIQUE (n), CHECK (n > 0) NOT VALID);
  CREATE UNLOGGED TABLE shop.empty ();
  CREATE TABLE shop.self (id int PRIMARY KEY, parent int CONSTRAINT up REFERENCES shop.self, ticket int DEFAULT nextval('shop.ticket'));
  CREATE INDEX by_name ON shop.customer USING gin (name public.gin_trgm_ops) WHERE id > 0;
  CREATE UNIQUE INDEX by_lower ON shop.customer (lower(name), id);
  CREATE VIEW shop.happy WITH (security_invoker = true) AS SELECT id, name FROM shop.customer WHERE mood = 'it''s good';
  CREATE VIEW shop.counted AS SELECT c.id, c.name, count(t.n) AS things
    FROM shop.customer c LEFT JOIN "Odd ""name"."Table; --" t ON t.customer = c.id GROUP BY c.id;
  CREATE MATERIALIZED VIEW shop.names AS SELECT name FROM shop.happy;
  CREATE MATERIALIZED VIEW shop.lengths AS SELECT length(name) AS n FROM shop.names;
  CREATE UNIQUE INDEX ON shop.names (name);
  CREATE FUNCTION shop.stamp() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN
      -- setpoint end sha256 0000
      NEW.seen := coalesce(NEW.seen, '2001-02-03 04:05:06+00');
      RETURN NEW;
    END $body$;
  CREATE TRIGGER stamp BEFORE INSERT ON shop.customer FOR EACH ROW EXECUTE FUNCTION shop.stamp();
  CREATE TRIGGER off BEFORE UPDATE ON shop.customer FOR EACH ROW EXECUTE FUNCTION shop.stamp();
  ALTER TABLE shop.customer DISABLE TRIGGER off;
  CREATE PROCEDURE shop.nothing() LANGUAGE plpgsql AS 'BEGIN END';
  COMMENT ON TABLE shop.customer IS 'who buys; it''s them';
  COMMENT ON COLUMN shop.customer.name IS 'as spoken';
  COMMENT ON FUNCTION shop.twice(integer) IS 'n and n';
  COMMENT ON CONSTRAINT up ON shop.self IS 'a tree';
  COMMENT ON TRIGGER stamp ON shop.customer IS 'first sight';
  COMMENT ON SCHEMA shop IS 'all of it';
  COMMENT ON TYPE shop.mood IS 'today';

  INSERT INTO shop.customer (name, mood, home, tags, born, extra, raw, ratio) VALUES
    ('Ann', 'it''s good', ('Main "St"', NULL), '{a,"b c",NULL}', '2000-02-29', '{"a": [1, null, "x\\n"]}', '\\x00ff5c2e0a', 0.1),
    (E'tab\\tline\\nback\\\\slash', 'bad\\', NULL, '{}', 'infinity', NULL, '', 'NaN'),
    (E'\\\\.', NULL, NULL, '{}', '0044-03-15 BC', 'null', NULL, 1e-300),
    ('', 'so so', NULL, '{}', NULL, NULL, NULL, '-Infinity'), ('žluťoučký 🐎', 'it''s good', NULL, '{}', NULL, NULL, NULL, 0);
  INSERT INTO "Odd ""name"."Table; --" ("Column \\.", price, customer) SELECT E'\\\\.', 1.5, 100 FROM generate_series(1, 3);
  INSERT INTO shop.empty DEFAULT VALUES; INSERT INTO shop.empty DEFAULT VALUES;
  INSERT INTO shop.self (id, parent) VALUES (1, 2), (2, 1), (3, NULL);
  REFRESH MATERIALIZED VIEW shop.names; REFRESH MATERIALIZED VIEW shop.lengths;
`
