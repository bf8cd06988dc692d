/** Roles, databases, extensions and grants on a real server: made, compared, healed, refused and dropped. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Server } from '../../../functions/reconcilers/postgres/server/home.ts'
import { type Endpoint, type Sql, withConnection } from '../../../functions/reconcilers/postgres/sql/connection.ts'
import { dropDatabase, ensureDatabase } from '../../../functions/reconcilers/postgres/sql/databases.ts'
import { ensureExtensions } from '../../../functions/reconcilers/postgres/sql/extensions.ts'
import { ensureAll } from '../../../functions/reconcilers/postgres/database-statements.ts'
import { closeServerDatabases, ensureGrants } from '../../../functions/reconcilers/postgres/sql/grants.ts'
import { dropRole, ensureRole } from '../../../functions/reconcilers/postgres/sql/roles.ts'
import { bringUp, deadline, openWorkbench, type Workbench } from './temporary-server.ts'

/** What a login may store of itself: its salt and its keys are of the right lengths, whatever its rounds. */
const verifierOfRounds = (count: number) => `SCRAM-SHA-256$${count}:c2FsdA==$${'A'.repeat(43)}=:${'A'.repeat(43)}=`

let bench: Workbench
let server: Server
let admin: Endpoint
/** One session of the superuser for the whole file: a new one for each statement would take most of the time. */
let session: Sql
let endSession: () => void
let serial = 0

/** Of the current test: an object, its role and its database. */
let name: string
let role: { name: string; uid: string; key: string; login: boolean; password: string; connectionLimit: number }
let database: { name: string; uid: string; key: string; owner: string; encoding: string; connectionLimit: number }

beforeAll(async () => {
  bench = await openWorkbench()
  server = bench.server('sql')
  admin = await bringUp(server, { log_statement: 'all', fsync: false })
  const ended = new Promise<void>((resolve) => (endSession = resolve))
  await new Promise<void>((resolve, reject) => {
    const use = (sql: Sql) => {
      session = sql
      resolve()
      return ended
    }
    withConnection(admin, new AbortController().signal, use).catch(reject)
  })
})

afterAll(async () => {
  endSession()
  await bench[Symbol.asyncDispose]()
})

beforeEach(() => {
  name = `app ${serial++}`
  const owned = { name, uid: `0f3c${serial}-uid`, key: `shop/${name}` }
  role = { ...owned, login: true, password: 's3cret', connectionLimit: 5 }
  database = { ...owned, owner: name, encoding: 'UTF8', connectionLimit: -1 }
})

function lend<T>(endpoint: Endpoint, use: (sql: Sql) => Promise<T>): Promise<T> {
  return endpoint === admin ? use(session) : withConnection(endpoint, deadline(), use)
}

const asAdmin = <T>(use: (sql: Sql) => Promise<T>) => lend(admin, use)
const query = (text: string, endpoint = admin) => lend(endpoint, (sql) => sql.query(text))
const roleNow = () => asAdmin((sql) => ensureRole(sql, role))
const databaseNow = () => asAdmin((sql) => ensureDatabase(sql, database))
const login = () => ({ ...admin, user: name, password: role.password, database: name })

async function names(catalogue: 'pg_roles' | 'pg_database'): Promise<readonly unknown[]> {
  const column = catalogue === 'pg_roles' ? 'rolname' : 'datname'
  return (await query(`SELECT ${column} AS name FROM ${catalogue}`)).map((row) => row['name'])
}

describe('a role', () => {
  it('is made once, and lets its password in', async () => {
    expect(await roleNow()).toEqual([`created role "${name}"`])
    expect(await roleNow()).toEqual([])
    expect(await query('SELECT current_user AS me', { ...login(), database: 'postgres' })).toEqual([{ me: name }])
  })

  const drifts = [
    { sql: 'DROP ROLE "NAME"', change: 'created role "NAME"' },
    { sql: `ALTER ROLE "NAME" PASSWORD 'other'`, change: 'changed role "NAME": password' },
    { sql: 'ALTER ROLE "NAME" PASSWORD NULL', change: 'changed role "NAME": password' },
    { sql: `ALTER ROLE "NAME" PASSWORD '${verifierOfRounds(2 ** 32 + 1)}'`, change: 'changed role "NAME": password' },
    { sql: 'ALTER ROLE "NAME" NOLOGIN', change: 'changed role "NAME": login' },
    { sql: 'ALTER ROLE "NAME" SUPERUSER CREATEDB', change: 'changed role "NAME": powers' },
    { sql: `ALTER ROLE "NAME" VALID UNTIL '2001-01-01'`, change: 'changed role "NAME": expiry' },
    {
      sql: 'ALTER ROLE "NAME" CONNECTION LIMIT 0 NOINHERIT',
      change: 'changed role "NAME": connection limit, inheritance',
    },
  ]

  it.each(drifts)('is put back after $sql', async ({ sql, change }) => {
    await roleNow()
    await query(sql.replace('NAME', name))
    expect(await roleNow()).toEqual([change.replace('NAME', name)])
    expect(await roleNow()).toEqual([])
    expect(await query('SELECT 1 AS one', { ...login(), database: 'postgres' })).toEqual([{ one: 1 }])
  })

  it('gets a new password when it is rotated, and none that the log repeats', async () => {
    await roleNow()
    role.password = 'rotated-and-unheard-of'
    expect(await roleNow()).toEqual([`changed role "${name}": password`])
    const log = await readFile(join(server.directory, 'server.log'), 'utf8')
    expect(log).toContain(`ALTER ROLE "${name}" PASSWORD 'SCRAM-SHA-256$`)
    expect(log).not.toContain(role.password)
  })

  it('of somebody else is neither changed nor dropped', async () => {
    await query(`CREATE ROLE "${name}" NOLOGIN`)
    const conflict = { kind: 'conflict', reason: 'AlreadyExists' }
    await expect(roleNow()).rejects.toMatchObject({
      ...conflict,
      message: `role "${name}" exists and was not made by Setpoint`,
    })
    await query(`COMMENT ON ROLE "${name}" IS 'setpoint:another'`)
    await expect(roleNow()).rejects.toMatchObject({
      ...conflict,
      message: `role "${name}" exists and belongs to another object`,
    })
    expect(await dropRole(admin, role, deadline())).toEqual([])
    expect(await names('pg_roles')).toContain(name)
  })

  it('goes with its sessions, and leaves its tables in a database that stays to a role that nobody can be', async () => {
    await roleNow()
    await databaseNow()
    await query('CREATE TABLE public.kept (id int)', login())
    await query(`CREATE DATABASE "other of ${name}" OWNER "${name}"`)
    const sleeper = query('SELECT pg_sleep(60)', login())
    const ended = sleeper.catch((error: unknown) => error)
    await expect
      .poll(() => query(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = '${name}'`))
      .toEqual([{ n: 1 }])

    expect(await dropRole(admin, role, deadline())).toEqual([`dropped role "${name}"`])
    expect(await ended).toMatchObject({ kind: 'retryable' })
    expect(await dropRole(admin, role, deadline())).toEqual([])
    const owner = await query(`SELECT tableowner FROM pg_tables WHERE tablename = 'kept'`, {
      ...admin,
      database: name,
    })
    expect(owner).toEqual([{ tableowner: 'setpoint left behind' }])
    const heir = `SELECT rolcanlogin OR rolsuper AS mighty FROM pg_roles WHERE rolname = 'setpoint left behind'`
    expect(await query(heir)).toEqual([{ mighty: false }])
  })

  it('leaves no function behind that lends everybody the rights of a superuser', async () => {
    await roleNow()
    const stays = { ...login(), database: `stays ${name}` }
    await query(`CREATE DATABASE "${stays.database}"`)
    await query(`GRANT CREATE ON DATABASE "${stays.database}" TO "${name}"`)
    await query('CREATE SCHEMA trap', stays)
    await query(`CREATE FUNCTION trap.me() RETURNS text SECURITY DEFINER RETURN current_user`, stays)
    expect(await dropRole(admin, role, deadline())).toEqual([`dropped role "${name}"`])
    const [me] = await query('SELECT trap.me()', { ...admin, database: stays.database })
    expect(me).toEqual({ me: 'setpoint left behind' })
  })

  it('that an object left behind waits for the next one of its key, and for no other', async () => {
    await roleNow()
    role.uid = 'a-new-uid'
    await expect(asAdmin((sql) => ensureRole(sql, { ...role, key: 'shop/other' }))).rejects.toMatchObject({
      kind: 'conflict',
    })
    expect(await dropRole(admin, role, deadline())).toEqual([])
    expect(await roleNow()).toEqual([])
    expect(await dropRole(admin, role, deadline())).toEqual([`dropped role "${name}"`])
  })

  const unfit = [
    { change: { name: '' }, reason: 'InvalidName', because: 'it has no name' },
    { change: { name: 'é'.repeat(32) }, reason: 'InvalidName', because: 'PostgreSQL would cut 64 bytes to 63' },
    { change: { name: 'pg_mine' }, reason: 'InvalidName', because: 'PostgreSQL keeps such names to itself' },
    { change: { password: 'naïve' }, reason: 'InvalidPassword', because: 'it would need to be normalised' },
  ]

  it.each(unfit)('is refused for good: $because', async ({ change, reason }) => {
    const refused = asAdmin((sql) => ensureRole(sql, { ...role, ...change }))
    await expect(refused).rejects.toMatchObject({ kind: 'terminal', reason })
  })
})

describe('an administrator who is no superuser, as on RDS', () => {
  const master = (): Endpoint => ({ ...admin, user: 'master', password: 'm4ster' })
  const asMaster = <T>(use: (sql: Sql) => Promise<T>) => withConnection(master(), deadline(), use)
  const roleByMaster = () => asMaster((sql) => ensureRole(sql, role))

  beforeAll(async () => {
    await query(`CREATE ROLE master LOGIN CREATEDB CREATEROLE PASSWORD 'm4ster'`)
    // That of the tests above, which a superuser made.
    const renamed = 'ALTER ROLE "setpoint left behind" RENAME TO "left behind before"'
    await query(`DO $$ BEGIN ${renamed}; EXCEPTION WHEN undefined_object THEN NULL; END $$`)
  })

  it('makes a role and its database, and all that belongs to it', async () => {
    expect(await roleByMaster()).toEqual([`created role "${name}"`])
    expect(await asMaster((sql) => ensureDatabase(sql, database))).toEqual([`created database "${name}"`])
    const inside = <T>(use: (sql: Sql) => Promise<T>) =>
      withConnection({ ...master(), database: name }, deadline(), use)
    expect(await inside((sql) => ensureExtensions(sql, [{ name: 'pg_trgm' }]))).toHaveLength(1)
    expect(await inside((sql) => ensureGrants(sql, []))).toHaveLength(2)
    await query('CREATE TABLE public.mine (id int)', login())
    for (const again of [roleByMaster(), asMaster((sql) => ensureDatabase(sql, database))])
      expect(await again).toEqual([])
  })

  it('puts a password back that was changed, though nobody shows it', async () => {
    await roleByMaster()
    await query(`ALTER ROLE "${name}" PASSWORD 'other'`)
    expect(await roleByMaster()).toEqual([`changed role "${name}": password`])
    expect(await roleByMaster()).toEqual([])
    await query(`ALTER ROLE "${name}" PASSWORD '${verifierOfRounds(100_001)}'`)
    expect(await roleByMaster()).toEqual([`changed role "${name}": password`])
    await query(`ALTER ROLE "${name}" CONNECTION LIMIT 0`)
    role.connectionLimit = 0
    expect(await roleByMaster()).toEqual([])
  })

  it('takes powers away, though it may not even say that somebody is no superuser', async () => {
    await roleByMaster()
    await query(`ALTER ROLE "${name}" CREATEDB`)
    expect(await roleByMaster()).toEqual([`changed role "${name}": powers`])
    expect(await roleByMaster()).toEqual([])
  })

  it('drops both, whatever they hold', async () => {
    await roleByMaster()
    await asMaster((sql) => ensureDatabase(sql, database))
    await asMaster((sql) => sql.query(`CREATE DATABASE "kept of ${name}" OWNER "${name}"`))
    await query('CREATE TABLE public.kept (id int)', { ...login(), database: `kept of ${name}` })
    expect(await asMaster((sql) => dropDatabase(sql, database))).toEqual([`dropped database "${name}"`])
    expect(await dropRole(master(), role, deadline())).toEqual([`dropped role "${name}"`])
  })
})

describe('a role and its database', () => {
  beforeEach(async () => {
    await roleNow()
    await databaseNow()
  })

  const declareAs = (other: string) => {
    role.name = other
    database = { ...database, name: other, owner: other }
  }

  it('are renamed when they are declared by another name, and keep what they hold', async () => {
    await query('CREATE TABLE public.kept (id int)', login())
    const before = name
    name = `new ${before}`
    declareAs(name)
    expect(await roleNow()).toEqual([`renamed role "${before}" to "${name}"`])
    expect(await databaseNow()).toEqual([`renamed database "${before}" to "${name}"`])
    expect([...(await roleNow()), ...(await databaseNow())]).toEqual([])
    expect(await query('SELECT count(*)::int AS n FROM public.kept', login())).toEqual([{ n: 0 }])
  })

  it('are renamed back, and wait for who is connected', async () => {
    await query(`ALTER DATABASE "${name}" RENAME TO "by hand ${name}"`)
    await query(`ALTER ROLE "${name}" RENAME TO "by hand ${name}"`)
    expect(await roleNow()).toEqual([`renamed role "by hand ${name}" to "${name}"`])
    await withConnection({ ...login(), database: `by hand ${name}` }, deadline(), async () => {
      await expect(databaseNow()).rejects.toMatchObject({ kind: 'retryable', reason: 'ObjectInUse' })
    })
    await expect.poll(databaseNow).toEqual([`renamed database "by hand ${name}" to "${name}"`])
  })

  it('stay what they are where the name is of somebody else', async () => {
    const before = name
    await query(`CREATE DATABASE "taken ${name}"`)
    await query(`CREATE ROLE "taken ${name}"`)
    declareAs(`taken ${name}`)
    await expect(roleNow()).rejects.toMatchObject({ kind: 'conflict', reason: 'AlreadyExists' })
    await expect(databaseNow()).rejects.toMatchObject({ kind: 'conflict', reason: 'AlreadyExists' })
    expect(await names('pg_database')).toContain(before)
  })

  it('that nobody has declared are taken over by the object whose key they are marked with', async () => {
    for (const what of ['DATABASE', 'ROLE']) await query(`COMMENT ON ${what} "${name}" IS NULL`)
    await expect(roleNow()).rejects.toMatchObject({ kind: 'conflict' })
    for (const what of ['DATABASE', 'ROLE']) await query(`COMMENT ON ${what} "${name}" IS 'setpoint::${role.key}'`)
    expect([...(await roleNow()), ...(await databaseNow())]).toEqual([])
    expect(await asAdmin((sql) => dropDatabase(sql, database))).toEqual([`dropped database "${name}"`])
  })

  it('are dropped by whatever name they have', async () => {
    await query(`ALTER DATABASE "${name}" RENAME TO "by hand ${name}"`)
    await query(`ALTER ROLE "${name}" RENAME TO "by hand ${name}"`)
    expect(await asAdmin((sql) => dropDatabase(sql, database))).toEqual([`dropped database "by hand ${name}"`])
    expect(await dropRole(admin, role, deadline())).toEqual([`dropped role "by hand ${name}"`])
    expect(await names('pg_database')).not.toContain(`by hand ${name}`)
    expect(await names('pg_roles')).not.toContain(`by hand ${name}`)
  })
})

describe('a database', () => {
  beforeEach(() => roleNow())

  it('is made once, for its owner', async () => {
    expect(await databaseNow()).toEqual([`created database "${name}"`])
    expect(await databaseNow()).toEqual([])
    await query('CREATE TABLE public.mine (id int)', login())
  })

  it('is made whole after a crash between any two of its statements', async () => {
    await query(`CREATE DATABASE "setpoint_${database.uid}" OWNER postgres`)
    expect(await databaseNow()).toEqual([`created database "${name}"`])
    expect(await databaseNow()).toEqual([`changed database "${name}": owner`])
    expect(await names('pg_database')).not.toContain(`setpoint_${database.uid}`)
  })

  const drifts = [
    { sql: 'DROP DATABASE "NAME"', change: 'created database "NAME"' },
    { sql: 'ALTER DATABASE "NAME" OWNER TO postgres', change: 'changed database "NAME": owner' },
    {
      sql: 'ALTER DATABASE "NAME" ALLOW_CONNECTIONS false CONNECTION LIMIT 0',
      change: 'changed database "NAME": connection limit, connections allowed',
    },
    { sql: 'ALTER DATABASE "NAME" IS_TEMPLATE true', change: 'changed database "NAME": no template' },
    {
      sql: `UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'NAME'`,
      change: 'created database "NAME"',
    },
  ]

  it('is put back, whatever was done to it by hand', async () => {
    await databaseNow()
    for (const { sql, change } of drifts) {
      await query(sql.replace('NAME', name))
      expect(await databaseNow()).toEqual([change.replace('NAME', name)])
      expect(await query('SELECT 1 AS one', login())).toEqual([{ one: 1 }])
    }
  })

  it('of somebody else is neither changed nor dropped', async () => {
    await query(`CREATE DATABASE "${name}"`)
    await expect(databaseNow()).rejects.toMatchObject({ kind: 'conflict', reason: 'AlreadyExists' })
    expect(await asAdmin((sql) => dropDatabase(sql, database))).toEqual([])
    expect(await names('pg_database')).toContain(name)
    const template = asAdmin((sql) => ensureDatabase(sql, { ...database, name: 'template1' }))
    await expect(template).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('has the encoding it was made with, and keeps it', async () => {
    database.encoding = 'LATIN1'
    await databaseNow()
    expect(await query('SHOW server_encoding', login())).toEqual([{ server_encoding: 'LATIN1' }])
    database.encoding = 'UTF8'
    await expect(databaseNow()).rejects.toMatchObject({ kind: 'terminal', reason: 'EncodingImmutable' })
  })

  it('goes with the sessions in it', async () => {
    await databaseNow()
    await query(`ALTER DATABASE "${name}" IS_TEMPLATE true`)
    const sleeper = query('SELECT pg_sleep(60)', login())
    const ended = sleeper.catch((error: unknown) => error)
    expect(await asAdmin((sql) => dropDatabase(sql, database))).toEqual([`dropped database "${name}"`])
    expect(await ended).toMatchObject({ kind: 'retryable' })
    expect(await asAdmin((sql) => dropDatabase(sql, database))).toEqual([])
  })

  it('that an object left behind waits for the next one of its key', async () => {
    await databaseNow()
    database.uid = 'a-new-uid'
    expect(await asAdmin((sql) => dropDatabase(sql, database))).toEqual([])
    expect(await databaseNow()).toEqual([])
    expect(await asAdmin((sql) => dropDatabase(sql, database))).toEqual([`dropped database "${name}"`])
  })
})

describe('the owner of a database, who writes the mark of another object on it', () => {
  const forger = () => `forger of ${name}`
  const asForger = () => ({ ...admin, user: forger(), password: 'f0rger', database: forger() })
  const forgers = () => ({
    ...database,
    name: forger(),
    owner: forger(),
    uid: `f-${database.uid}`,
    key: `shop/${forger()}`,
  })
  const comment = (what: string, text: string) => query(`COMMENT ON ${what} IS '${text}'`, asForger())
  const renamed = () => ({ ...database, name: `new ${name}` })

  beforeEach(async () => {
    await roleNow()
    await databaseNow()
    await asAdmin((sql) => ensureRole(sql, { ...role, ...forgers(), password: 'f0rger' }))
    await asAdmin((sql) => ensureDatabase(sql, forgers()))
    await comment(`DATABASE "${forger()}"`, `setpoint:${database.uid}:${database.key}`)
  })

  it('gets no database in the place of that of the other, and cannot write it on its role', async () => {
    await expect(comment(`ROLE "${forger()}"`, `setpoint:${role.uid}:`)).rejects.toMatchObject({
      kind: 'terminal',
      reason: 'InsufficientPrivilege',
    })
    expect(await asAdmin((sql) => ensureDatabase(sql, renamed()))).toEqual([
      `renamed database "${name}" to "new ${name}"`,
    ])
    expect(await names('pg_database')).toContain(forger())
    const taken = asAdmin((sql) => ensureDatabase(sql, { ...database, name: forger() }))
    await expect(taken).rejects.toMatchObject({ kind: 'conflict', reason: 'AlreadyExists' })
  })

  it('keeps it when the other object is deleted, and when its own is, nobody else gets it', async () => {
    expect(await asAdmin((sql) => dropDatabase(sql, forgers()))).toEqual([])
    await dropRole(admin, { ...role, ...forgers() }, deadline())
    expect(await asAdmin((sql) => dropDatabase(sql, database))).toEqual([`dropped database "${name}"`])
    expect(await names('pg_database')).toContain(forger())
  })

  it('is told when several databases have the mark, and none is taken', async () => {
    await query(`ALTER DATABASE "${forger()}" OWNER TO postgres`)
    await expect(asAdmin((sql) => ensureDatabase(sql, renamed()))).rejects.toMatchObject({
      kind: 'conflict',
      reason: 'SeveralMarked',
      message: `2 databases have the mark of this object, among them "${name}", "${forger()}": remove the comment of all but one`,
    })
    expect(await names('pg_database')).toEqual(expect.arrayContaining([name, forger()]))
  })
})

describe('in a database', () => {
  const inside = <T>(use: (sql: Sql) => Promise<T>) => lend({ ...admin, database: name }, use)

  beforeEach(async () => {
    await roleNow()
    await databaseNow()
  })

  it('extensions are installed once, with what they need, and refused for good if the server has none such', async () => {
    const wanted = [{ name: 'earthdistance' }, { name: 'pg_trgm', version: '1.5' }]
    expect(await inside((sql) => ensureExtensions(sql, wanted))).toEqual([
      `created extension "earthdistance" in database "${name}"`,
      `created extension "pg_trgm" in database "${name}"`,
    ])
    expect(await inside((sql) => ensureExtensions(sql, wanted))).toEqual([])
    expect(await inside((sql) => ensureExtensions(sql, [{ name: 'pg_trgm', version: '1.6' }]))).toEqual([
      `changed extension "pg_trgm" in database "${name}" to version 1.6`,
    ])
    expect(await query(`SELECT public.similarity('abc', 'abc') AS s`, login())).toEqual([{ s: 1 }])
    for (const missing of [{ name: 'no_such' }, { name: 'pg_trgm', version: '99' }]) {
      const refused = inside((sql) => ensureExtensions(sql, [missing]))
      await expect(refused).rejects.toMatchObject({ kind: 'terminal', reason: 'ExtensionNotAvailable' })
    }
  })

  it('privileges are exactly those wanted, whatever was granted or revoked by hand', async () => {
    const reader = `reader of ${name}`
    await query(`CREATE ROLE "${reader}"`)
    const grants = (wanted: Parameters<typeof ensureGrants>[1]) => inside((sql) => ensureGrants(sql, wanted))
    const place = `on database "${name}"`

    expect(await grants([{ to: reader, privileges: ['CONNECT'] }])).toEqual([
      `revoked CONNECT ${place} from "public"`,
      `revoked TEMPORARY ${place} from "public"`,
      `granted CONNECT ${place} to "${reader}"`,
    ])
    expect(await grants([{ to: reader, privileges: ['CONNECT'] }])).toEqual([])
    await query(`REVOKE ALL ON DATABASE "${name}" FROM "${reader}"; GRANT CREATE ON DATABASE "${name}" TO "${reader}"`)
    expect(await grants([{ to: reader, privileges: ['CONNECT'] }])).toEqual([
      `revoked CREATE ${place} from "${reader}"`,
      `granted CONNECT ${place} to "${reader}"`,
    ])
    expect(await grants([])).toEqual([`revoked CONNECT ${place} from "${reader}"`])
    expect(await grants([{ to: name, privileges: ['CONNECT'] }])).toEqual([])
    const missing = grants([{ to: 'nobody-yet', privileges: ['CONNECT'] }])
    await expect(missing).rejects.toMatchObject({ kind: 'retryable', reason: 'ObjectNotFound' })
  })

  it('nobody grants on, and what was granted on goes with it', async () => {
    const [one, two] = [`one of ${name}`, `two of ${name}`]
    await query(`CREATE ROLE "${one}"; CREATE ROLE "${two}"`)
    const grants = (...to: readonly string[]) =>
      inside((sql) =>
        ensureGrants(
          sql,
          to.map((grantee) => ({ to: grantee, privileges: ['CONNECT'] as const })),
        ),
      )
    const place = `on database "${name}"`
    await grants(one)
    const handOn = `GRANT CONNECT ON DATABASE "${name}" TO "${one}" WITH GRANT OPTION; SET ROLE "${one}";
      GRANT CONNECT ON DATABASE "${name}" TO "${two}"; RESET ROLE`
    for (const wanted of [[one], [], [one, two], [two]]) {
      await query(handOn)
      await grants(...wanted)
      expect(await grants(...wanted)).toEqual([])
      const held = `SELECT r.rolname AS role, a.is_grantable FROM pg_database d, aclexplode(d.datacl) a JOIN pg_roles r ON r.oid = a.grantee
        WHERE d.datname = '${name}' AND a.grantee <> d.datdba ORDER BY 1`
      expect(await query(held)).toEqual(wanted.map((grantee) => ({ role: grantee, is_grantable: false })))
    }
    await query(handOn)
    expect(await grants(one)).toEqual([
      `revoked the right to grant CONNECT ${place} from "${one}"`,
      `revoked CONNECT ${place} from "${two}"`,
    ])
  })
})

describe('a declared database', () => {
  // Others log in there.
  afterAll(() => query('GRANT CONNECT ON DATABASE postgres, template1 TO PUBLIC'))

  it('lets nobody else in, though it cannot have one of its extensions, nor all of its grants be made', async () => {
    const own = `declared_${serial}`
    const ensure = (spec: object) =>
      ensureAll(
        { metadata: { ...role, namespace: 'shop', name: own }, spec: { ...declared, ...spec } } as never,
        { admin, login: { ...login(), user: own, database: own } },
        { event: async () => {}, signal: deadline() } as never,
      )
    const declared = { database: own, role: own, connectionLimit: -1, extensions: [], grants: [] }
    const refused = ensure({ extensions: ['no_such'] })
    await expect(refused).rejects.toMatchObject({ reason: 'ExtensionNotAvailable' })
    expect(await query(`SELECT has_database_privilege('public', '${own}', 'CONNECT') AS open`)).toEqual([
      { open: false },
    ])
    const grants = [{ role: 'nobody_yet', privileges: ['CONNECT'] }]
    await expect(ensure({ extensions: ['pg_trgm'], grants })).rejects.toMatchObject({ reason: 'ObjectNotFound' })
    const installed = 'SELECT extname AS name FROM pg_extension ORDER BY 1'
    expect(await query(installed, { ...admin, database: own })).toEqual([{ name: 'pg_trgm' }, { name: 'plpgsql' }])
  })
})

describe('a failure', () => {
  const cases = [
    { endpoint: { port: 1 }, kind: 'retryable', reason: 'ConnectionLost', because: 'nobody listens' },
    {
      endpoint: { password: 'x' },
      kind: 'retryable',
      reason: 'AuthenticationFailed',
      because: 'a Secret may be stale',
    },
    {
      endpoint: { database: 'x' },
      kind: 'retryable',
      reason: 'DatabaseNotFound',
      because: 'it may be about to be made',
    },
    { text: 'SELECT 1/0', kind: 'terminal', reason: 'InvalidValue', because: 'values come from declarations' },
    { text: 'SELEKT 1', kind: 'terminal', reason: 'StatementRefused', because: 'it will not parse tomorrow' },
    { text: 'CREATE DATABASE postgres', kind: 'conflict', reason: 'AlreadyExists', because: 'the name is taken' },
    { text: 'CREATE EXTENSION no_such', kind: 'terminal', reason: 'NotSupported', because: 'its files are not there' },
    { text: 'DROP DATABASE postgres', kind: 'retryable', reason: 'ObjectInUse', because: 'sessions end' },
  ]

  it.each(cases)('is $kind ($reason): $because', async ({ endpoint = {}, text = 'SELECT 1', kind, reason }) => {
    await expect(query(text, { ...admin, ...endpoint })).rejects.toMatchObject({ kind, reason })
  })

  it('is retryable when a role has no connection left, and terminal when it may not', async () => {
    role.connectionLimit = 0
    await roleNow()
    const endpoint = { ...login(), database: 'postgres' }
    await expect(query('SELECT 1', endpoint)).rejects.toMatchObject({ kind: 'retryable', reason: 'TooManyConnections' })
    role.connectionLimit = -1
    await roleNow()
    const forbidden = query('CREATE ROLE mine', endpoint)
    await expect(forbidden).rejects.toMatchObject({ kind: 'terminal', reason: 'InsufficientPrivilege' })
  })
})

describe('the databases that a server comes with', () => {
  const close = () => asAdmin(closeServerDatabases)
  const said = (...shut: readonly string[]) => shut.map((one) => `revoked CONNECT on database "${one}" from "public"`)

  it('let in nobody but superusers, and who was granted it by name', async () => {
    await roleNow()
    await databaseNow()
    const into = (one: string) => query('SELECT 1 AS one', { ...login(), database: one })
    const shared = ['postgres', 'template1']
    for (const one of shared) expect(await into(one)).toEqual([{ one: 1 }])
    try {
      expect(await close()).toEqual(said(...shared))
      expect(await close()).toEqual([])
      for (const one of shared) await expect(into(one)).rejects.toMatchObject({ reason: 'InsufficientPrivilege' })
      expect(await query('SELECT 1 AS one', { ...admin, database: 'template1' })).toEqual([{ one: 1 }])
      expect(await into(name)).toEqual([{ one: 1 }])
      await query(`GRANT CONNECT ON DATABASE postgres TO "${name}"; GRANT CONNECT ON DATABASE template1 TO PUBLIC`)
      expect(await close()).toEqual(said('template1'))
      expect(await into('postgres')).toEqual([{ one: 1 }])
    } finally {
      await query(`REVOKE CONNECT ON DATABASE postgres FROM "${name}"`)
      for (const one of shared) await query(`GRANT CONNECT ON DATABASE ${one} TO PUBLIC`)
    }
  })

  it('are shut by an administrator who is no superuser where they are his, who is let in all the same', async () => {
    const keeper: Endpoint = { ...admin, user: 'keeper', password: 'k33per' }
    const closeAsKeeper = () => withConnection(keeper, deadline(), closeServerDatabases)
    await query(`CREATE ROLE keeper LOGIN CREATEDB CREATEROLE PASSWORD 'k33per'`)
    try {
      expect(await closeAsKeeper()).toEqual([])
      await query('ALTER DATABASE postgres OWNER TO keeper')
      expect(await closeAsKeeper()).toEqual(said('postgres'))
      expect(await closeAsKeeper()).toEqual([])
    } finally {
      await query(`ALTER DATABASE postgres OWNER TO "${admin.user}"; GRANT CONNECT ON DATABASE postgres TO PUBLIC`)
      await query('DROP ROLE keeper')
    }
  })
})

describe('a connection', () => {
  it('is cut when its signal fires', async () => {
    const beganMs = Date.now()
    const cut = withConnection(admin, AbortSignal.timeout(200), (sql) => sql.query('SELECT pg_sleep(30)'))
    await expect(cut).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(Date.now() - beganMs).toBeLessThan(25_000)
  })

  it('takes no notice of what the owner of the database has set for its sessions', async () => {
    await roleNow()
    await databaseNow()
    await query(`ALTER DATABASE "${name}" SET role = '${name}'`, login())
    await query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`, login())
    const inside = { ...admin, database: name }
    expect(await lend(inside, (sql) => ensureExtensions(sql, [{ name: 'pg_stat_statements' }]))).toHaveLength(1)
    expect(await query('SELECT current_user AS me', inside)).toEqual([{ me: 'postgres' }])
  })

  const limits = ['transaction_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout']

  it.each([...limits, 'statement_timeout'])('is not cut by the %s of the owner of the database', async (setting) => {
    await roleNow()
    await databaseNow()
    await query(`ALTER DATABASE "${name}" SET ${setting} = '1ms'`, login())
    const [row] = await lend({ ...admin, database: name }, async (sql) => {
      await sql.query('BEGIN')
      await sql.query('SELECT pg_sleep(0.05)')
      await new Promise((resolve) => setTimeout(resolve, 50))
      await sql.query('COMMIT')
      await new Promise((resolve) => setTimeout(resolve, 50))
      return sql.query<{ value: string }>('SELECT current_setting($1) AS value', [setting])
    })
    expect(row?.value).toMatch(/^(0|\d+s|\d+min)$/)
  })

  it('calls no function that a user of the database put in the way', async () => {
    await roleNow()
    await databaseNow()
    await query(`CREATE FUNCTION public.version() RETURNS text RETURN 'trap'`, login())
    await query(`ALTER DATABASE "${name}" SET search_path = public, pg_catalog`, login())
    const [row] = await query('SELECT version() AS v', { ...admin, database: name })
    expect(row?.['v']).toContain('PostgreSQL')
  })
})
