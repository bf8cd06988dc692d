/**
 * One flipped bit in what stands beside the states of objects: the start refuses the file, or every object is there as
 * it was and is found by all that finds objects, or it is told as damaged.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkInside } from '../../shared/adapters/local/sqlite/guard/check.ts'
import { openSqliteDatabase } from '../../shared/adapters/local/sqlite/sqlite-database.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { keyOf, keyText } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { openLocalPorts, type LocalPorts } from '../../shared/runtime/local/ports.ts'
import { storedWidget, widgetKind } from '../support/stored-object.ts'
import { share } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const scratch = temporaryDirectory('columns', existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
afterAll(() => scratch[Symbol.dispose]())

const original = join(scratch.path, 'original.db')
const file = join(scratch.path, 'a.db')
const pageBytes = 4_096

const owner = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'a', uid: 'uid-default-a' }
const objects: readonly StoredObject[] = [
  { ...storedWidget('a'), engine: { wakeAtMs: 1_900_000_000_000 } },
  storedWidget('b', { ownerReferences: [owner] }),
  { ...storedWidget('c', { ownerReferences: [owner] }), engine: { wakeAtMs: 1_900_000_000_001 } },
  storedWidget('d', { namespace: 'other' }),
]
const target = { group: '', kind: 'Secret', namespace: 'default', name: 's' }

/** All that finds objects, and what it finds. */
async function look({ store, index, quarantine }: LocalPorts) {
  const names = (keys: readonly Parameters<typeof keyText>[0][]) => keys.map(keyText).toSorted()
  const { items, damaged = [] } = await store.list(widgetKind)
  const got: unknown[] = []
  for (const { object } of objects) got.push(await Promise.resolve(store.get(keyOf(object))).catch(() => 'damaged'))
  return {
    seen: [...items.map(({ object }) => keyOf(object)), ...damaged].map(keyText).toSorted(),
    got,
    damaged: names(quarantine?.keys() ?? []),
    children: names(await index.childrenOf(owner.uid)),
    referrers: names(await index.referrers(target)),
    due: names((await index.due(widgetKind, 2_000_000_000_000, 10)).map(({ key }) => key)),
    wheel: names(await index.onWheel(widgetKind, 0, 3_600)),
  }
}

let right: Awaited<ReturnType<typeof look>>

beforeAll(async () => {
  const ports = openLocalPorts(original, systemClock)
  for (const one of objects) await ports.store.create(one)
  for (const { object } of objects.slice(0, 3)) await ports.index.setReferences(keyOf(object), [target])
  right = await look(ports)
  ports.close()
})

function pageOf(name: string): number {
  using connection = new DatabaseSync(original, { readOnly: true })
  const row = connection.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name)
  return Number(row?.['rootpage'])
}

function flip(bit: number): void {
  const bytes = readFileSync(original)
  bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
  writeFileSync(file, bytes)
}

/** The bits of a page that say something: its head and its cells. */
function bitsOf(page: number): readonly number[] {
  const bytes = readFileSync(original)
  const start = (page - 1) * pageBytes
  const cells = bytes.readUInt16BE(start + 5)
  const isUsed = (at: number): boolean => at < 8 + 2 * bytes.readUInt16BE(start + 3) || at >= cells
  return Array.from({ length: pageBytes * 8 }, (_, bit) => bit)
    .filter((bit) => isUsed(bit >> 3))
    .map((bit) => start * 8 + bit)
}

describe('one flipped bit', () => {
  it.each([
    'objects',
    'objects_by_name',
    'objects_by_slot',
    'heads',
    'heads_by_next_run',
    'kinds',
    'sqlite_autoindex_kinds_1',
    'owners',
    'refs',
    'refs_by_referrer',
  ])('in %s hides nothing', async (table) => {
    const bits = bitsOf(pageOf(table))
    const step = Math.max(1, Math.floor(bits.length / share(2_000)))
    for (const bit of bits.filter((_, i) => i % step === 0)) {
      flip(bit)
      const ports = openUnlessRefused()
      if (ports === undefined) continue
      const found = await look(ports)
      ports.close()
      const isTold = found.damaged.length > 0
      expect(isTold ? found.seen : found, `bit ${bit}`).toEqual(isTold ? right.seen : right)
      expect(isTold || isWhole(), `bit ${bit}`).toBe(true)
    }
  })
})

it('a start takes nothing for damage that was written, whatever the uids of owners hold', async () => {
  const odd = join(scratch.path, 'odd.db')
  const ports = openLocalPorts(odd, systemClock)
  const uids = ['a"b', String.raw`a\b`, 'a\nb', '\u{d800}', 'ü\u2028', ' ', `x'y`, '[1]']
  for (const [i, uid] of uids.entries())
    await ports.store.create(storedWidget(`w${i}`, { ownerReferences: [{ ...owner, uid }, owner] }))
  ports.close()
  const database = openSqliteDatabase(odd)
  expect(database.foundDamage).toEqual([])
  database.close()
})

function openUnlessRefused(): LocalPorts | undefined {
  try {
    return openLocalPorts(file, systemClock)
  } catch (error) {
    expect(error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('put back a copy of it') })
    return undefined
  }
}

function isWhole(): boolean {
  return checkInside(file).every(({ problems }) => problems.length === 0)
}
