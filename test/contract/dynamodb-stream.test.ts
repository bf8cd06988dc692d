import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createDynamodbCheckpoint } from '../../shared/adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { changeOf, relayedWrites } from '../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import { keyOf } from '../../shared/model/object-key.ts'
import type { Part, StoredObject } from '../../shared/model/stored-object.ts'
import { startDynalite, type TestStreamRecord } from '../../shared/testing-aws/dynalite.ts'
import { openDynamodb, type OpenDynamodb } from '../support/dynamodb.ts'
import { storedWidget, withMetadata, withSpec } from '../support/stored-object.ts'

const dynalite = await startDynalite()
afterAll(dynalite.close)
const records: TestStreamRecord[] = []
dynalite.onRecord((record) => void records.push(record))

let opened: OpenDynamodb
beforeEach(async () => {
  opened = await openDynamodb(dynalite.client)
})

/** What the table's stream has, once all of it is there. */
async function stream(): Promise<readonly TestStreamRecord[]> {
  await systemClock.sleep(50)
  return records.filter(({ table }) => table === opened.table)
}

/** Of objects; a new table has a note of its own. */
async function objectRecords(): Promise<readonly TestStreamRecord[]> {
  return (await stream()).filter(({ dynamodb }) => String(dynamodb.Keys?.['pk']?.['S']).includes('/Widget#'))
}

async function changes() {
  return (await stream()).flatMap((record) => changeOf(record) ?? [])
}

/** As the mapping of the stream does it: prefixes are all that our filter has. */
function passes({ dynamodb }: TestStreamRecord): boolean {
  const touched = dynamodb.NewImage?.['touched']?.['S'] as string | undefined
  return relayedWrites.dynamodb.NewImage.touched.S.some(({ prefix }) => touched?.startsWith(prefix))
}

describe('a record of the stream', () => {
  it('tells a creation, a change with the state before, and a removal with the last state', async () => {
    const created = await opened.store.create({ ...storedWidget('a'), engine: { wakeAtMs: 1 } })
    const changed = await opened.store.replace(withSpec(created, { size: 2 }), ['engine', 'spec', 'labels'])
    const removed = await opened.store.remove(changed)
    expect(await changes()).toEqual([
      { type: 'added', touched: ['spec'], stored: created },
      { type: 'modified', touched: ['spec', 'labels', 'engine'], stored: changed, before: created },
      { type: 'removed', touched: ['delete'], stored: removed, before: changed },
    ])
  })

  it('tells what mends an object that was damaged, without the state before', async () => {
    const created = await opened.store.create(storedWidget('a'))
    const changed = await opened.store.replace(withSpec(created, { size: 2 }), ['spec'])
    const record = (await objectRecords()).at(-1) ?? expect.fail('the change is told')
    const OldImage = { ...record.dynamodb.OldImage, doc: { S: '{"kind":' } }
    expect(changeOf({ dynamodb: { ...record.dynamodb, OldImage } })).toEqual({
      type: 'modified',
      touched: ['spec'],
      stored: changed,
    })
    expect(() => changeOf({ dynamodb: { NewImage: OldImage } })).toThrow(expect.objectContaining({ code: 'DAMAGED' }))
  })

  it('tells a write of the engine with the object as it is, under its new version', async () => {
    const created = await opened.store.create(storedWidget('a'))
    const waiting = await opened.store.replace({ ...created, engine: { wakeAtMs: 5 } }, ['engine'])
    expect((await changes()).at(-1)).toEqual({
      type: 'modified',
      touched: ['engine'],
      stored: waiting,
      before: created,
    })
  })

  it('tells an object whose name was taken again as a new one, without a state before', async () => {
    await opened.store.remove(await opened.store.create(storedWidget('a', { uid: 'first' })))
    const second = await opened.store.create(storedWidget('a', { uid: 'second' }))
    expect((await changes()).map(({ type, stored }) => `${type} ${stored.object.metadata.uid}`)).toEqual([
      'added first',
      'removed first',
      'added second',
    ])
    expect((await changes()).at(-1)).toEqual({ type: 'added', touched: ['spec'], stored: second })
  })

  it('tells nothing of the entries of indexes, of checkpoints, and of tombstones that go', async () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Owner', name: 'any', uid: 'u1' }]
    const live = await opened.store.create(storedWidget('a', { ownerReferences }))
    await opened.index.setReferences(keyOf(live.object), [{ ...keyOf(live.object), name: 'b' }])
    const options = { client: dynalite.client, table: opened.table, clock: systemClock, random: systemRandom }
    await createDynamodbCheckpoint({ ...options, name: randomUUID() }).save('5')
    const all = await stream()
    expect(all.length).toBeGreaterThan(3)
    expect(all.filter(passes)).toHaveLength(1)
    expect(await changes()).toHaveLength(1)
    const { NewImage } = all.find(passes)?.dynamodb ?? {}
    expect(changeOf({ dynamodb: { ...(NewImage !== undefined && { OldImage: NewImage }) } })).toBeUndefined()
    expect(changeOf({})).toBeUndefined()
  })
})

describe('the filter of the stream', () => {
  const parts: readonly Part[] = [
    'spec',
    'labels',
    'annotations',
    'control',
    'meta',
    'fields',
    'status',
    'timer',
    'delete',
    'engine',
  ]

  it.each(parts)('passes a write of %s, alone or with the engine, unless it is of the engine alone', async (part) => {
    let live: StoredObject = await opened.store.create(storedWidget('a'))
    live = await opened.store.replace(withMetadata(live, { labels: {} }), [part])
    await opened.store.replace(live, part === 'engine' ? ['engine'] : ['engine', part])
    const [, alone, together] = await objectRecords()
    const expected = part !== 'engine'
    expect([alone, together].map((record) => record !== undefined && passes(record))).toEqual([expected, expected])
  })

  it('passes a creation and a removal', async () => {
    await opened.store.remove(await opened.store.create(storedWidget('a')))
    expect((await objectRecords()).map(passes)).toEqual([true, true])
  })
})
