import type { Session } from './session.ts'
import type { Edge, DumpNode } from './order.ts'

/** What is dumped of a database, as statements that make it again; read from the catalogs in one snapshot. */
export interface DatabaseObject extends DumpNode {
  /** Beside its statement, what it holds: rows of a table, the position of a sequence. */
  readonly kind: 'statement' | 'rows' | 'position' | 'materialized view'
  /** What holds it, as SQL writes it, with the columns for COPY; empty for a statement alone. */
  readonly name: string
}

/** All objects that are dumped, in no order. */
export async function readObjects(session: Session): Promise<readonly DatabaseObject[]> {
  return session.query<DatabaseObject>(`WITH ${userObjects} ${objectQueries.join('\nUNION ALL\n')}`)
}

/** Who needs whom, by the ids of `readObjects`. */
export async function readDependencies(session: Session): Promise<readonly Edge[]> {
  return session.query<Edge & Record<string, unknown>>(dependencyQuery)
}

/** `used`: schemas of users. `members`: what belongs to an extension, and comes with it. */
export const userObjects = `
  members AS MATERIALIZED (SELECT classid, objid FROM pg_depend WHERE deptype = 'e'),
  used AS MATERIALIZED (SELECT oid, nspname FROM pg_namespace
            WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
  relations AS MATERIALIZED (SELECT c.*, format('%I.%I', u.nspname, c.relname) AS qname
                  FROM pg_class c JOIN used u ON u.oid = c.relnamespace
                 WHERE NOT EXISTS (SELECT FROM members m WHERE m.classid = 'pg_class'::regclass AND m.objid = c.oid)),
  identities AS MATERIALIZED (SELECT d.objid AS seqid, d.refobjid AS relid, d.refobjsubid AS attnum
                   FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
                    AND d.deptype = 'i' AND d.refobjsubid > 0)`

const options = `CASE WHEN c.reloptions IS NULL THEN '' ELSE format(' WITH (%s)', array_to_string(c.reloptions, ', ')) END`

const collation = (own: string, usual: string): string =>
  `CASE WHEN ${own} = 0 OR ${own} = ${usual} THEN '' ELSE ' COLLATE ' || ${own}::regcollation::text END`

const sequence = `format('START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s', s.seqstart, s.seqincrement, s.seqmin,
    s.seqmax, s.seqcache, CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END)`

// A partition has that of its table, and gets it when it is attached.
const identity = `coalesce((
    SELECT format(' GENERATED %s AS IDENTITY (SEQUENCE NAME %s %s)',
                  CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, q.qname, ${sequence})
      FROM identities i JOIN relations q ON q.oid = i.seqid JOIN pg_sequence s ON s.seqrelid = i.seqid
     WHERE a.attidentity <> '' AND i.relid = a.attrelid AND i.attnum = a.attnum), '')`

const generated = `CASE WHEN a.attgenerated = '' THEN '' ELSE (
    SELECT format(' GENERATED ALWAYS AS (%s) %s', pg_get_expr(f.adbin, f.adrelid),
                  CASE a.attgenerated WHEN 's' THEN 'STORED' ELSE 'VIRTUAL' END)
      FROM pg_attrdef f WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum) END`

// From PostgreSQL 18 on it is a constraint with a name.
const notNull = `CASE WHEN NOT a.attnotnull THEN '' ELSE coalesce((
    SELECT format(' CONSTRAINT %I NOT NULL%s', n.conname, CASE WHEN n.connoinherit THEN ' NO INHERIT' ELSE '' END)
      FROM pg_constraint n WHERE n.conrelid = a.attrelid AND n.contype = 'n' AND n.conkey = ARRAY[a.attnum]), ' NOT NULL') END`

const columns = (more: string): string => `(
    SELECT string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
             || ${collation('a.attcollation', 't.typcollation')}${more}, ', ' ORDER BY a.attnum)
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)`

const member = (catalog: string, oid: string): string =>
  `EXISTS (SELECT FROM members m WHERE m.classid = '${catalog}'::regclass AND m.objid = ${oid})`

const persistence = `CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END`

// The server compares no indexes that exclude, so none can be joined: it makes those of a partition when that is
// attached.
const comesWithTable = 'k.conparentid <> 0 AND k.conexclop IS NOT NULL'

const constraint = `format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s', c.qname, k.conname, pg_get_constraintdef(k.oid))`

const objectQueries: readonly string[] = [
  `SELECT 'pg_namespace:' || u.oid AS id, 0 AS rank, 'statement' AS kind, '' AS name, format('CREATE SCHEMA %I', u.nspname) AS text
     FROM used u WHERE u.nspname <> 'public' AND NOT ${member('pg_namespace', 'u.oid')}`,

  `SELECT 'pg_extension:' || e.oid, 1, 'statement', '', format('CREATE EXTENSION IF NOT EXISTS %I%s', e.extname,
          CASE WHEN ${member('pg_namespace', 'n.oid')} THEN '' ELSE format(' SCHEMA %I', n.nspname) END)
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname <> 'plpgsql'`,

  // Types: enums, domains, composites.
  `SELECT 'pg_type:' || t.oid, 2, 'statement', '', format('CREATE TYPE %I.%I AS ENUM (%s)', u.nspname, t.typname, coalesce((
          SELECT string_agg(quote_literal(l.enumlabel), ', ' ORDER BY l.enumsortorder)
            FROM pg_enum l WHERE l.enumtypid = t.oid), ''))
     FROM pg_type t JOIN used u ON u.oid = t.typnamespace
    WHERE t.typtype = 'e' AND NOT ${member('pg_type', 't.oid')}`,
  `SELECT 'pg_type:' || t.oid, 2, 'statement', '', format('CREATE DOMAIN %I.%I AS %s%s%s%s%s', u.nspname, t.typname,
          format_type(t.typbasetype, t.typtypmod), ${collation('t.typcollation', 'b.typcollation')},
          ' DEFAULT ' || pg_get_expr(t.typdefaultbin, 0), CASE WHEN t.typnotnull THEN ' NOT NULL' ELSE '' END,
          (SELECT string_agg(format(' CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid)), '' ORDER BY k.conname)
             FROM pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c'))
     FROM pg_type t JOIN used u ON u.oid = t.typnamespace JOIN pg_type b ON b.oid = t.typbasetype
    WHERE t.typtype = 'd' AND NOT ${member('pg_type', 't.oid')}`,
  `SELECT 'pg_class:' || c.oid, 2, 'statement', '', format('CREATE TYPE %s AS (%s)', c.qname, ${columns('')})
     FROM relations c WHERE c.relkind = 'c'`,

  `SELECT 'pg_proc:' || p.oid, 3, 'statement', '', pg_get_functiondef(p.oid)
     FROM pg_proc p JOIN used u ON u.oid = p.pronamespace
    WHERE p.prokind IN ('f', 'p', 'w') AND NOT ${member('pg_proc', 'p.oid')}`,

  `SELECT 'pg_class:' || c.oid, 4, 'statement', '', format('CREATE %sSEQUENCE %s AS %s %s', ${persistence}, c.qname,
          format_type(s.seqtypid, NULL), ${sequence})
     FROM relations c JOIN pg_sequence s ON s.seqrelid = c.oid
    WHERE NOT EXISTS (SELECT FROM identities i WHERE i.seqid = c.oid)`,
  `SELECT 'owned by:' || c.oid, 10, 'statement', '', format('ALTER SEQUENCE %s OWNED BY %s.%I', c.qname, o.qname, a.attname)
     FROM relations c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'a'
      AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0
     JOIN relations o ON o.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum = d.refobjsubid
    WHERE c.relkind = 'S'`,

  // A default is a statement of its own, so that it may need a sequence that its own column owns.
  `SELECT 'pg_class:' || c.oid, 5, 'statement', '', format('CREATE %sTABLE %s (%s)%s%s', ${persistence}, c.qname,
          ${columns(` || ${identity} || ${generated} || ${notNull}`)}, ' PARTITION BY ' || pg_get_partkeydef(c.oid), ${options})
     FROM relations c WHERE c.relkind IN ('r', 'p')`,
  `SELECT 'pg_attrdef:' || f.oid, 6, 'statement', '', format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s', c.qname,
          a.attname, pg_get_expr(f.adbin, f.adrelid))
     FROM pg_attrdef f JOIN relations c ON c.oid = f.adrelid
     JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
    WHERE a.attgenerated = '' AND c.relkind IN ('r', 'p', 'v')`,
  `SELECT 'pg_class:' || c.oid, 7, 'statement', '', format('CREATE VIEW %s%s AS %s', c.qname, ${options}, rtrim(pg_get_viewdef(c.oid), ';'))
     FROM relations c WHERE c.relkind = 'v'`,
  `SELECT 'pg_class:' || c.oid, 7, 'materialized view', CASE WHEN c.relispopulated THEN c.qname ELSE '' END,
          format('CREATE MATERIALIZED VIEW %s%s AS %s WITH NO DATA', c.qname, ${options}, rtrim(pg_get_viewdef(c.oid), ';'))
     FROM relations c WHERE c.relkind = 'm'`,

  `SELECT 'rows:' || c.oid, 20, 'rows', c.qname || coalesce((
          SELECT ' (' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')' FROM pg_attribute a
           WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''), ''), c.qname
     FROM relations c WHERE c.relkind = 'r'`,
  `SELECT 'position:' || c.oid, 21, 'position', c.qname, c.qname
     FROM relations c WHERE c.relkind = 'S'`,

  `SELECT 'pg_constraint:' || k.oid, 30, 'statement', '', ${constraint}
     FROM pg_constraint k JOIN relations c ON c.oid = k.conrelid WHERE k.contype IN ('p', 'u', 'x', 'c') AND NOT (${comesWithTable})
      AND NOT EXISTS (SELECT FROM pg_index x WHERE x.indexrelid = k.conindid AND NOT x.indisvalid)`,
  `SELECT 'pg_class:' || i.oid, 31, 'statement', '', pg_get_indexdef(i.oid)
     FROM relations i JOIN pg_index x ON x.indexrelid = i.oid
    WHERE x.indisvalid AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.oid AND k.contype IN ('p', 'u', 'x'))`,
  // Partitions are tables of their own until here; then their tables and indexes are joined, which checks their rows.
  `SELECT 'attach:' || c.oid, 32, 'statement', '', format('ALTER TABLE ONLY %s ATTACH PARTITION %s %s', o.qname, c.qname,
          pg_get_expr(c.relpartbound, c.oid))
     FROM relations c JOIN pg_inherits h ON h.inhrelid = c.oid JOIN relations o ON o.oid = h.inhparent
    WHERE c.relispartition AND c.relkind IN ('r', 'p')`,
  `SELECT 'attach:' || c.oid, 33, 'statement', '', format('ALTER INDEX %s ATTACH PARTITION %s', o.qname, c.qname)
     FROM relations c JOIN pg_inherits h ON h.inhrelid = c.oid JOIN relations o ON o.oid = h.inhparent
     JOIN pg_index x ON x.indexrelid = o.oid AND x.indisvalid
    WHERE c.relkind IN ('i', 'I') AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid AND ${comesWithTable})`,
  // What a partition has from its table comes with it.
  `SELECT 'pg_constraint:' || k.oid, 34, 'statement', '', format('ALTER TABLE %s%s ADD CONSTRAINT %I %s',
          CASE c.relkind WHEN 'p' THEN '' ELSE 'ONLY ' END, c.qname, k.conname, pg_get_constraintdef(k.oid))
     FROM pg_constraint k JOIN relations c ON c.oid = k.conrelid WHERE k.contype = 'f' AND k.conparentid = 0`,
  `SELECT 'pg_trigger:' || t.oid, 35, 'statement', '', pg_get_triggerdef(t.oid)
     FROM pg_trigger t JOIN relations c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND t.tgparentid = 0`,
  // A partition has the triggers of its table, and whether they are on is its own.
  `SELECT 'trigger state:' || t.oid, 36, 'statement', '', format('ALTER TABLE ONLY %s %s TRIGGER %I', c.qname,
          CASE t.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END, t.tgname)
     FROM pg_trigger t JOIN relations c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND t.tgenabled <> 'O'`,
  `SELECT 'pg_rewrite:' || r.oid, 36, 'statement', '', rtrim(pg_get_ruledef(r.oid), ';')
          || CASE r.ev_enabled WHEN 'O' THEN '' ELSE format('; ALTER TABLE %s %s RULE %I', c.qname,
               CASE r.ev_enabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END, r.rulename) END
     FROM pg_rewrite r JOIN relations c ON c.oid = r.ev_class WHERE r.rulename <> '_RETURN'`,

  // Roles are not of the database: who restores a policy for one needs to have it.
  `SELECT 'pg_policy:' || p.oid, 37, 'statement', '', format('CREATE POLICY %I ON %s AS %s FOR %s TO %s%s%s', p.polname, c.qname,
          CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
          CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
          (SELECT string_agg(CASE o.role WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(o.role)) END, ', ' ORDER BY o.role)
             FROM unnest(p.polroles) o (role)),
          ' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')', ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
     FROM pg_policy p JOIN relations c ON c.oid = p.polrelid`,
  `SELECT 'row security:' || c.oid, 38, 'statement', '', concat_ws('; ',
          CASE WHEN c.relrowsecurity THEN format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', c.qname) END,
          CASE WHEN c.relforcerowsecurity THEN format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', c.qname) END)
     FROM relations c WHERE c.relrowsecurity OR c.relforcerowsecurity`,
]

/**
 * pg_depend between the statements above. `same`: what has no statement of its own is part of another's. What comes
 * after the rows needs the rows of every table that it needs.
 */
const dependencyQuery = `
  WITH same(catalog, oid, id) AS (
    SELECT 'pg_type'::regclass, t.oid, 'pg_class:' || t.typrelid FROM pg_type t WHERE t.typrelid <> 0
    UNION ALL SELECT 'pg_type'::regclass, t.oid, CASE WHEN e.typrelid = 0 THEN 'pg_type:' || e.oid ELSE 'pg_class:' || e.typrelid END
                FROM pg_type t JOIN pg_type e ON e.typarray = t.oid
    UNION ALL SELECT 'pg_rewrite'::regclass, r.oid, 'pg_class:' || r.ev_class FROM pg_rewrite r WHERE r.rulename = '_RETURN'
    UNION ALL SELECT 'pg_attrdef'::regclass, f.oid, 'pg_class:' || f.adrelid
                FROM pg_attrdef f JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum WHERE a.attgenerated <> ''
    UNION ALL SELECT 'pg_constraint'::regclass, k.oid, 'pg_type:' || k.contypid FROM pg_constraint k WHERE k.contypid <> 0
    UNION ALL SELECT 'pg_constraint'::regclass, k.oid, 'pg_class:' || k.conrelid FROM pg_constraint k WHERE k.contype = 'n'
    UNION ALL SELECT 'pg_class'::regclass, k.conindid, 'pg_constraint:' || k.oid
                FROM pg_constraint k WHERE k.conindid <> 0 AND k.contype IN ('p', 'u', 'x')
    UNION ALL SELECT 'pg_class'::regclass, d.objid, 'pg_class:' || d.refobjid FROM pg_depend d
               WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i' AND d.refobjsubid > 0
  ), edges AS (
    SELECT coalesce(f.id, d.classid::regclass || ':' || d.objid) AS "from",
           coalesce(t.id, d.refclassid::regclass || ':' || d.refobjid) AS "to", d.classid, d.objid
      FROM pg_depend d
      LEFT JOIN same f ON f.catalog = d.classid AND f.oid = d.objid
      LEFT JOIN same t ON t.catalog = d.refclassid AND t.oid = d.refobjid
     WHERE d.deptype <> 'e'
  )
  SELECT "from", "to" FROM edges WHERE "from" <> "to"
  UNION SELECT 'owned by:' || objid, 'pg_class:' || objid FROM edges WHERE classid = 'pg_class'::regclass
  UNION SELECT 'owned by:' || objid, "to" FROM edges WHERE classid = 'pg_class'::regclass
  UNION SELECT 'rows:' || oid, 'pg_class:' || oid FROM pg_class WHERE relkind = 'r'
  UNION SELECT 'attach:' || h.inhrelid, coalesce(f.id, 'pg_class:' || o.oid) FROM pg_inherits h
          CROSS JOIN LATERAL (VALUES (h.inhrelid), (h.inhparent)) o (oid)
          LEFT JOIN same f ON f.catalog = 'pg_class'::regclass AND f.oid = o.oid
  UNION SELECT 'position:' || c.oid, coalesce(f.id, 'pg_class:' || c.oid) FROM pg_class c
          LEFT JOIN same f ON f.catalog = 'pg_class'::regclass AND f.oid = c.oid WHERE c.relkind = 'S'
  UNION SELECT e."from", 'rows:' || substr(e."to", 10) FROM edges e
         WHERE e."to" LIKE 'pg_class:%' AND (e."from" ~ '^pg_(constraint|trigger|rewrite|policy):'
            OR (e.classid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_index x WHERE x.indexrelid = e.objid)))`
