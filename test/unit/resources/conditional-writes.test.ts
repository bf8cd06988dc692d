import { describe, expect, it } from 'vitest'
import type { AdmissionHooks } from '../../../shared/model/admission-hooks.ts'
import { UnpreparedError, type Conversion } from '../../../shared/model/conversion.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import { keyOf, keyText, type ObjectKey } from '../../../shared/model/object-key.ts'
import type { ApiObject, ObjectMeta } from '../../../shared/model/object.ts'
import { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import {
  createConditionalWrites,
  keyIn,
  type ChangePlan,
  type ErasePlan,
} from '../../../shared/resources/conditional-writes.ts'
import { collectKindFunctions, convertReads } from '../../../shared/resources/converted-reads.ts'
import type { Mutated, PolicyReview, Reviewed, ReviewedPath } from '../../../shared/resources/policy-review.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

const sized = (field: string) => ({
  type: 'object' as const,
  properties: {
    spec: {
      type: 'object' as const,
      properties: { [field]: { type: 'integer' as const, maximum: 100 } },
    },
    status: { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true as const },
  },
})
const kind: ServedKind = {
  ...defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema: sized('size') }),
  builtIn: false,
  hasStatus: true,
}

const at = { namespace: 'n', name: 'a' }
const user = { name: 'ann', groups: [] }

function objectOf(size: number, metadata: Partial<ObjectMeta> = {}): ApiObject {
  const meta = { ...at, uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-11-01T00:00:00Z' }
  return { apiVersion: 'g.dev/v1', kind: 'K', metadata: { ...meta, ...metadata }, spec: { size } }
}

const deleted = { deletionTimestamp: '2026-11-01T00:00:00Z' }
const held = { finalizers: ['x.dev/y'] }

function withSize(object: ApiObject, size: number): ApiObject {
  const { generation } = object.metadata
  return { ...object, metadata: { ...object.metadata, generation: generation + 1 }, spec: { size } }
}

function tooLarge(object: ApiObject): ApiObject {
  return { ...object, status: { note: 'x'.repeat(350 * 1_024) } }
}

const isTooLarge = /^TOO_LARGE: K \w would take \d+ bytes, the limit is 358400$/

interface World {
  readonly live?: ApiObject
  readonly policies?: Partial<PolicyReview>
  readonly hooks?: AdmissionHooks
  readonly kind?: ServedKind
  /** How the next writes fail. */
  readonly fails?: readonly OperatingError[]
  readonly isAsync?: boolean
  /** How reads fail. */
  readonly readFails?: Error | undefined
}

function open(given: World = {}) {
  const objects = new Map<string, StoredObject>()
  const live: StoredObject = { object: given.live ?? objectOf(1), engine: {} }
  objects.set(keyText(keyOf(live.object)), live)
  const did: string[] = []
  const fails = [...(given.fails ?? [])]
  const write = (what: string, stored: StoredObject): StoredObject => {
    did.push(what)
    const failure = fails.shift()
    if (failure !== undefined) throw failure
    const metadata = { ...stored.object.metadata, resourceVersion: '2' }
    return { ...stored, object: { ...stored.object, metadata } }
  }
  const store = {
    get: (key: ObjectKey) => {
      if (given.readFails !== undefined) throw given.readFails
      return objects.get(keyText(key))
    },
    create: async (stored: StoredObject) => write('create', stored),
    replace: async (stored: StoredObject, touched: readonly string[]) => write(`replace ${touched.join()}`, stored),
    remove: async (stored: StoredObject) => write('remove', stored),
  } as unknown as ObjectStore
  const clock = createVirtualClock(1_000_000)
  const around = { nowMs: 1_000_000 }
  const asked: (Reviewed & { readonly by: string })[] = []
  const policies = given.policies && {
    mutate: (one: Reviewed) => {
      asked.push({ ...one, by: 'mutate' })
      return given.policies?.mutate?.(one)
    },
    review: (one: Reviewed) => {
      asked.push({ ...one, by: 'review' })
      return given.policies?.review?.(one)
    },
  }
  const served = given.kind?.conversion ? convertReads(store, collectKindFunctions([given.kind])) : store
  const writes = createConditionalWrites({
    store: served,
    clock,
    surroundings: () => (given.isAsync === true ? Promise.resolve(around) : around),
    ...(policies && { policies }),
  })
  const whole = { ...(given.kind ?? kind), ...(given.hooks && { hooks: given.hooks }) }
  const change = (plan: Partial<ChangePlan> = {}) =>
    writes.change(whole, at, {
      next: ({ object }) => ({ object: withSize(object, 2), warnings: ['planned'] }),
      namesVersion: false,
      dryRun: false,
      manager: 'm',
      ...plan,
    })
  const erase = (plan: Partial<ErasePlan> = {}) =>
    writes.erase(whole, at, {
      mark: (object) => ({ ...object, metadata: { ...object.metadata, ...deleted } }),
      dryRun: false,
      by: { manager: 'm', nowMs: 5 },
      ...plan,
    })
  return { writes, live, did, asked, change, erase, kind: whole }
}

async function endOf(work: unknown): Promise<unknown> {
  try {
    await work
    return 'done'
  } catch (error) {
    return error instanceof OperatingError ? `${error.code}: ${error.message}` : error
  }
}

const conflict = () => new OperatingError('VERSION_CONFLICT', 'no')
const overtaken =
  'VERSION_CONFLICT: Operation cannot be fulfilled on ks.g.dev "a": the object has been modified; please apply your changes to the latest version and try again'

describe('an object', () => {
  it('is found, or said not to be there', async () => {
    const { writes, live } = open()
    expect(await writes.find(kind, at)).toBe(live)
    expect(await endOf((async () => writes.find(kind, { ...at, name: 'b' }))())).toBe(
      'NOT_FOUND: ks.g.dev "b" not found',
    )
  })

  it.each([
    [true, { namespace: 'n', name: 'a' }, 'n'],
    [true, { name: 'a' }, ''],
    [false, { namespace: 'n', name: 'a' }, ''],
  ])('of a kind that is namespaced: %s, at %j has the namespace %j', (namespaced, place, namespace) => {
    expect(keyIn({ ...kind, namespaced }, place)).toEqual({ group: 'g.dev', kind: 'K', namespace, name: 'a' })
  })
})

describe('a creation', () => {
  const other = { object: objectOf(1, { name: 'b' }), engine: {} }

  it('is one write', async () => {
    const { writes, did } = open()
    expect((await writes.insert(kind, other, false)).object.metadata.resourceVersion).toBe('2')
    expect(did).toEqual(['create'])
  })

  it('that is a rehearsal writes nothing, and has no version', async () => {
    const { writes, did } = open()
    const { resourceVersion: _, ...metadata } = other.object.metadata
    expect(await writes.insert(kind, other, true)).toStrictEqual({ ...other, object: { ...other.object, metadata } })
    expect(did).toEqual([])
  })

  it('of what is too large is refused, in a rehearsal, too', async () => {
    const { writes } = open()
    expect(await endOf(writes.insert(kind, { ...other, object: tooLarge(other.object) }, true))).toMatch(isTooLarge)
  })

  it('of an object that exists is refused, in a rehearsal too; any other failure is passed on', async () => {
    const odd = new OperatingError('TOO_LARGE', 'large')
    const { writes, live } = open({ fails: [new OperatingError('ALREADY_EXISTS', 'x'), odd] })
    const refused = 'ALREADY_EXISTS: ks.g.dev "a" already exists'
    expect(await endOf(writes.insert(kind, live, true))).toBe(refused)
    expect(await endOf(writes.insert(kind, live, false))).toBe(refused)
    expect(await endOf(writes.insert(kind, live, false))).toBe('TOO_LARGE: large')
  })

  it.each([false, true])('of an object that is being deleted is told so (dry: %s)', async (dryRun) => {
    const fails = [new OperatingError('ALREADY_EXISTS', 'x')]
    const { writes, live } = open({ live: objectOf(1, { ...deleted, ...held }), fails })
    const refused = 'ALREADY_EXISTS: object is being deleted: ks.g.dev "a" already exists'
    expect(await endOf(writes.insert(kind, live, dryRun))).toBe(refused)
  })

  it('is refused though the object that exists is damaged, or gone by now', async () => {
    const fails = [new OperatingError('ALREADY_EXISTS', 'x')]
    const refused = 'ALREADY_EXISTS: ks.g.dev "b" already exists'
    for (const readFails of [undefined, new OperatingError('DAMAGED', 'torn')])
      expect(await endOf(open({ fails, readFails }).writes.insert(kind, other, false))).toBe(refused)
    const bug = new TypeError('a bug')
    expect(await endOf(open({ fails, readFails: bug }).writes.insert(kind, other, false))).toBe(bug)
  })
})

describe('a change', () => {
  it.each([false, true])(
    'is one write of the next state (surroundings that have to be waited for: %s)',
    async (isAsync) => {
      const { change, live, did } = open({ isAsync })
      const { stored, ...written } = await change()
      expect(written).toEqual({ outcome: 'updated', warnings: ['planned'], before: live })
      expect(stored.object).toMatchObject({ spec: { size: 2 }, metadata: { resourceVersion: '2' } })
      expect(stored.engine.change).toMatchObject({ by: 'm', atMs: 1_000_000, verb: 'changed' })
      expect(did).toEqual(['replace spec'])
    },
  )

  it('that changes nothing is none, and needs no permission', async () => {
    const { change, live, did } = open()
    const permit = () => expect.fail('nobody is asked')
    const written = await change({ next: ({ object }) => ({ object, warnings: [] }), permit })
    expect(written).toEqual({ stored: live, outcome: 'unchanged', warnings: [] })
    expect(written.stored).toBe(live)
    expect(did).toEqual([])
  })

  it('that is a rehearsal writes nothing', async () => {
    const { change, live, did } = open()
    const { stored, ...written } = await change({ dryRun: true })
    expect([written, stored.object.spec]).toEqual([
      { outcome: 'updated', warnings: ['planned'], before: live },
      { size: 2 },
    ])
    expect(did).toEqual([])
  })

  it('that makes the object too large is refused, in a rehearsal, too', async () => {
    const next = ({ object }: StoredObject) => ({ object: tooLarge(object), warnings: [] })
    expect(await endOf(open().change({ dryRun: true, next }))).toMatch(isTooLarge)
  })

  it('that nobody permits is not written', async () => {
    const { change, did } = open()
    const seen: unknown[] = []
    const permit = (next: ApiObject, old?: ApiObject): never => {
      seen.push([next.spec, old?.spec])
      throw new OperatingError('FORBIDDEN', 'no')
    }
    expect(await endOf(change({ permit }))).toBe('FORBIDDEN: no')
    expect([seen, did]).toEqual([[[{ size: 2 }, { size: 1 }]], []])
  })

  it('that does not fit the schema is refused', async () => {
    const next = ({ object }: StoredObject) => ({ object: withSize(object, 101), warnings: [] })
    expect(await endOf(open().change({ next }))).toMatch('INVALID')
  })

  it('that takes the last finalizer of what is deleted removes it', async () => {
    const { change, did } = open({ live: objectOf(1, { ...deleted, ...held }) })
    const next = ({ object }: StoredObject) => ({
      object: { ...object, metadata: { ...object.metadata, finalizers: [] } },
      warnings: [],
    })
    await change({ next })
    expect(did).toEqual(['remove'])
  })

  it.each<[string, boolean, readonly OperatingError[], unknown, number]>([
    ['is made again where another writer was ahead', false, [conflict()], 'done', 2],
    ['is the writer’s to make again where they named the version', true, [conflict()], overtaken, 1],
    ['is given up where others are ahead ten times', false, Array.from({ length: 10 }, conflict), overtaken, 10],
    ['of what is gone by now', false, [new OperatingError('NOT_FOUND', 'x')], 'NOT_FOUND: ks.g.dev "a" not found', 1],
    [
      'is refused in the words of who knows more',
      true,
      [new OperatingError('VERSION_CONFLICT', 'other uid', { details: { name: 'a' } })],
      'VERSION_CONFLICT: other uid',
      1,
    ],
    ['that fails otherwise says so', false, [new OperatingError('TOO_LARGE', 'large')], 'TOO_LARGE: large', 1],
  ])('%s', async (...row) => {
    const [, namesVersion, fails, end, writes] = row
    const { change, did } = open({ fails })
    expect(await endOf(change({ namesVersion }))).toBe(end)
    expect(did).toHaveLength(writes)
  })

  it('of another object than is meant is refused by one look', async () => {
    let looks = 0
    const next = (): never => {
      looks++
      throw new OperatingError('VERSION_CONFLICT', 'it is another', { details: { name: 'a' } })
    }
    expect(await endOf(open().change({ next }))).toBe('VERSION_CONFLICT: it is another')
    expect(looks).toBe(1)
  })

  it('of what is not there says so', async () => {
    const { writes } = open()
    const plan = { next: () => expect.fail('there is nothing'), namesVersion: false, dryRun: false, manager: 'm' }
    expect(await endOf(writes.change(kind, { ...at, name: 'b' }, plan))).toBe('NOT_FOUND: ks.g.dev "b" not found')
  })
})

describe('a change that is refused for what it names', () => {
  it('says that this is not there, and not the object itself', async () => {
    const permit = () => {
      throw new OperatingError('NOT_FOUND', 'roles "r" not found', { details: { name: 'r', kind: 'roles' } })
    }
    const { change, did } = open()
    expect(await endOf(change({ permit }))).toBe('NOT_FOUND: roles "r" not found')
    expect(did).toEqual([])
  })
})

describe('policies and a change', () => {
  it('are asked with all that is known, before and after what they make of it', async () => {
    const review = async () => ['reviewed']
    const mutate = async ({ object }: Reviewed): Promise<Mutated> => ({
      object: withSize(object as ApiObject, 7),
      warnings: ['mutated'],
    })
    const { change, asked, kind: whole } = open({ policies: { mutate, review } })
    const annotate = () => {}
    const written = await change({ user, annotate, said: { a: 1 } })
    expect(written.warnings).toEqual(['planned', 'mutated', 'reviewed'])
    expect(written.stored.object.spec).toEqual({ size: 7 })
    const told = { operation: 'UPDATE', subresource: '', user, annotate, said: { a: 1 }, dryRun: false, kind: whole }
    expect(asked).toMatchObject([
      { by: 'mutate', ...told, object: { spec: { size: 2 } }, old: { spec: { size: 1 } } },
      { by: 'review', ...told, object: { spec: { size: 7 } }, old: { spec: { size: 1 } } },
    ])
    expect(asked.map(({ budget }) => budget instanceof AdmissionBudget)).toEqual([true, true])
    expect(asked[0]?.budget).toBe(asked[1]?.budget)
  })

  it('are not asked of what nobody asks for', async () => {
    const { change, asked, did } = open({ policies: {} })
    await change()
    expect([asked, did]).toEqual([[], ['replace spec']])
  })

  it('that are none let everything through', async () => {
    const { change, did } = open()
    expect((await change({ user })).warnings).toEqual(['planned'])
    expect(did).toEqual(['replace spec'])
  })

  it('are asked of a write that changes nothing, and keep it back', async () => {
    const review = async (): Promise<never> => Promise.reject(new OperatingError('FORBIDDEN', 'no'))
    const { change, asked } = open({ policies: { review } })
    const next = ({ object }: StoredObject) => ({ object, warnings: [] })
    expect(await endOf(change({ user, next }))).toBe('FORBIDDEN: no')
    expect(asked.map(({ by }) => by)).toEqual(['mutate', 'review'])
  })

  it('have one budget, however often the write is tried', async () => {
    let tries = 0
    const mutate = ({ budget }: Reviewed): undefined => {
      if (++tries > 1) budget?.spend(2_000_000)
    }
    const { change } = open({ policies: { mutate }, fails: [conflict()] })
    expect(await endOf(change({ user }))).toBe(overtaken)
    expect(tries).toBe(10)
    tries = 1
    expect(await endOf(open({ policies: { mutate } }).change({ user }))).toMatch('TOO_LARGE')
  })

  it('see what is written by a path of its own, and what they make of that is taken over', async () => {
    const scale = { ...kind, kind: 'Scale', plural: 'scales' }
    const path: ReviewedPath = {
      subresource: 'scale',
      kind: scale,
      show: ({ spec, ...object }) => ({ ...object, kind: 'Scale', spec: { shown: spec?.['size'] ?? null } }),
      absorb: (object, shown) => withSize(object, shown.spec?.['shown'] as number),
    }
    const mutate = async ({ object }: Reviewed): Promise<Mutated> => ({
      object: { ...(object as ApiObject), spec: { shown: 9 } },
      warnings: [],
    })
    const { change, asked, kind: whole } = open({ policies: { mutate } })
    expect((await change({ user, path })).stored.object.spec).toEqual({ size: 9 })
    const told = { kind: scale, resource: whole, subresource: 'scale', old: { spec: { shown: 1 } } }
    expect(asked).toMatchObject([
      { ...told, object: { spec: { shown: 2 } } },
      { ...told, object: { spec: { shown: 9 } } },
    ])
    const idle = open({ policies: { mutate: async () => ({ warnings: ['w'] }) } })
    const written = await idle.change({ user, path })
    expect([written.stored.object.spec, written.warnings]).toEqual([{ size: 2 }, ['planned', 'w']])
  })
})

describe('hooks of a kind', () => {
  it('are asked of a change that concerns them, and what they add is stored', async () => {
    const hooks = { default: () => ({ labels: { by: 'hook' } }) }
    const { change, did } = open({ hooks })
    const { stored, warnings } = await change({ user })
    expect(stored.object).toMatchObject({ spec: { size: 2 }, metadata: { labels: { by: 'hook' } } })
    expect([warnings, did]).toEqual([['planned'], ['replace spec,labels']])
  })

  it('warn the writer, who sees the version that is stored', async () => {
    const hooks: AdmissionHooks = { validate: (_object, { warn }) => warn('hooked') }
    const { change, asked } = open({ hooks, policies: {} })
    expect((await change({ user })).warnings).toEqual(['planned', 'hooked'])
    expect(asked[1]).toMatchObject({ kind: { version: 'v1' }, requested: { kind: 'K' }, object: { spec: { size: 2 } } })
  })

  it('are not asked of what is not theirs', async () => {
    const hooks = { validate: () => expect.fail('it is not asked') }
    const next = ({ object }: StoredObject) => ({ object: { ...object, status: { done: true } }, warnings: [] })
    const { change, did } = open({ hooks })
    await change({ next })
    expect(did).toEqual(['replace status'])
  })

  it('are asked about a deletion that somebody asks for, once', async () => {
    const seen: unknown[] = []
    const hooks: AdmissionHooks = {
      validate: ({ spec }, { operation, user: by, dryRun }) => void seen.push([spec, operation, by.name, dryRun]),
    }
    await open({ hooks }).erase({ user, dryRun: true })
    expect(seen).toEqual([[{ size: 1 }, 'DELETE', 'ann', true]])
    await open({ hooks }).erase()
    await open({ hooks, live: objectOf(1, deleted) }).erase({ user })
    expect(seen).toHaveLength(1)
    const refusing = { validate: () => ['it stays'] }
    const { erase, did } = open({ hooks: refusing })
    expect(await endOf(erase({ user }))).toMatch('it stays')
    expect(did).toEqual([])
  })
})

describe('a deletion', () => {
  it.each<[string, Partial<ObjectMeta>, boolean, readonly string[], boolean]>([
    ['removes what nobody holds', {}, false, ['remove'], true],
    ['marks what somebody holds', held, false, ['replace delete'], false],
    ['removes what is marked, and nobody holds', deleted, false, ['remove'], true],
    ['leaves what is marked, and somebody holds', { ...deleted, ...held }, false, [], false],
    ['that is a rehearsal writes nothing', {}, true, [], true],
    ['that is a rehearsal marks nothing', held, true, [], false],
  ])('%s', async (...row) => {
    const [, metadata, dryRun, writes, isGone] = row
    const { erase, did } = open({ live: objectOf(1, metadata) })
    const { stored, gone } = await erase({ dryRun })
    expect([did, gone]).toEqual([writes, isGone])
    expect(stored.object.metadata.deletionTimestamp).toBe(deleted.deletionTimestamp)
  })

  it('notes who asked for it', async () => {
    const mark = (object: ApiObject) => withSize({ ...object, metadata: { ...object.metadata, ...deleted } }, 1)
    const { stored } = await open({ live: objectOf(1, held) }).erase({ mark })
    expect(stored.engine.change).toMatchObject({ by: 'm', atMs: 5, verb: 'deleted' })
  })

  it('is made again where another writer was ahead, with one budget', async () => {
    const { erase, did } = open({ fails: [conflict()] })
    await erase()
    expect(did).toEqual(['remove', 'remove'])
    let tries = 0
    const mutate = ({ budget }: Reviewed): undefined => {
      if (++tries > 1) budget?.spend(2_000_000)
    }
    const { erase: eraseAgain } = open({ policies: { mutate }, fails: [conflict()] })
    expect([await endOf(eraseAgain({ user })), tries]).toEqual([overtaken, 10])
  })

  it('of another object than is meant is refused by one look, and nobody is asked about it', async () => {
    let looks = 0
    const mark = (): never => {
      looks++
      throw new OperatingError('VERSION_CONFLICT', 'it is another', { details: { name: 'a' } })
    }
    const heard: string[] = []
    const hooks: AdmissionHooks = { validate: () => void heard.push('hook') }
    const { erase, asked, did } = open({ policies: {}, hooks })
    expect(await endOf(erase({ user, mark }))).toBe('VERSION_CONFLICT: it is another')
    expect([looks, heard, asked, did]).toEqual([1, [], [], []])
  })

  it('is held against policies if somebody asks for it, of what is marked, too', async () => {
    const annotate = () => {}
    for (const metadata of [{}, { ...deleted, ...held }]) {
      const { erase, asked, kind: whole } = open({ policies: {}, live: objectOf(1, metadata) })
      await erase({ user, annotate, said: { a: 1 }, dryRun: true })
      const told = { kind: whole, operation: 'DELETE', old: { spec: { size: 1 } }, subresource: '', dryRun: true }
      expect(asked).toMatchObject(['mutate', 'review'].map((by) => ({ by, ...told, user, annotate, said: { a: 1 } })))
      expect(asked.map((one) => 'object' in one)).toEqual([false, false])
    }
    const { erase, asked } = open({ policies: {} })
    await erase()
    expect(asked).toEqual([])
  })

  it.each(['mutate', 'review'])('that a policy denies when it is to %s is none', async (step) => {
    const deny = async (): Promise<never> => Promise.reject(new OperatingError('FORBIDDEN', 'no'))
    const { erase, did } = open({ policies: { [step]: deny } })
    expect(await endOf(erase({ user }))).toBe('FORBIDDEN: no')
    expect(did).toEqual([])
  })

  it('without policies needs no answer', async () => {
    const { erase, did } = open()
    await erase({ user })
    expect(did).toEqual(['remove'])
  })
})

describe('a kind of two versions', () => {
  /** v2 is stored, and v1 calls its size an amount. Whoever asks has to prepare it if that is said. */
  function versionsOf(mustPrepare = false) {
    const prepared = new Set<ApiObject>()
    const convert: Conversion['convert'] = (object, version) => {
      if (object.apiVersion === `g.dev/${version}`) return object
      if (mustPrepare && !prepared.has(object)) throw new UnpreparedError(object, version)
      const { size, amount } = (object.spec ?? {}) as { readonly size?: number; readonly amount?: number }
      const spec = version === 'v1' ? { amount: size ?? 0 } : { size: amount ?? 0 }
      return { ...object, apiVersion: `g.dev/${version}`, spec }
    }
    const prepare = async (objects: readonly ApiObject[]) => {
      for (const object of objects) prepared.add(object)
    }
    const conversion = {
      group: 'g.dev',
      kind: 'K',
      version: 'v2',
      schema: sized('size'),
      convert,
      ...(mustPrepare && { prepare }),
    } as unknown as Conversion
    const both = { ...kind, storageVersion: 'v2', conversion }
    const [v1, v2] = [
      { ...both, version: 'v1', schema: sized('amount') },
      { ...both, version: 'v2', schema: sized('size') },
    ]
    return { v1, v2 }
  }

  const stored = { ...objectOf(1), apiVersion: 'g.dev/v2' }

  it.each([false, true])('is changed in the version of the writer (that a server makes: %s)', async (mustPrepare) => {
    const { v1 } = versionsOf(mustPrepare)
    const { change, asked } = open({ kind: v1, live: stored, policies: {} })
    const next = ({ object }: StoredObject) => {
      expect(object).toMatchObject({ apiVersion: 'g.dev/v1', spec: { amount: 1 } })
      const metadata = { ...object.metadata, generation: 2 }
      return { object: { ...object, metadata, spec: { amount: 5 } }, warnings: [] }
    }
    const written = await change({ next, user })
    expect(written.stored.object).toMatchObject({ apiVersion: 'g.dev/v2', spec: { size: 5 } })
    expect(written.before?.object).toMatchObject({ apiVersion: 'g.dev/v1', spec: { amount: 1 } })
    expect(asked[1]).toMatchObject({ object: { spec: { amount: 5 } }, old: { spec: { amount: 1 } } })
  })

  it.each([
    ['in the version of who deletes', false, { apiVersion: 'g.dev/v1', spec: { amount: 1 } }],
    ['as it is stored, where a server would have to convert it', true, { apiVersion: 'g.dev/v2', spec: { size: 1 } }],
  ])('is given to policies %s', async (_, mustPrepare, old) => {
    const { v1 } = versionsOf(mustPrepare)
    const { erase, asked } = open({ kind: v1, live: stored, policies: {} })
    await erase({ user })
    expect(asked[0]?.old).toMatchObject(old)
  })

  const nothing = ({ object }: StoredObject) => ({ object, warnings: [] })

  it('is stored in the present version by a write that changes nothing, where it is stored in an older one', async () => {
    const { v2 } = versionsOf()
    const present = open({ kind: v2, live: stored })
    expect(await present.change({ next: nothing })).toMatchObject({ outcome: 'unchanged' })
    const older = open({ kind: v2, live: { ...stored, apiVersion: 'g.dev/v1', spec: { amount: 1 } } })
    const written = await older.change({ next: nothing })
    expect(written).toMatchObject({ outcome: 'updated', stored: { object: { apiVersion: 'g.dev/v2' } } })
    expect([present.did, older.did]).toEqual([[], ['replace fields']])
  })

  it('is written with what was touched, where it is stored in an older one', async () => {
    const { v2 } = versionsOf()
    const { change, did } = open({ kind: v2, live: { ...stored, apiVersion: 'g.dev/v1', spec: { amount: 1 } } })
    await change()
    expect(did).toEqual(['replace spec'])
  })

  it('that nobody converts is stored under its new name by a write that changes nothing else', async () => {
    const renamed = { ...kind, version: 'v2', storageVersion: 'v2' }
    const { change, did } = open({ kind: renamed })
    const next = ({ object }: StoredObject) => ({ object: { ...object, apiVersion: 'g.dev/v2' }, warnings: [] })
    await change({ next })
    expect(did).toEqual(['replace fields'])
  })
})

describe('defaults that came later', () => {
  const size = { type: 'integer' as const, default: 4 }
  const spec = { type: 'object' as const, properties: { size, more: size } }
  const later: ServedKind = { ...kind, schema: { type: 'object', properties: { spec } } }

  it('are there for the writer, and are stored with what is written', async () => {
    const { change, live } = open({ kind: later })
    const next = ({ object }: StoredObject) => {
      expect(object.spec).toEqual({ size: 1, more: 4 })
      return { object: { ...withSize(object, 2), spec: { size: 2, more: 4 } }, warnings: [] }
    }
    const written = await change({ next })
    expect(written.stored.object.spec).toEqual({ size: 2, more: 4 })
    expect(written.stored.engine.change?.fields).toEqual(['spec.size'])
    expect([written.before?.object.spec, live.object.spec]).toEqual([{ size: 1, more: 4 }, { size: 1 }])
  })
})

describe('an object that a later release has stored, in a version that the definition gets only with its first tick', () => {
  const known: ServedKind = { ...kind, versions: ['v1'] }
  const live: ApiObject = { ...objectOf(1), apiVersion: 'g.dev/v2', spec: { width: 1 } }

  it.each([
    ['a label', { metadata: { labels: { a: 'b' } } }, 'replace labels'],
    ['its status', { metadata: {}, status: { ready: true } }, 'replace status'],
  ])('stays in it when %s is written', async (_what, more, what) => {
    const { change, did } = open({ live, kind: known })
    const next = ({ object }: StoredObject) => ({
      object: { ...object, ...more, metadata: { ...object.metadata, ...more.metadata } },
      warnings: [],
    })
    const { stored } = await change({ next })
    expect([did, stored.object.apiVersion, stored.object['spec']]).toEqual([[what], 'g.dev/v2', { width: 1 }])
  })

  it('takes no spec', async () => {
    const { change, did } = open({ live, kind: known })
    expect([await endOf(change()), did]).toEqual([
      'CONVERSION_FAILED: K.g.dev "n/a" cannot be converted from v2 to v1: this release has no functions for that; deploy one that has both versions (olderVersions of defineKind)',
      [],
    ])
  })
})
