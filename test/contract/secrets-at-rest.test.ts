import { randomBytes } from 'node:crypto'
import { copyFileSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prepareSecrets } from '../../shared/adapters/local/secrets/prepare-secrets.ts'
import type { GuardOptions } from '../../shared/adapters/local/sqlite/guard/guarded-database.ts'
import { checkDatabase } from '../../shared/adapters/local/sqlite/guard/check.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import type { DamagedObjectError } from '../../shared/model/errors.ts'
import { keyOf } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import { openGuardedPorts, type GuardedPorts } from '../../shared/runtime/local/ports.ts'
import type { ChangeBatch } from '../../shared/ports/change-feed.ts'
import { expectCode } from '../support/expect-code.ts'
import { storedWidget, widgetKind } from '../support/stored-object.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../support/temporary-directory.ts'

let directory: TemporaryDirectory
beforeEach(() => {
  directory = temporaryDirectory('secrets')
})
afterEach(() => directory[Symbol.dispose]())

const at = (name: string): string => join(directory.path, name)
const secretKind = { group: '', kind: 'Secret' } as const
const secrets = (): { readonly keyFile: string } => ({ keyFile: at('secrets.key') })

function open(options: GuardOptions = {}): GuardedPorts {
  return openGuardedPorts(at('setpoint.db'), systemClock, { secrets: secrets(), ...options })
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const needle = 'needle-in-the-hay'

function secret(name: string, value = needle): StoredObject {
  const { object, engine } = storedWidget(name, {
    annotations: { [lastApplied]: `{"stringData":{"a":"${value}"}}`, kept: 'x' },
  })
  const { spec: _, ...rest } = object
  return { object: { ...rest, apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data: { a: btoa(value) } }, engine }
}

/** Files in which the value stands, in clear or in base64. */
function tellTales(...values: readonly string[]): readonly string[] {
  const texts = values.flatMap((value) => [value, btoa(value)])
  return readdirSync(directory.path).filter((name) => texts.some((text) => readFileSync(at(name)).includes(text)))
}

describe('a Secret', () => {
  it('is what it was for who reads it, and unreadable in every file, from its creation to its end', async () => {
    const { store, feed, close } = open()
    const start = await feed.latest()
    const created = await store.create(secret('a'))
    expect(created.object).toMatchObject(
      secret('a', needle).object['data'] === undefined ? {} : { data: { a: btoa(needle) } },
    )
    expect(tellTales(needle)).toEqual([])
    expect(await store.get(keyOf(created.object))).toEqual(created)
    expect((await store.list(secretKind)).items).toEqual([created])
    const replaced = await store.replace(
      { ...created, object: { ...created.object, data: { a: btoa('other-needle') } } },
      ['spec'],
    )
    expect(await store.get(keyOf(created.object))).toEqual(replaced)
    const removed = await store.remove(replaced)
    expect(removed.object['data']).toEqual({ a: btoa('other-needle') })

    const { signal } = new AbortController()
    for (const kind of [undefined, secretKind]) {
      const follow = feed.follow({ after: start, signal, ...(kind && { of: kind }) })[Symbol.asyncIterator]()
      const { value } = (await follow.next()) as IteratorYieldResult<ChangeBatch>
      expect(value.changes.map(({ stored }) => stored)).toEqual([created, replaced, removed])
      expect(value.changes.map(({ before }) => before)).toEqual([undefined, created, replaced])
    }
    expect(tellTales(needle, 'other-needle')).toEqual([])
    close()
    expect(tellTales(needle, 'other-needle')).toEqual([])
    expect((statSync(at('secrets.key')).mode & 0o777).toString(8)).toBe('600')
  })

  it('may be as large as any object', async () => {
    const { store, close } = open()
    const { object, engine } = storedWidget('large')
    const { spec: _, ...rest } = object
    const data = { a: randomBytes(262_000).toString('base64') }
    const created = await store.create({ object: { ...rest, apiVersion: 'v1', kind: 'Secret', data }, engine })
    expect(await store.get(keyOf(created.object))).toEqual(created)
    close()
  })

  it('may be no larger than any object, however short it is when it is sealed, and goes all the same', async () => {
    const { store, close } = open()
    const large = (object: StoredObject['object']): StoredObject['object'] => ({
      ...object,
      data: { a: 'A'.repeat(400_000) },
    })
    const given = secret('large')
    await expectCode(store.create({ ...given, object: large(given.object) }), 'TOO_LARGE')
    const { object, engine } = await store.create(given)
    await expectCode(store.replace({ object: large(object), engine }, ['fields']), 'TOO_LARGE')
    const ending = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const ended = await store.replace({ object: large(ending), engine }, ['delete'])
    expect((await store.remove(ended)).object['data']).toEqual(large(object)['data'])
    close()
  })

  it('cannot be given the value of another one', async () => {
    const ports = open()
    const [a, b] = [await ports.store.create(secret('a')), await ports.store.create(secret('b', 'mine'))]
    ports.close()
    const raw = new DatabaseSync(at('setpoint.db'))
    const dataOf = '(SELECT json_extract(doc, \'$.data\') FROM changes WHERE doc LIKE \'%"name":"a"%\')'
    raw.exec(`UPDATE changes SET sum = NULL, doc = json_set(doc, '$.data', ${dataOf}) WHERE doc LIKE '%"name":"b"%'`)
    raw.close()
    const { store, quarantine, close } = open()
    expect(await store.get(keyOf(a.object))).toEqual(a)
    await expectCode(store.get(keyOf(b.object)), 'DAMAGED')
    expect(await store.list(secretKind)).toMatchObject({ items: [a], damaged: [keyOf(b.object)] })
    expect(quarantine?.keys()).toEqual([keyOf(b.object)])
    close()
  })
})

describe('a directory of an earlier version', () => {
  it('has its Secrets encrypted by the first start, in old states and freed pages too', async () => {
    const before = open({ secrets: undefined })
    const kept = await before.store.create(secret('a', 'first-needle'))
    const now = await before.store.replace({ ...kept, object: { ...kept.object, data: { a: btoa(needle) } } }, ['spec'])
    for (let i = 0; i < 50; i++)
      await before.store.remove(await before.store.create(secret(`gone${i}`, 'third-needle')))
    const widget = await before.store.create(storedWidget('w'))
    before.close()
    expect(tellTales(needle, 'first-needle', 'third-needle')).toEqual(['setpoint.db'])

    const { store, close } = open()
    expect(tellTales(needle, 'first-needle', 'third-needle')).toEqual([])
    expect(await store.get(keyOf(now.object))).toEqual(now)
    expect(await store.get(keyOf(widget.object))).toEqual(widget)
    close()
    expect(tellTales(needle, 'first-needle', 'third-needle')).toEqual([])
    expect(checkDatabase(at('setpoint.db'), { secrets: secrets() }).flatMap(({ problems }) => problems)).toEqual([])
  })
})

it('nothing stays readable of Secrets that were all deleted', async () => {
  const before = open({ secrets: undefined })
  for (let i = 0; i < 50; i++) await before.store.remove(await before.store.create(secret(`gone${i}`)))
  await before.store.create(storedWidget('w'))
  before.close()
  const raw = new DatabaseSync(at('setpoint.db'))
  raw.exec("DELETE FROM changes WHERE kind = (SELECT id FROM kinds WHERE kind = 'Secret')")
  raw.close()
  expect(tellTales(needle)).toEqual(['setpoint.db'])
  open().close()
  expect(tellTales(needle)).toEqual([])
})

describe('a start that was cut off', () => {
  it('between the last commit and the new file leaves nothing readable to the next one', async () => {
    const before = open({ secrets: undefined })
    for (let i = 0; i < 50; i++) await before.store.remove(await before.store.create(secret(`gone${i}`)))
    const kept = await before.store.create(secret('a', 'first-needle'))
    before.close()
    const raw = new DatabaseSync(at('setpoint.db'))
    const untilVacuum = {
      prepare: (sql: string) => {
        if (sql === 'VACUUM') throw new Error('killed')
        return raw.prepare(sql)
      },
    }
    const noKey: string | undefined = undefined
    expect(() => prepareSecrets(untilVacuum as never, secrets(), noKey)).toThrow('killed')
    raw.close()
    expect(tellTales(needle)).toEqual(['setpoint.db'])

    const { store, close } = open()
    expect(await store.get(keyOf(kept.object))).toEqual(kept)
    close()
    expect(tellTales(needle, 'first-needle')).toEqual([])
  })
})

describe('another key', () => {
  it('takes the place of the one before, of which nothing is left', async () => {
    const first = open()
    const created = await first.store.create(secret('a'))
    const damaged = await first.store.create(storedWidget('w'))
    first.close()
    const old = readFileSync(at('secrets.key'), 'utf8')
    const rotated = open({ secrets: { ...secrets(), rotateKey: true } })
    expect(await rotated.store.get(keyOf(created.object))).toEqual(created)
    expect(await rotated.store.get(keyOf(damaged.object))).toEqual(damaged)
    rotated.close()
    const now = readFileSync(at('secrets.key'), 'utf8')
    expect(now).not.toContain(old.trim())
    expect(now).toMatch(/^\S{44}\n$/)
    const second = open()
    expect(await second.store.get(keyOf(created.object))).toEqual(created)
    second.close()
  })

  it('makes no damaged Secret look whole, and the key of before is kept for it, which the log says', async () => {
    const first = open()
    const [b, a] = [await first.store.create(secret('b')), await first.store.create(secret('a'))]
    first.close()
    const old = readFileSync(at('secrets.key'), 'utf8').trim()
    const raw = (sql: string): void => {
      using database = new DatabaseSync(at('setpoint.db'))
      database.exec(sql)
    }
    raw(`UPDATE changes SET doc = replace(doc, '"kept":"x"', '"kept":"y"') WHERE doc LIKE '%"name":"b"%'`)

    const kept = 'secrets.key keeps a key of before, for states of Secrets that cannot be read'
    for (const [rotateKey, says] of [
      [true, `states of Secrets that cannot be read, and were not encrypted anew: 1; ${kept}`],
      [false, kept],
    ] as const) {
      const { store, listen, close } = open({ secrets: { ...secrets(), rotateKey } })
      const told: unknown[] = []
      listen((news) => told.push(news))
      expect(told).toEqual([{ level: 'warn', says }])
      expect(await store.get(keyOf(a.object))).toEqual(a)
      await expectCode(store.get(keyOf(b.object)), 'DAMAGED')
      close()
      const [now, before, ...others] = readFileSync(at('secrets.key'), 'utf8').trim().split('\n')
      expect(now).not.toBe(old)
      expect([before, others]).toEqual([old, []])
    }

    raw('DELETE FROM changes WHERE rv = 2; DELETE FROM heads WHERE rv = 2; DELETE FROM objects WHERE id = 1')
    open().close()
    expect(readFileSync(at('secrets.key'), 'utf8')).toMatch(/^\S{44}\n$/)
  })

  it('is gone on with where it was broken off', async () => {
    const first = open()
    const created = await first.store.create(secret('a'))
    first.close()
    const old = readFileSync(at('secrets.key'), 'utf8')
    // Written ahead of all else; then the process was killed.
    writeFileSync(at('secrets.key'), `${randomBytes(32).toString('base64')}\n${old}`)
    const second = open()
    expect(await second.store.get(keyOf(created.object))).toEqual(created)
    second.close()
    expect(readFileSync(at('secrets.key'), 'utf8')).not.toContain(old)
  })
})

describe('a key file that is lost', () => {
  function copyOver(file: string): void {
    copyFileSync(file, at('copy'))
    renameSync(at('copy'), file)
  }

  it.each([
    ['a copy', () => copyOver(at('setpoint.db')), 'setpoint.db is a copy of the file that was started last'],
    ['a loss', () => writeFileSync(at('setpoint.mark'), ''), 'setpoint.mark is damaged: whether changes are lost'],
  ])('is told beside %s, so that it can be put back before Secrets are lost', async (_, harm, says) => {
    const first = open()
    const created = await first.store.create(secret('a'))
    first.close()
    harm()
    renameSync(at('secrets.key'), at('away'))
    expect(() => open()).toThrow(says)
    expect(() => open()).toThrow('; secrets.key is missing: the Secrets cannot be decrypted: put the files back')
    renameSync(at('away'), at('secrets.key'))
    expect(() => open()).toThrow(/^(?!.*secrets\.key)/)
    const { store, close, accepted } = open({ consent: 'as-copy' })
    expect(accepted).toEqual([expect.stringContaining(says)])
    expect(await store.get(keyOf(created.object))).toEqual(created)
    close()
    rmSync(at('secrets.key'))
    const unread = open({ consent: 'accept-loss' })
    expect(unread.accepted).toEqual(['secrets.key is missing: the Secrets cannot be decrypted'])
    unread.close()
  })

  it.each([
    ['missing', () => rmSync(at('secrets.key')), 'secrets.key is missing: the Secrets cannot be decrypted'],
    [
      'damaged',
      () => writeFileSync(at('secrets.key'), 'x\n'),
      'secrets.key is damaged: the Secrets cannot be decrypted',
    ],
    [
      'another',
      () => writeFileSync(at('secrets.key'), `${randomBytes(32).toString('base64')}\n`),
      'secrets.key holds another key than the one of the Secrets',
    ],
  ])('as it is %s, is told; without it Secrets are damaged, and all else goes on', async (_, lose, says) => {
    const first = open()
    const created = await first.store.create(secret('a'))
    const widget = await first.store.create(storedWidget('w'))
    first.close()
    const key = readFileSync(at('secrets.key'))
    lose()
    expect(() => open()).toThrow(says)
    expect(readFileSync('docs/damage.md', 'utf8')).toContain(`| \`${says}\` |`)
    expect(checkDatabase(at('setpoint.db'), { secrets: secrets() }).flatMap(({ problems }) => problems)[0]).toBe(says)
    writeFileSync(at('secrets.key'), key)
    open().close()
    lose()

    const { store, close } = open({ consent: 'accept-loss' })
    const error = await Promise.resolve(store.get(keyOf(created.object))).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'DAMAGED' })
    expect((await store.list(widgetKind)).items).toEqual([widget])
    const { object } = storedWidget('a', (error as DamagedObjectError).remains)
    await store.remove({ object: { ...object, apiVersion: 'v1', kind: 'Secret' }, engine: {} })
    const anew = await store.create(secret('a'))
    close()
    const second = open()
    expect(await second.store.get(keyOf(anew.object))).toEqual(anew)
    second.close()
  })
})
