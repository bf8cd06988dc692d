/**
 * The damage matrix: each kind of damage to each file of a data directory, and what the next start says of it. What it
 * says is compared with the table in docs/damage.md, row by row.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { checkDatabase } from '../../shared/adapters/local/sqlite/guard/check.ts'
import type { Consent } from '../../shared/adapters/local/sqlite/guard/guarded-database.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { keyOf } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { filesIn } from '../../shared/runtime/local/files.ts'
import { openGuardedPorts, type GuardedPorts } from '../../shared/runtime/local/ports.ts'
import { expectCode } from '../support/expect-code.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { storedWidget, versionOf, widgetKind, withSpec } from '../support/stored-object.ts'
import { pick, share } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const scratch = temporaryDirectory('damage')
afterAll(() => scratch[Symbol.dispose]())

/** A data directory that a control plane has written into. */
interface Used {
  readonly path: string
  at(name: string): string
  contents(): Contents
}

type Contents = ReadonlyMap<string, Buffer>

let count = 0

interface Start {
  readonly consent?: Consent
  readonly resume?: boolean
}

function open({ path, at }: Used, start: Start = {}, clock = systemClock): GuardedPorts {
  return openGuardedPorts(at('setpoint.db'), clock, {
    ...start,
    witnesses: filesIn(path).witnesses,
    secrets: { keyFile: at('secrets.key') },
    markMs: 5,
  })
}

function directory(): Used {
  const path = join(scratch.path, String(count++))
  mkdirSync(path)
  const at = (name: string): string => join(path, name)
  return {
    path,
    at,
    contents: () => new Map(readdirSync(path).map((name) => [name, readFileSync(at(name))])),
  }
}

/** The files are the same files again. */
function putBack({ path, at }: Used, contents: Contents): void {
  for (const name of readdirSync(path)) if (!contents.has(name)) rmSync(at(name))
  for (const [name, bytes] of contents) writeFileSync(at(name), bytes)
}

function changedSince(used: Used, before: Contents): readonly string[] {
  const now = used.contents()
  const names = [...new Set([...before.keys(), ...now.keys()])]
  return names.filter((name) => before.get(name)?.equals(now.get(name) ?? Buffer.alloc(0)) !== true)
}

async function write({ store }: GuardedPorts, names: readonly string[]): Promise<readonly StoredObject[]> {
  const written: StoredObject[] = []
  // One after the other: each has a commit of its own.
  for (const name of names) written.push(await store.create(withSpec(storedWidget(name), { text: name.repeat(3_000) })))
  return written
}

const early = ['a', 'b', 'c']
const late = ['d', 'e', 'f']

/** Stopped in order, after two starts that wrote. */
async function stopped(): Promise<Used> {
  const used = directory()
  for (const names of [early, late]) {
    const ports = open(used)
    writeFileSync(used.at('token'), 'token')
    await write(ports, names)
    ports.close()
  }
  return used
}

/** Killed after a stop and a start that wrote, and later than its last mark. */
async function killed(): Promise<Used> {
  const used = directory()
  const first = open(used)
  writeFileSync(used.at('token'), 'token')
  await write(first, early)
  first.close()
  const second = open(used)
  const written = await write(second, late)
  const newest = String(versionOf(written.at(-1)))
  await expect.poll(() => readFileSync(used.at('setpoint.mark'), 'utf8')).toContain(`"resourceVersion":${newest},`)
  const contents = used.contents()
  second.close()
  putBack(used, contents)
  return used
}

/** Stopped; beside it stands the log of the first start, or of the next, which wrote no object. */
async function besideOldLog(which: 0 | 1): Promise<Used> {
  const used = directory()
  const logs: Buffer[] = []
  const many = Array.from({ length: 30 }, (_, i) => `x${i}`)
  for (const names of [early, [], many]) {
    const ports = open(used)
    writeFileSync(used.at('token'), 'token')
    await write(ports, names)
    logs.push(readFileSync(used.at('setpoint.db-wal')))
    ports.close()
  }
  writeFileSync(used.at('setpoint.db-wal'), logs[which] ?? '')
  return used
}

const pageBytes = 4_096
const frameBytes = 24 + pageBytes

function flip(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)
  writeFileSync(file, bytes)
}

/** Flips the last bit of a text, in the first page of a table or of an index. */
function flipText(file: string, { table, text }: { readonly table: string; readonly text: string }): void {
  const bytes = readFileSync(file)
  const at = bytes.indexOf(text, pageOf(file, table)) + text.length - 1
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(file, bytes)
}

/** Where its first page begins. What says how tables are made is on the first of all. */
function pageOf(file: string, table: string): number {
  using connection = new DatabaseSync(file, { readOnly: true })
  const row = connection.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)
  return (Number(row?.['rootpage'] ?? 1) - 1) * pageBytes
}

type Damage = (used: Used) => void | Promise<void>

interface Case {
  readonly file: string
  readonly damage: string
  readonly after: () => Promise<Used>
  readonly make: Damage
}

const cases: readonly Case[] = [
  { file: 'setpoint.db', damage: 'is gone', after: stopped, make: ({ at }) => rmSync(at('setpoint.db')) },
  {
    file: 'setpoint.db',
    damage: 'is gone, its mark too',
    after: stopped,
    make: ({ at }) => {
      for (const name of ['setpoint.db', 'setpoint.mark']) rmSync(at(name))
    },
  },
  { file: 'setpoint.db', damage: 'is emptied', after: stopped, make: ({ at }) => truncateSync(at('setpoint.db')) },
  {
    file: 'setpoint.db',
    damage: 'is gone, with all but one file',
    after: stopped,
    make: ({ path, at }) => {
      for (const name of readdirSync(path).filter((one) => one !== 'secrets.key')) rmSync(at(name))
    },
  },
  {
    file: 'setpoint.db',
    damage: "is another control plane's",
    after: stopped,
    make: async ({ at }) => writeFileSync(at('setpoint.db'), readFileSync((await stopped()).at('setpoint.db'))),
  },
  {
    file: 'setpoint.db',
    damage: 'is an older state of itself',
    after: async () => {
      const used = await stopped()
      const old = readFileSync(used.at('setpoint.db'))
      const ports = open(used)
      await write(ports, ['g'])
      ports.close()
      writeFileSync(used.at('setpoint.db'), old)
      return used
    },
    make: () => {},
  },
  {
    file: 'all',
    damage: 'are a copy',
    after: async () => {
      const [original, copy] = [await stopped(), directory()]
      cpSync(original.path, copy.path, { recursive: true, preserveTimestamps: true })
      return copy
    },
    make: () => {},
  },
  {
    file: 'setpoint.db-wal',
    damage: 'is gone after a kill',
    after: killed,
    make: ({ at }) => rmSync(at('setpoint.db-wal')),
  },
  {
    file: 'setpoint.db-wal',
    damage: 'is cut after a kill',
    after: killed,
    make: ({ at }) => truncateSync(at('setpoint.db-wal'), 32 + frameBytes * 5),
  },
  {
    file: 'setpoint.db-wal',
    damage: 'has a flipped byte in its middle after a kill',
    after: killed,
    make: ({ at }) => flip(at('setpoint.db-wal'), 32 + frameBytes * 4 + 100),
  },
  {
    file: 'setpoint.db-wal',
    damage: 'has a flipped byte in its head after a kill',
    after: killed,
    make: ({ at }) => flip(at('setpoint.db-wal'), 18),
  },
  {
    file: 'setpoint.db-wal',
    damage: 'is emptied after a kill',
    after: killed,
    make: ({ at }) => truncateSync(at('setpoint.db-wal')),
  },
  {
    file: 'setpoint.db-wal',
    damage: "is another control plane's after a kill",
    after: killed,
    make: async ({ at }) => writeFileSync(at('setpoint.db-wal'), readFileSync((await killed()).at('setpoint.db-wal'))),
  },
  {
    file: 'setpoint.db-wal',
    damage: 'is of the first start, after a stop',
    after: () => besideOldLog(0),
    make: () => {},
  },
  { file: 'setpoint.mark', damage: 'is emptied', after: stopped, make: ({ at }) => truncateSync(at('setpoint.mark')) },
  {
    file: 'setpoint.mark',
    damage: "is another control plane's",
    after: stopped,
    make: async ({ at }) => writeFileSync(at('setpoint.mark'), readFileSync((await stopped()).at('setpoint.mark'))),
  },
  { file: 'setpoint.mark', damage: 'is gone', after: stopped, make: ({ at }) => rmSync(at('setpoint.mark')) },
  {
    file: 'setpoint.db',
    damage: 'is a copy that says it is none',
    after: async () => {
      const used = await stopped()
      open(used, { consent: 'as-copy' }).close()
      return used
    },
    make: ({ at }) => {
      using raw = new DatabaseSync(at('setpoint.db'))
      raw.exec('UPDATE identity SET held = 0')
    },
  },
  {
    file: 'setpoint.mark',
    damage: 'is an older state of itself',
    after: async () => {
      const used = await stopped()
      const old = readFileSync(used.at('setpoint.mark'))
      const ports = open(used)
      await write(ports, ['g'])
      ports.close()
      writeFileSync(used.at('setpoint.mark'), old)
      return used
    },
    make: () => {},
  },
  {
    file: 'setpoint.mark',
    damage: 'has flipped bytes in both places',
    after: stopped,
    make: ({ at }) => {
      for (const byte of [20, 532]) flip(at('setpoint.mark'), byte)
    },
  },
  {
    file: 'setpoint.mark',
    damage: 'has a flipped byte',
    after: stopped,
    make: ({ at }) => flip(at('setpoint.mark'), 20),
  },
]

const besideStates: readonly Case[] = [
  {
    file: 'setpoint.db',
    damage: 'has a flipped bit in an index',
    after: stopped,
    make: ({ at }) => flipText(at('setpoint.db'), { table: 'objects_by_name', text: 'defaulta' }),
  },
  {
    file: 'setpoint.db',
    damage: 'has a flipped bit in the name of an object',
    after: stopped,
    make: ({ at }) => flipText(at('setpoint.db'), { table: 'objects', text: 'defaulta' }),
  },
  {
    file: 'setpoint.db',
    damage: 'has a flipped bit in the name of a kind',
    after: stopped,
    make: ({ at }) => flipText(at('setpoint.db'), { table: 'kinds', text: 'Widget' }),
  },
]

/** What SQLite itself cannot read: nothing but a backup helps. */
const unreadable: readonly Case[] = [
  {
    file: 'setpoint.db',
    damage: 'has a flipped byte in its head',
    after: stopped,
    make: ({ at }) => flip(at('setpoint.db'), 3),
  },
  {
    file: 'setpoint.db',
    damage: 'is cut to its first page',
    after: stopped,
    make: ({ at }) => truncateSync(at('setpoint.db'), pageBytes),
  },
  {
    file: 'setpoint.db',
    damage: 'has a flipped bit in the name of a column',
    after: stopped,
    make: ({ at }) => flipText(at('setpoint.db'), { table: 'sqlite_schema', text: 'keeps_changes' }),
  },
  {
    file: 'setpoint.db',
    damage: 'has a damaged page of a table or of an index',
    after: stopped,
    make: ({ at }) => {
      const file = at('setpoint.db')
      const start = pageOf(file, 'objects_by_name')
      writeFileSync(file, readFileSync(file).fill(0x5a, start, start + pageBytes))
    },
  },
  {
    file: 'setpoint.db',
    damage: 'has a damaged page that is not in the log after a kill',
    after: killed,
    make: ({ at }) => {
      const file = at('setpoint.db')
      const start = pageOf(file, 'refs_by_referrer')
      writeFileSync(file, readFileSync(file).fill(0x5a, start, start + 64))
    },
  },
  {
    file: 'setpoint.db-wal',
    damage: 'is of the second start, after a stop',
    after: () => besideOldLog(1),
    make: () => {},
  },
]

/** The rows of the table: what is said of which damage, with … for what differs. */
const told = new Map(
  [...readFileSync('docs/damage.md', 'utf8').matchAll(/^\| `?([\w.-]+)`? \| ([^|]+) \| ([^|]+) \|$/gm)].map(
    ([, file, damage, says = '']) => [`${file} ${damage}`, says] as const,
  ),
)

function escaped(text: string): string {
  return text.replaceAll(/[.()[\]]/g, String.raw`\$&`)
}

function expected(says: string): RegExp {
  const [, line = ''] = /^`(.*)`$/.exec(says) ?? []
  const literal = line.split('…').map(escaped)
  return new RegExp(`^cannot use ${escaped(scratch.path)}/\\d+: ${literal.join('.*')}: `)
}

function refusal(used: Used): string | undefined {
  try {
    open(used).close()
    return undefined
  } catch (error) {
    expect(error).toMatchObject({ code: 'UNAVAILABLE' })
    return (error as Error).message
  }
}

describe('a start', () => {
  it('has a row in the table for each damage that is tried', () => {
    expect([...told.keys()].toSorted()).toEqual(
      expect.arrayContaining([...cases, ...besideStates, ...unreadable].map(({ file, damage }) => `${file} ${damage}`)),
    )
  })

  it.each(pick(cases))('where $file $damage', async ({ file, damage, after, make }) => {
    const used = await after()
    await make(used)
    const says = told.get(`${file} ${damage}`) ?? ''
    const before = used.contents()
    const message = refusal(used)
    if (says.startsWith('nothing')) return expect(message).toBeUndefined()
    expect(message).toMatch(expected(says))
    expect(changedSince(used, before)).toEqual([])

    const accepted = open(used, { consent: 'accept-loss' })
    expect(accepted.isHeld).toBe(false)
    const [created] = await write(accepted, ['new'])
    expect(versionOf(created)).toBeGreaterThan(1_000_000_000)
    await expectCode(
      accepted.feed.follow({ after: '4', signal: new AbortController().signal })[Symbol.asyncIterator]().next(),
      'EXPIRED',
    )
    accepted.close()
    expect(refusal(used)).toBeUndefined()
  })

  it.each(besideStates)('where $file $damage makes it anew from the states', async ({ file, damage, after, make }) => {
    const used = await after()
    await make(used)
    expect(told.get(`${file} ${damage}`)).toMatch(/^nothing: /)
    for (const isFirst of [true, false]) {
      const ports = open(used)
      expect(ports.foundDamage.length > 0).toBe(isFirst)
      const { items } = await ports.store.list(widgetKind)
      expect(items.map(({ object }) => object.metadata.name)).toEqual([...early, ...late])
      for (const one of items) expect(await ports.store.get(keyOf(one.object))).toEqual(one)
      await expectCode(ports.store.create(storedWidget('a')), 'ALREADY_EXISTS')
      expect(ports.quarantine?.keys()).toEqual([])
      ports.close()
    }
  })

  it.each(pick(unreadable))('where $file $damage', async ({ file, damage, after, make }) => {
    const used = await after()
    await make(used)
    const before = used.contents()
    const [, says = ''] = /^`(.*)`$/.exec(told.get(`${file} ${damage}`) ?? '') ?? []
    for (const consent of [undefined, 'accept-loss'] as const)
      expect(() => open(used, { ...(consent && { consent }) })).toThrow(`/setpoint.db: ${says}: put back a copy of it`)
    expect(changedSince(used, before)).toEqual([])
  })

  it.each([
    ['stopped', stopped],
    ['killed', killed],
  ])('of a control plane that was %s and not damaged goes on with all that was written', async (_, make) => {
    const ports = open(await make())
    const { items } = await ports.store.list(widgetKind)
    expect(items.map(({ object }) => object.metadata.name)).toEqual([...early, ...late])
    expect(Number(await ports.feed.latest())).toBeLessThan(100)
    ports.close()
  })

  it.each(filesIn('').witnesses.map((path) => basename(path)))(
    'in a directory that has %s alone is refused',
    (name) => {
      const used = directory()
      writeFileSync(used.at(name), '')
      expect(refusal(used)).toContain(`setpoint.db is missing, though its ${name} is there: `)
      expect(readdirSync(used.path)).toEqual([name])
    },
  )

  it.each([
    [60_000, undefined],
    [60_001, 'setpoint.mark is older than setpoint.db'],
  ])('after a kill with a mark that does not know of changes of %d ms', async (lagMs, says) => {
    const used = directory()
    let nowMs = 1_000_000
    const ports = open(used, {}, { ...systemClock, nowMs: () => nowMs })
    const mark = readFileSync(used.at('setpoint.mark'))
    await write(ports, ['a'])
    nowMs += lagMs
    await write(ports, ['b'])
    const contents = used.contents()
    ports.close()
    putBack(used, new Map([...contents, ['setpoint.mark', mark]]))
    const message = refusal(used)
    if (says === undefined) expect(message).toBeUndefined()
    else expect(message).toContain(says)
  })

  it('of a control plane that wrote nothing goes on', () => {
    const used = directory()
    for (let start = 0; start < 3; start++) expect(refusal(used)).toBeUndefined()
  })

  it('is refused to a second process as one that runs already, whatever its files look like meanwhile', async () => {
    const used = await stopped()
    const ports = open(used)
    await write(ports, ['g'])
    flip(used.at('setpoint.db-wal'), 18)
    const child = `
      import { openGuardedDatabase } from '${import.meta.resolve('../../shared/adapters/local/sqlite/guard/guarded-database.ts')}'
      try { openGuardedDatabase(process.argv[1]) } catch (error) { console.log(error.message) }`
    const { stdout } = await runProgram(process.execPath, [
      '--input-type=module',
      '--eval',
      child,
      used.at('setpoint.db'),
    ])
    expect(stdout).toContain(': another process holds it: ')
    ports.close()
  })

  it('goes on after each kill of a process that writes without a pause', async () => {
    const used = directory()
    const script = join(import.meta.dirname, 'crash-writer.ts')
    for (let round = 0; round < share(20); round++) {
      await using writer = await startProgram(process.execPath, [
        script,
        used.at('setpoint.db'),
        String(round),
        'guarded',
      ])
      await writer.says(/ \d+\n/)
      await sleep(round * 3)
      await writer.stop('SIGKILL')
      expect(refusal(used)).toBeUndefined()
    }
  })
})

describe('a check', () => {
  const check = ({ path, at }: Used) =>
    checkDatabase(at('setpoint.db'), { witnesses: filesIn(path).witnesses, secrets: { keyFile: at('secrets.key') } })
  const problems = (used: Used) => check(used).flatMap((checked) => checked.problems)

  it.each(pick(cases))('finds what a start finds where $file $damage, and more', async ({ after, make }) => {
    const used = await after()
    await make(used)
    const before = used.contents()
    const found = problems(used)
    expect(changedSince(used, before)).toEqual([])
    const message = refusal(used)
    if (message !== undefined) expect(found[0]).toSatisfy((said: string) => message.includes(said))
  })

  it.each(besideStates)('finds where $file $damage, and nothing after the next start', async ({ after, make }) => {
    const used = await after()
    await make(used)
    expect(problems(used)).not.toEqual([])
    open(used).close()
    expect(problems(used)).toEqual([])
  })

  it.each([
    ['UPDATE changes SET doc = doc || char(32) WHERE rv = 2', /^example\.com\/Widget\/default\/a is damaged$/],
    ["UPDATE changes SET engine = '{}' WHERE rv = 2", /\/a is damaged$/],
    ['UPDATE heads SET rv = 3 WHERE rv = 2', /\/a has the state of another object$/],
    ['UPDATE heads SET rv = 99 WHERE rv = 2', /\/a has no state$/],
    ["UPDATE objects SET name = 'z' WHERE name = 'a'", /\/z has the state of default\/a$/],
    ['UPDATE changes SET supersedes = 7 WHERE rv = 4', /^change 4 supersedes 7, which is later$/],
    ['UPDATE changes SET written = 0 WHERE rv = 4', /^change 4 is out of order$/],
    ['DELETE FROM objects WHERE rowid = 1', /^head 1 is of no object$/],
  ])('finds what %s did', async (sql, says) => {
    const used = await stopped()
    expect(problems(used)).toEqual([])
    const raw = new DatabaseSync(used.at('setpoint.db'))
    raw.exec(sql)
    raw.close()
    expect(problems(used)).toContainEqual(expect.stringMatching(says))
  })

  it('says of an old state that it is one', async () => {
    const used = await stopped()
    const ports = open(used)
    const there = await ports.store.get(keyOf(storedWidget('a').object))
    if (there === undefined) throw new Error('not stored')
    await ports.store.replace(withSpec(there, { size: 7 }), ['spec'])
    ports.close()
    const raw = new DatabaseSync(used.at('setpoint.db'))
    raw.exec('UPDATE changes SET doc = doc || char(32) WHERE rv NOT IN (SELECT rv FROM heads)')
    raw.close()
    expect(problems(used)).toEqual([expect.stringMatching(/^an old state, change \d+ is damaged$/)])
  })

  it('finds damage to a page, and leaves a process that runs alone', async () => {
    const used = await stopped()
    const ports = open(used)
    expect(() => checkDatabase(used.at('setpoint.db'), {})).toThrow(/another process holds it/)
    ports.close()
    const bytes = readFileSync(used.at('setpoint.db'))
    bytes.fill(0x55, 3 * pageBytes, 3 * pageBytes + 16)
    writeFileSync(used.at('setpoint.db'), bytes)
    expect(problems(used).length).toBeGreaterThan(0)
  })
})

describe('a copy', () => {
  it('is held from --as-copy on, over restarts, until --resume', async () => {
    const [original, copy] = [await stopped(), directory()]
    cpSync(original.path, copy.path, { recursive: true })
    const starts = [
      [{ consent: 'as-copy' }, true],
      [{}, true],
      [{ resume: true }, false],
      [{}, false],
    ] as const
    for (const [start, isHeld] of starts) {
      const ports = open(copy, start)
      expect(ports.isHeld).toBe(isHeld)
      expect(await ports.store.get(keyOf(storedWidget('a').object))).toBeDefined()
      ports.close()
    }
    expect(refusal(original)).toBeUndefined()
  })
})

describe('a data directory that is moved', () => {
  it('is the same', async () => {
    const used = await stopped()
    const moved = directory()
    rmSync(moved.path, { recursive: true })
    renameSync(used.path, moved.path)
    expect(existsSync(used.path)).toBe(false)
    expect(refusal(moved)).toBeUndefined()
  })
})
