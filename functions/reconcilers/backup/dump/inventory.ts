import type { Session } from './session.ts'
import { userObjects } from './objects.ts'

/**
 * What a dump cannot hold. Everything that a user can make in a database is dumped, refused or named here: nothing is
 * skipped in silence.
 */
export interface Inventory {
  /** Objects without which the restored database would be another: our script cannot be the dump. */
  readonly unsupported: readonly string[]
  /** Settings around the objects that our script has not got: the dump says so. */
  readonly leftOut: readonly string[]
  /** The same of a dump that `pg_dump` makes: less. */
  readonly leftOutByPgDump: readonly string[]
}

export async function takeInventory(session: Session): Promise<Inventory> {
  const unsupported = await session.query<{ what: string }>(unsupportedQuery)
  const counted = await session.query<{ what: string; count: string }>(leftOutQuery)
  const leftOut = counted.filter(({ count }) => count !== '0')
  const inWords = (rows: typeof counted) => rows.map(({ what, count }) => `${what}: ${count}`)
  return {
    unsupported: unsupported.map(({ what }) => what),
    leftOut: inWords(leftOut),
    leftOutByPgDump: inWords(leftOut.filter(({ what }) => leftOutByPgDump.has(what))),
  }
}

/** What its options leave out, as our script does: whose all this is, and what is not of this database alone. */
const leftOutByPgDump: ReadonlySet<string> = new Set([
  'objects with granted privileges',
  'objects with an owner other than the database',
  'default privileges',
  'publications',
  'subscriptions',
  'security labels',
  'settings of the database',
  'tablespaces',
])

// From 16384 on the object was made by a user, or by an extension.
const queryUserMade = (catalog: string, where = 'true'): string =>
  `SELECT '${catalog}'::regclass AS catalog, oid FROM ${catalog} WHERE oid >= 16384 AND ${where}`

/**
 * Comments of users, to be narrowed with AND: `d` is the comment, `i` what it is about. That of an extension comes with
 * it.
 */
export const commentedObjects = `pg_description d, LATERAL pg_identify_object(d.classoid, d.objoid, d.objsubid) i
     WHERE d.objoid >= 16384 AND coalesce(i.schema, '') !~ '^pg_'
       AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = d.classoid AND e.objid = d.objoid AND e.deptype = 'e')`

/** What a dump says COMMENT ON for, as pg_identify_object names it. */
export const commentTypes = `'schema', 'table', 'view', 'materialized view', 'sequence', 'index', 'type', 'function', 'procedure', 'trigger', 'rule', 'policy',
    'table constraint', 'table column', 'view column', 'materialized view column', 'composite type column'`

const unsupportedQuery = `
  WITH ${userObjects}, found AS (
    SELECT 'pg_class'::regclass AS catalog, oid FROM relations
     WHERE relkind = 'f' OR reloftype <> 0 OR (relkind = 'r'
       AND ((NOT relispartition AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = relations.oid))
        OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = relations.oid)))
    -- The hash of an enum's value is another in each database: the rows would be in the wrong partitions.
    UNION ALL SELECT 'pg_partitioned_table'::regclass, p.partrelid FROM pg_partitioned_table p JOIN relations r ON r.oid = p.partrelid
     WHERE p.partstrat = 'h' AND EXISTS (SELECT FROM unnest(p.partclass) k (oid) JOIN pg_opclass c ON c.oid = k.oid WHERE c.opcname = 'enum_ops')
    UNION ALL ${queryUserMade('pg_type', `typtype IN ('b', 'r', 'p') AND typelem = 0`)}
    UNION ALL ${queryUserMade('pg_proc', `prokind = 'a'`)}
    UNION ALL ${queryUserMade('pg_constraint', `contype IN ('c', 'n') AND NOT convalidated AND (contypid <> 0 OR contype = 'n')`)}
    UNION ALL ${[
      'pg_operator',
      'pg_opclass',
      'pg_opfamily',
      'pg_cast',
      'pg_conversion',
      'pg_collation',
      'pg_ts_config',
      'pg_ts_dict',
      'pg_ts_parser',
      'pg_ts_template',
      'pg_event_trigger',
      'pg_foreign_data_wrapper',
      'pg_foreign_server',
      'pg_transform',
      'pg_am',
      'pg_language',
    ]
      .map((catalog) => queryUserMade(catalog))
      .join(' UNION ALL ')}
    UNION ALL SELECT 'pg_extension'::regclass, oid FROM pg_extension WHERE extconfig IS NOT NULL
  )
  SELECT CASE f.catalog::text WHEN 'pg_extension' THEN pg_describe_object(f.catalog, f.oid, 0) || ' with tables of configuration'
              WHEN 'pg_partitioned_table' THEN pg_describe_object('pg_class'::regclass, f.oid, 0) || ', whose rows are parted by the hash of an enum'
              WHEN 'pg_class' THEN 'inheriting, typed or foreign ' || pg_describe_object(f.catalog, f.oid, 0)
              ELSE pg_describe_object(f.catalog, f.oid, 0) END AS what
    FROM found f
   WHERE NOT EXISTS (SELECT FROM members m WHERE m.classid = f.catalog AND m.objid = f.oid)
  -- There may be millions, and who makes one may choose any number for it.
  UNION ALL SELECT CASE count(*) WHEN 1 THEN 'large object ' || min(oid) ELSE count(*) || ' large objects' END
    FROM pg_largeobject_metadata HAVING count(*) > 0
   ORDER BY 1`

// Privileges that came with the system or with an extension are in pg_init_privs.
const grantQuery = (catalog: string, acl: string): string =>
  `SELECT FROM ${catalog} o WHERE o.${acl} IS NOT NULL AND NOT EXISTS (SELECT FROM pg_init_privs p
     WHERE p.classoid = '${catalog}'::regclass AND p.objoid = o.oid AND p.objsubid = 0 AND p.initprivs = o.${acl})
       AND NOT EXISTS (SELECT FROM members m WHERE m.classid = '${catalog}'::regclass AND m.objid = o.oid)
       AND NOT EXISTS (SELECT FROM pg_identify_object('${catalog}'::regclass, o.oid, 0) i
                        WHERE 'information_schema' IN (i.schema, i.identity))`

const owners = `(SELECT datdba FROM pg_database WHERE datname = current_database())`

const leftOutQuery = `
  WITH ${userObjects}
  SELECT 'objects with granted privileges' AS what, (SELECT count(*) FROM (
      ${grantQuery('pg_class', 'relacl')} UNION ALL ${grantQuery('pg_proc', 'proacl')} UNION ALL ${grantQuery('pg_type', 'typacl')}
      UNION ALL ${grantQuery('pg_namespace', 'nspacl')}
      UNION ALL SELECT FROM pg_attribute a JOIN relations r ON r.oid = a.attrelid WHERE a.attacl IS NOT NULL) x)::text AS count
  UNION ALL SELECT 'objects with an owner other than the database', (SELECT count(*) FROM (
      SELECT FROM relations WHERE relowner <> ${owners} AND relkind IN ('r', 'v', 'm', 'S')
      UNION ALL SELECT FROM pg_proc p JOIN used u ON u.oid = p.pronamespace WHERE p.proowner <> ${owners}
         AND NOT EXISTS (SELECT FROM members m WHERE m.classid = 'pg_proc'::regclass AND m.objid = p.oid)) x)::text
  UNION ALL SELECT 'default privileges', (SELECT count(*) FROM pg_default_acl)::text
  UNION ALL SELECT 'extended statistics', (SELECT count(*) FROM pg_statistic_ext)::text
  UNION ALL SELECT 'publications', (SELECT count(*) FROM pg_publication)::text
  UNION ALL SELECT 'subscriptions', (SELECT count(*) FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
                                      WHERE d.datname = current_database())::text
  UNION ALL SELECT 'security labels', (SELECT count(*) FROM pg_seclabel)::text
  UNION ALL SELECT 'settings of the database', (SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
                                                 WHERE d.datname = current_database())::text
  UNION ALL SELECT 'tablespaces', (SELECT count(*) FROM relations WHERE reltablespace <> 0)::text
  UNION ALL SELECT 'access methods of tables', (SELECT count(*) FROM relations r JOIN pg_am m ON m.oid = r.relam
                                                 WHERE r.relkind IN ('r', 'm') AND m.amname <> 'heap')::text
  UNION ALL SELECT 'replica identities', (SELECT count(*) FROM relations WHERE relkind IN ('r', 'p') AND relreplident <> 'd')::text
  UNION ALL SELECT 'clustered indexes', (SELECT count(*) FROM pg_index x JOIN relations r ON r.oid = x.indrelid WHERE x.indisclustered)::text
  UNION ALL SELECT 'invalid indexes', (SELECT count(*) FROM pg_index x JOIN relations r ON r.oid = x.indrelid WHERE NOT x.indisvalid)::text
  UNION ALL SELECT 'storage settings of columns', (SELECT count(*) FROM pg_attribute a JOIN relations r ON r.oid = a.attrelid
      JOIN pg_type t ON t.oid = a.atttypid
     WHERE a.attnum > 0 AND NOT a.attisdropped AND (coalesce(a.attstattarget, -1) >= 0 OR r.relkind IN ('r', 'm', 'p')
       AND (a.attstorage <> t.typstorage OR a.attcompression <> '' OR a.attoptions IS NOT NULL)))::text
  UNION ALL SELECT 'storage settings of large values', (SELECT count(*) FROM relations r JOIN pg_class t ON t.oid = r.reltoastrelid
                                                         WHERE t.reloptions IS NOT NULL)::text
  UNION ALL SELECT 'comments on ' || i.type || 's', count(*)::text
      FROM ${commentedObjects} AND i.type NOT IN (${commentTypes}, 'extension')
     GROUP BY i.type
  -- Each comes with a comment, which somebody may have changed.
  UNION ALL SELECT 'comments on extensions', (SELECT count(*) FROM pg_extension e LEFT JOIN pg_available_extensions v ON v.name = e.extname
      WHERE e.oid >= 16384 AND obj_description(e.oid, 'pg_extension') IS DISTINCT FROM v.comment)::text
  ORDER BY 1`
