import { describe, expect, it } from 'vitest'
import { UnpreparedError, type Conversion } from '../../../shared/model/conversion.ts'
import { DamagedObjectError, OperatingError } from '../../../shared/model/errors.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject, ObjectMeta } from '../../../shared/model/object.ts'
import { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import type { Clock } from '../../../shared/ports/clock.ts'
import type { Random } from '../../../shared/ports/random.ts'
import { builtInKinds, namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { createResources, type ResourcesOptions } from '../../../shared/resources/create-resources.ts'
import type { Mutated, PolicyReview, Reviewed } from '../../../shared/resources/policy-review.ts'
import type { DeleteOptions, Patch, WriteOptions } from '../../../shared/resources/resources.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { createMapStore } from './map-store.ts'

const size = { type: 'object', properties: { size: { type: 'integer', maximum: 100 } } } as const
const list = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: { type: 'string' }, n: { type: 'integer' } } },
} as const
const schema: StructuralSchema = {
  type: 'object',
  properties: { spec: { ...size, properties: { ...size.properties, list } }, status: size },
}
const kind: ServedKind = {
  ...defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema }),
  builtIn: false,
  hasStatus: true,
}
/** A kind whose writers need name no version. */
const loose: ServedKind = { ...kind, builtIn: true }
const cluster: ServedKind = { ...kind, kind: 'C', plural: 'cs', namespaced: false }
const builtIn = (name: string) => builtInKinds.find((one) => one.kind === name) as ServedKind

const at = { namespace: 'n', name: 'a' }
const by = { manager: 'm' }
const user = { name: 'ann', groups: [] }

function objectOf(more: Partial<ApiObject> = {}, metadata: Partial<ObjectMeta> = {}): ApiObject {
  const meta = { ...at, uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-11-01T00:00:00Z' }
  return { apiVersion: 'g.dev/v1', kind: 'K', metadata: { ...meta, ...metadata }, spec: { size: 1 }, ...more }
}

function namespaceOf(name: string, metadata: Partial<ObjectMeta> = {}): ApiObject {
  const { namespace: _, ...meta } = objectOf({}, { name, ...metadata }).metadata
  return { apiVersion: 'v1', kind: 'Namespace', metadata: meta, spec: {} }
}

interface World {
  readonly before?: (request: string) => unknown
  readonly policies?: Partial<PolicyReview>
  readonly quotas?: ResourcesOptions['quotas']
  readonly next?: () => number
  readonly live?: ApiObject
  readonly clock?: Clock
  readonly mayOutliveKinds?: boolean
}

function open({ before, policies, quotas, next = () => 0.5, live, ...more }: World = {}) {
  const { clock = createVirtualClock(1_000_000), mayOutliveKinds } = more
  const store = createMapStore(before)
  store.put(namespaceOf('n'))
  store.put(namespaceOf('going', { deletionTimestamp: '2026-11-01T00:00:00Z', finalizers: ['x.dev/y'] }))
  if (live) store.put(live)
  const asked: (Reviewed & { readonly by: string })[] = []
  const note = (name: 'mutate' | 'review') => (one: Reviewed) => {
    asked.push({ ...one, by: name })
    return policies?.[name]?.(one) as never
  }
  const random: Random = { next, uuid: () => 'new' }
  const resources = createResources({
    store,
    clock,
    random,
    ...(quotas && { quotas }),
    ...(mayOutliveKinds !== undefined && { mayOutliveKinds }),
    ...(policies && { policies: { mutate: note('mutate'), review: note('review') } }),
  })
  return { store, asked, ...resources }
}

async function endOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
    return 'done'
  } catch (error) {
    return error instanceof OperatingError ? `${error.code}: ${error.message}` : error
  }
}

const bodyOf = (spec: JsonObject = { size: 2 }, metadata: JsonObject = {}) => ({
  metadata: { ...at, ...metadata },
  spec,
})
const applyOf = (body: JsonObject, force = false): Patch => ({ type: 'apply', body, force })
const mergeOf = (body: JsonObject): Patch => ({ type: 'merge', body })
const jsonOf = (...values: readonly (readonly [string, Json])[]): Patch => {
  return { type: 'json', body: values.map(([path, value]) => ({ op: 'replace', path, value })) }
}

describe('a creation', () => {
  it('is one write, of an object in a namespace that is looked at', async () => {
    const { create, store } = open()
    const { stored, ...written } = await create(kind, bodyOf(), by)
    expect(written).toEqual({ outcome: 'created', warnings: [] })
    const metadata = { name: 'a', namespace: 'n', uid: 'new', generation: 1, managedFields: [{ manager: 'm' }] }
    expect(stored.object).toMatchObject({ apiVersion: 'g.dev/v1', kind: 'K', metadata, spec: { size: 2 } })
    expect(stored.engine.change).toEqual({ atMs: 1_000_000, by: 'm', verb: 'created' })
    expect(store.asked).toEqual(['get Namespace n', 'create K n/a'])
  })

  it('of an object of the cluster looks at no namespace, and asks no quota', async () => {
    const { create, store } = open({ quotas: { reserve: () => expect.fail('it is in no namespace') } })
    const { stored } = await create(cluster, bodyOf(), by)
    expect(stored.object.metadata).not.toHaveProperty('namespace')
    expect(store.asked).toEqual(['create C a'])
  })

  it('that is a rehearsal writes nothing', async () => {
    const { create, store } = open()
    const { stored, outcome } = await create(kind, bodyOf(), { ...by, dryRun: true })
    expect([outcome, stored.object.spec, store.writes()]).toEqual(['created', { size: 2 }, []])
  })

  const nameless = 'INVALID: K.g.dev "" is invalid: metadata.name: Required value: name or generateName is required'
  it.each<[string, ServedKind, JsonObject, string]>([
    ['without metadata', kind, {}, nameless],
    ['without a name', kind, bodyOf({}, { name: '' }), nameless],
    ['without a name or a beginning', kind, bodyOf({}, { name: '', generateName: '' }), nameless],
    [
      'of what is not valid',
      kind,
      bodyOf({ size: 101 }),
      'INVALID: K.g.dev "a" is invalid: spec.size: Invalid value: 101',
    ],
    ['in a namespace that is not there', kind, bodyOf({}, { namespace: 'x' }), 'NOT_FOUND: namespaces "x" not found'],
    [
      'in a namespace that ends',
      kind,
      bodyOf({}, { namespace: 'going' }),
      'FORBIDDEN: ks.g.dev "a" is forbidden: unable to create new content in namespace going',
    ],
    [
      'of a kind that ends',
      { ...kind, isEnding: true },
      bodyOf(),
      'METHOD_NOT_ALLOWED: create not allowed while custom resource definition is terminating',
    ],
    ['of another kind', kind, { ...bodyOf(), kind: 'X' }, 'BAD_REQUEST: the object provided is g.dev/v1 X'],
  ])('%s is refused', async (_what, of, body, end) => {
    const { create, store } = open()
    expect(await endOf(create(of, body, by))).toContain(end)
    expect(store.writes()).toEqual([])
  })

  const definitionOf = (metadata: Partial<ObjectMeta>): ApiObject => {
    const { namespace: _, ...meta } = objectOf({}, { name: 'ks.g.dev', ...metadata }).metadata
    return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: meta, spec: {} }
  }
  const deletionTimestamp = '2026-11-01T00:00:00Z'
  const look = 'get CustomResourceDefinition ks.g.dev'
  const write = ['get Namespace n', 'create K n/a']
  it.each<{ what: string; of?: ServedKind; ms?: number; definition?: ApiObject; asked: readonly string[] }>([
    { what: 'two seconds', ms: 2_000, asked: write },
    { what: 'more, of a kind that is there', definition: definitionOf({}), asked: [look, ...write] },
    {
      what: 'more, of a kind that ends',
      definition: definitionOf({ deletionTimestamp, finalizers: ['x.dev/y'] }),
      asked: [look],
    },
    { what: 'more, of a kind that is gone', asked: [look] },
    { what: 'more, of a kind without a definition', of: loose, asked: write },
  ])('whose admission takes $what', async ({ of = kind, ms = 2_001, definition, asked }) => {
    const clock = createVirtualClock(1_000_000)
    const review = async (): Promise<readonly string[]> => {
      clock.moveTo(1_000_000 + ms)
      if (definition !== undefined) store.put(definition)
      return []
    }
    const { create, store } = open({ clock, policies: { review } })
    const terminating = 'METHOD_NOT_ALLOWED: create not allowed while custom resource definition is terminating'
    expect(await endOf(create(of, bodyOf(), { ...by, user }))).toBe(store.writes().length > 0 ? 'done' : terminating)
    expect(store.asked).toEqual(asked)
  })

  it.each<{ what: string; world: World; of?: ServedKind; definition?: ApiObject; asked: readonly string[] }>([
    { what: 'knows kinds no longer than a request', world: { mayOutliveKinds: false }, asked: write },
    { what: 'does not say how long it knows kinds', world: {}, asked: write },
    {
      what: 'may know a kind longer than it is there',
      world: { mayOutliveKinds: true },
      definition: definitionOf({}),
      asked: [look, ...write],
    },
    { what: 'knows a kind that is gone', world: { mayOutliveKinds: true }, asked: [look] },
    { what: 'knows a kind that is built in', world: { mayOutliveKinds: true }, of: loose, asked: write },
  ])('by a process that $what', async ({ world, of = kind, definition, asked }) => {
    const { create, store } = open(world)
    if (definition !== undefined) store.put(definition)
    const terminating = 'METHOD_NOT_ALLOWED: create not allowed while custom resource definition is terminating'
    expect(await endOf(create(of, bodyOf(), by))).toBe(asked.length > 1 ? 'done' : terminating)
    expect(store.asked).toEqual(asked)
  })

  it('looks at the other definitions if it is of a definition', async () => {
    const { create, store } = open()
    const names = { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList' }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
    const spec = { group: 'x.dev', scope: 'Cluster', names, versions }
    const { stored } = await create(builtIn('CustomResourceDefinition'), { metadata: { name: 'ws.x.dev' }, spec }, by)
    expect(stored.object.status).toMatchObject({ acceptedNames: names })
    expect(store.asked).toEqual(['list CustomResourceDefinition', 'create CustomResourceDefinition ws.x.dev'])
  })

  it('looks at no definition if it is of a kind of that name in another group', async () => {
    const { create, store } = open()
    await create({ ...cluster, kind: 'CustomResourceDefinition' }, bodyOf(), by)
    expect(store.asked).toEqual(['create CustomResourceDefinition a'])
  })

  it('warns of what is left out', async () => {
    const { create } = open()
    expect((await create(kind, { ...bodyOf(), odd: 1 }, by)).warnings).toEqual(['unknown field "odd"'])
  })
})

describe('a name that is made', () => {
  const metadata = { namespace: 'n', generateName: 'a-' }
  const chances = [0, 0.5, 0.25, 0.999, 0.1]
  const next = () => {
    let i = 0
    return () => chances[i++ % chances.length] as number
  }

  it('has five letters of chance', async () => {
    const { stored } = await open({ next: next() }).create(kind, { metadata }, by)
    expect(stored.object.metadata.name).toBe('a-brj9d')
  })

  it.each<[string, JsonObject, string, number]>([
    ['is made again if somebody has it', { generateName: 'a-' }, 'the server was not able to generate', 10],
    ['is as it is said', { name: 'b', generateName: 'a-' }, 'ALREADY_EXISTS: ks.g.dev "b" already exists', 1],
    ['is as it is said alone', { name: 'b' }, 'ALREADY_EXISTS: ks.g.dev "b" already exists', 1],
  ])('%s', async (_what, names, end, tries) => {
    const before = (request: string) => {
      if (request.startsWith('create')) throw new OperatingError('ALREADY_EXISTS', 'x')
    }
    const { create, store } = open({ before })
    const given = String(await endOf(create(kind, { metadata: { namespace: 'n', ...names } }, by)))
    expect(given).toContain(end)
    expect([given.includes('generate'), store.writes().length]).toEqual([tries > 1, tries])
  })

  it.each<[JsonObject, string | undefined, string]>([
    [{ generateName: 'a-' }, undefined, 'a-brj9d'],
    [{ name: '', generateName: 'a-' }, undefined, 'a-brj9d'],
    [{ name: 'b', generateName: 'a-' }, 'b', 'b'],
  ])('of %j is %j to who changes the object, and %j to who reviews it', async (names, changed, reviewed) => {
    const { create, asked } = open({ next: next(), policies: {} })
    const { stored } = await create(kind, { metadata: { namespace: 'n', ...names } }, { ...by, user })
    expect(asked.map(({ object }) => object?.metadata.name)).toEqual([changed, reviewed])
    expect(stored.object.metadata.name).toBe(reviewed)
  })

  it('is that of who changes the object and names it', async () => {
    const mutate = async ({ object }: Reviewed): Promise<Mutated> => {
      const { metadata: unnamed, ...rest } = object as ApiObject
      return { object: { ...rest, metadata: { ...unnamed, name: 'chosen' } }, warnings: [] }
    }
    const { create } = open({ next: next(), policies: { mutate } })
    const { object } = (await create(kind, { metadata }, { ...by, user })).stored
    expect(object.metadata).toMatchObject({ name: 'chosen', generateName: 'a-' })
  })

  it('stays where the object is changed', async () => {
    const mutate = async ({ object }: Reviewed): Promise<Mutated> => ({
      object: { ...(object as ApiObject), spec: { size: 7 } },
      warnings: [],
    })
    const { create } = open({ next: next(), policies: { mutate } })
    const { object } = (await create(kind, { metadata }, { ...by, user })).stored
    expect([object.metadata.name, object.spec]).toEqual(['a-brj9d', { size: 7 }])
  })

  it('is not the reason of every failure', async () => {
    const before = (request: string) => {
      if (request.startsWith('create')) throw new OperatingError('TOO_LARGE', 'large')
    }
    const { create, store } = open({ before })
    expect(await endOf(create(kind, { metadata }, by))).toBe('TOO_LARGE: large')
    expect(store.writes()).toHaveLength(1)
  })
})

describe('what admission may take', () => {
  const budgetsOf = (asked: readonly Reviewed[]) => new Set(asked.map(({ budget }) => budget)).size

  it('is the same for each name that is made', async () => {
    const before = (request: string) => {
      if (request.startsWith('create')) throw new OperatingError('ALREADY_EXISTS', 'x')
    }
    const { create, asked } = open({ before, policies: {} })
    await endOf(create(kind, { metadata: { namespace: 'n', generateName: 'a-' } }, { ...by, user }))
    expect([asked.length, budgetsOf(asked)]).toEqual([20, 1])
  })

  it('is the same where an apply begins again', async () => {
    const before = (request: string) => {
      if (request === 'create K n/a') world.store.put(objectOf())
    }
    const world = open({ before, policies: {} })
    const { outcome } = await world.patch(kind, at, applyOf({ spec: { size: 2 } }, true), { ...by, user })
    expect([outcome, world.asked.length, budgetsOf(world.asked)]).toEqual(['updated', 4, 1])
  })

  it('is the same where an update begins again', async () => {
    const before = (request: string) => {
      if (request === 'create Role n/a') world.store.put({ ...objectOf(), ...type, rules: [] })
    }
    const type = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' }
    const world = open({ before, policies: {} })
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]
    const { outcome } = await world.update(builtIn('Role'), { ...type, metadata: at, rules }, { ...by, user })
    expect([outcome, world.asked.length, budgetsOf(world.asked)]).toEqual(['updated', 4, 1])
  })

  it('is for one request', async () => {
    const { create, asked } = open({ policies: {} })
    await create(kind, bodyOf(), { ...by, user })
    await create(kind, bodyOf({}, { name: 'b' }), { ...by, user })
    expect(budgetsOf(asked)).toBe(2)
  })
})

describe('policies and a creation', () => {
  it('are asked with all that is known, before and after what they make of it', async () => {
    const { create, asked } = open({
      policies: {
        mutate: async ({ object }) => ({ object: { ...(object as ApiObject), spec: { size: 7 } }, warnings: ['made'] }),
        review: async () => ['reviewed'],
      },
    })
    const annotate = () => {}
    const body = { ...bodyOf(), odd: 1 }
    const { stored, warnings } = await create(kind, body, { ...by, user, annotate, said: { a: 1 } })
    expect(warnings).toEqual(['unknown field "odd"', 'made', 'reviewed'])
    expect(stored.object.spec).toEqual({ size: 7 })
    const told = { kind, operation: 'CREATE', subresource: '', user, annotate, said: { a: 1 }, dryRun: false }
    expect(asked).toMatchObject([
      { by: 'mutate', ...told, object: { spec: { size: 2 } } },
      { by: 'review', ...told, object: { spec: { size: 7 } } },
    ])
    expect(asked[0]?.budget).toBeInstanceOf(AdmissionBudget)
    expect(asked[0]?.budget).toBe(asked[1]?.budget)
  })

  it('that have no say leave it as it is', async () => {
    const { create, asked } = open({ policies: {} })
    const { stored, warnings } = await create(kind, bodyOf(), { ...by, user })
    expect([stored.object.spec, warnings, asked.length]).toEqual([{ size: 2 }, [], 2])
  })

  it('are told of a rehearsal', async () => {
    const { create, asked } = open({ policies: {} })
    await create(kind, bodyOf(), { ...by, user, dryRun: true })
    expect(asked.map(({ dryRun }) => dryRun)).toEqual([true, true])
  })

  it('are not asked of what nobody asks for', async () => {
    const { create, asked } = open({ policies: {} })
    await create(kind, bodyOf(), by)
    expect(asked).toEqual([])
  })

  it('are asked of an update and of a deletion, too', async () => {
    const { update, delete: erase, asked } = open({ policies: {}, live: objectOf() })
    await update(kind, bodyOf({ size: 3 }, { resourceVersion: '3' }), { ...by, user })
    await erase(kind, at, { user })
    expect(asked.map(({ operation, ...one }) => [operation, one.by])).toEqual([
      ['UPDATE', 'mutate'],
      ['UPDATE', 'review'],
      ['DELETE', 'mutate'],
      ['DELETE', 'review'],
    ])
  })
})

describe('hooks and quotas', () => {
  it('a hook sees and completes what is created, and permission is asked of what comes of it', async () => {
    const hooks = { default: () => ({ spec: { size: 9 } }) }
    const seen: unknown[] = []
    const { create } = open()
    const permit: WriteOptions['permit'] = ({ spec }) => void seen.push(spec)
    const { stored } = await create({ ...kind, hooks }, bodyOf(), { ...by, permit })
    expect([stored.object.spec, seen]).toEqual([{ size: 9 }, [{ size: 9 }]])
  })

  it.each<[string, boolean, string | undefined, number]>([
    ['is kept for what is written', false, undefined, 0],
    ['is given back if somebody has the name', false, 'ALREADY_EXISTS', 1],
    ['is given back if it is too large', false, 'TOO_LARGE', 1],
    ['is kept where nobody knows what became of it', false, 'WRITE_UNKNOWN', 0],
    ['that is rehearsed is none to give back', true, 'ALREADY_EXISTS', 0],
  ])('a place in a quota %s', async (...row) => {
    const [, dryRun, code, cancelled] = row
    let cancels = 0
    const reserved: unknown[] = []
    const cancel = async () => {
      await Promise.resolve()
      cancels++
    }
    const reserve = async (...asked: readonly unknown[]) => {
      reserved.push(asked)
      return { cancel }
    }
    const before = (request: string) => {
      if (request !== 'get Namespace n' && code !== undefined) throw new OperatingError(code as 'TOO_LARGE', 'x')
    }
    const { create } = open({ before, quotas: { reserve } })
    const end = await endOf(create(kind, bodyOf(), { ...by, dryRun }))
    expect(end === 'done').toBe(code === undefined)
    expect(cancels).toBe(cancelled)
    expect(reserved).toMatchObject([[kind, { metadata: at }, dryRun]])
  })

  it('a quota that is none is not waited for', async () => {
    const { create } = open({ quotas: { reserve: () => {} } })
    expect((await create(kind, bodyOf(), by)).outcome).toBe('created')
  })
})

describe('an update', () => {
  it('replaces the object', async () => {
    const { update, store } = open({ live: objectOf({ status: { size: 4 } }) })
    const { stored, outcome } = await update(kind, bodyOf({ size: 3 }, { resourceVersion: '3' }), by)
    expect(outcome).toBe('updated')
    expect(stored.object).toMatchObject({ spec: { size: 3 }, status: { size: 4 }, metadata: { generation: 2 } })
    expect(store.writes()).toEqual(['replace K n/a spec'])
  })

  it('of a status replaces nothing else', async () => {
    const { update, store, asked } = open({ live: objectOf(), policies: {} })
    const body = { ...bodyOf({ size: 3 }, { resourceVersion: '3' }), status: { size: 5 } }
    const { stored } = await update(kind, body, { ...by, user, subresource: 'status' })
    expect(stored.object).toMatchObject({ spec: { size: 1 }, status: { size: 5 } })
    expect(asked.map(({ subresource }) => subresource)).toEqual(['status', 'status'])
    expect(store.writes()).toEqual(['replace K n/a status'])
  })

  const unversioned = 'INVALID: K.g.dev "a" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified'
  const outdated = 'VERSION_CONFLICT: Operation cannot be fulfilled on ks.g.dev "a": the object has been modified'
  it.each<[string, JsonObject, string]>([
    ['without a version', bodyOf(), unversioned],
    ['of any version', bodyOf({}, { resourceVersion: '0' }), unversioned],
    ['of an old version', bodyOf({}, { resourceVersion: '1' }), outdated],
    ['without metadata', {}, 'NOT_FOUND: ks.g.dev "" not found'],
    ['of what is not there', bodyOf({}, { name: 'b' }), 'NOT_FOUND: ks.g.dev "b" not found'],
    [
      'that is not valid',
      bodyOf({ size: 101 }, { resourceVersion: '3' }),
      'INVALID: K.g.dev "a" is invalid: spec.size',
    ],
  ])('%s is refused', async (_what, body, end) => {
    const { update, store } = open({ live: objectOf() })
    expect(await endOf(update(kind, body, by))).toContain(end)
    expect(store.writes()).toEqual([])
  })

  it('that is a rehearsal writes nothing, and is told to policies', async () => {
    const { update, store, asked } = open({ live: objectOf(), policies: {} })
    const body = bodyOf({ size: 3 }, { resourceVersion: '3' })
    await update(kind, body, { ...by, user, dryRun: true })
    await update(kind, body, { ...by, user })
    expect(asked.map(({ dryRun }) => dryRun)).toEqual([true, true, false, false])
    expect(store.writes()).toEqual(['replace K n/a spec'])
  })
})

const missing = 'NOT_FOUND: roles "r" not found'
/** A permission that depends on something that is not there. */
const missOther = () => {
  throw new OperatingError('NOT_FOUND', 'roles "r" not found', { details: { name: 'r', group: 'g', kind: 'roles' } })
}

describe('an update of what is not there', () => {
  const role = builtIn('Role')
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
  const bodyWith = (metadata: JsonObject = {}) => ({ metadata: { ...at, ...metadata }, rules })
  const roleOf = () => ({ ...objectOf(), apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', rules: [] })

  it.each([{}, { resourceVersion: '7' }])('creates a Role (metadata beside its name: %j)', async (metadata) => {
    const { update, store } = open()
    const { stored, outcome } = await update(role, bodyWith(metadata), by)
    expect([outcome, stored.object['rules'], stored.object.metadata.uid]).toEqual(['created', rules, 'new'])
    expect(store.writes()).toEqual(['create Role n/a'])
  })

  it.each<[string, JsonObject, string]>([
    [
      'names the uid of another',
      bodyWith({ uid: 'old' }),
      'VERSION_CONFLICT: Operation cannot be fulfilled on roles.rbac.authorization.k8s.io "a": uid mismatch: the provided object specified uid old, and no existing object was found',
    ],
    ['has no metadata', { rules }, 'INVALID: Role.rbac.authorization.k8s.io "" is invalid: metadata.name'],
    ['is in no namespace', bodyWith({ namespace: 'x' }), 'NOT_FOUND: namespaces "x" not found'],
  ])('creates none that %s', async (_what, body, end) => {
    const { update, store } = open()
    expect(await endOf(update(role, body, by))).toContain(end)
    expect(store.writes()).toEqual([])
  })

  it('changes what another has created meanwhile', async () => {
    const world = open({
      before: (request) => {
        if (request === 'get Namespace n') world.store.put(roleOf())
      },
    })
    const { stored, outcome } = await world.update(role, bodyWith(), by)
    expect([outcome, stored.object.metadata.uid, stored.object['rules']]).toEqual(['updated', 'u', rules])
  })

  it('changes what another has created right behind the look', async () => {
    let looks = 0
    const world = open({
      before: (request) => {
        if (request === 'get Role n/a' && ++looks === 1) queueMicrotask(() => world.store.put(roleOf()))
      },
    })
    const { stored, outcome } = await world.update(role, bodyWith(), by)
    expect([outcome, stored.object.metadata.uid]).toEqual(['updated', 'u'])
  })

  it('is not meant where nobody knows what is there', async () => {
    let looks = 0
    const before = (request: string) => {
      if (request === 'get Role n/a' && ++looks === 1) throw new OperatingError('UNAVAILABLE', 'away')
    }
    const { update, store } = open({ before })
    expect(await endOf(update(role, bodyWith(), by))).toBe('UNAVAILABLE: away')
    expect(store.writes()).toEqual([])
  })

  it('is not meant by the version of another state', async () => {
    const { update, store } = open({ live: roleOf() })
    expect(await endOf(update(role, bodyWith({ resourceVersion: '1' }), by))).toContain('VERSION_CONFLICT')
    expect(store.writes()).toEqual([])
  })

  it('is not meant by a refusal of what is there', async () => {
    const { update, store } = open({ live: roleOf() })
    const end = 'INVALID: Role.rbac.authorization.k8s.io "a" is invalid'
    expect(await endOf(update(role, { ...bodyWith(), rules: [{}] }, by))).toContain(end)
    expect(store.writes()).toEqual([])
  })

  it.each([{}, { uid: 'u' }])('is not meant where what it names is not there (metadata: %j)', async (metadata) => {
    const { update, store } = open({ live: roleOf() })
    expect(await endOf(update(role, bodyWith(metadata), { ...by, permit: missOther }))).toBe(missing)
    expect(store.writes()).toEqual([])
  })
})

describe('a patch', () => {
  const live = () => objectOf({ spec: { size: 1, list: [{ name: 'x', n: 1 }] } })
  it.each<[string, Patch, JsonObject]>([
    ['merges', mergeOf({ spec: { size: 3 } }), { size: 3, list: [{ name: 'x', n: 1 }] }],
    ['merges lists as a whole', mergeOf({ spec: { list: [{ name: 'y' }] } }), { size: 1, list: [{ name: 'y' }] }],
    [
      'merges lists by their keys',
      { type: 'merge', body: { spec: { list: [{ name: 'y' }] } }, keyedBy: schema },
      { size: 1, list: [{ name: 'x', n: 1 }, { name: 'y' }] },
    ],
    ['does operations', jsonOf(['/spec/size', 4]), { size: 4, list: [{ name: 'x', n: 1 }] }],
  ])('%s', async (_what, patch, spec) => {
    const { patch: act, store } = open({ live: live() })
    expect((await act(kind, at, patch, by)).stored.object.spec).toMatchObject(spec)
    expect(store.writes()).toEqual(['replace K n/a spec'])
  })

  const overtaken = 'VERSION_CONFLICT: Operation cannot be fulfilled on ks.g.dev "a": the object has been modified'
  it.each<[string, Patch, string, number]>([
    ['of no version is made again', mergeOf({ spec: { size: 3 } }), 'done', 2],
    ['of any version is made again', mergeOf({ metadata: { resourceVersion: '0' }, spec: { size: 3 } }), 'done', 2],
    ['of operations is made again', jsonOf(['/spec/size', 3]), 'done', 2],
    ['of operations and a version is not', jsonOf(['/metadata/resourceVersion', '3'], ['/spec/size', 3]), overtaken, 1],
    ['of a version is not', mergeOf({ metadata: { resourceVersion: '3' }, spec: { size: 3 } }), overtaken, 1],
    ['with no metadata to speak of is made again', mergeOf({ metadata: null, spec: { size: 3 } }), 'done', 2],
  ])('%s where another writer was ahead', async (...row) => {
    const [, patch, end, writes] = row
    let tries = 0
    const before = (request: string) => {
      if (request.startsWith('replace') && tries++ === 0) throw new OperatingError('VERSION_CONFLICT', 'no')
    }
    const { patch: act, store } = open({ before, live: objectOf() })
    expect(await endOf(act(loose, at, patch, by))).toContain(end)
    expect(store.writes()).toHaveLength(writes)
  })

  it.each<[string, Patch, string]>([
    [
      'whose result nobody can decode',
      mergeOf({ metadata: { labels: { a: 1 } } }),
      'INVALID:  "" is invalid: patch: Invalid value: metadata.labels',
    ],
    ['of a name', mergeOf({ metadata: { name: 'b' } }), 'BAD_REQUEST: the name of the object (b) does not match'],
    ['of another kind', mergeOf({ kind: 'X' }), 'BAD_REQUEST: the object provided is g.dev/v1 X'],
    ['that is not valid', mergeOf({ spec: { size: 101 } }), 'INVALID: K.g.dev "a" is invalid: spec.size'],
    ['that takes the version away', mergeOf({ metadata: null }), 'must be specified for an update'],
  ])('%s is refused', async (_what, patch, end) => {
    const { patch: act, store } = open({ live: objectOf() })
    expect(await endOf(act(kind, at, patch, by))).toContain(end)
    expect(store.writes()).toEqual([])
  })

  const immutable = 'INVALID: K.g.dev "a" is invalid: metadata.uid: Invalid value: "v": field is immutable'
  it.each<[string, string, WriteOptions, string]>([
    ['by a user who names another uid is refused', 'v', { ...by, user }, immutable],
    ['by a user who names its uid is made', 'u', { ...by, user }, 'done'],
    ['by a user who names no uid is made', '', { ...by, user }, 'done'],
  ])('%s', async (_, uid, how, end) => {
    for (const type of ['merge', 'apply'] as const) {
      const { patch, store } = open({ live: objectOf() })
      const body = { metadata: { ...at, uid }, spec: { size: 3 } }
      expect(await endOf(patch(kind, at, type === 'merge' ? mergeOf(body) : applyOf(body, true), how))).toBe(end)
      expect(store.writes()).toHaveLength(end === 'done' ? 1 : 0)
    }
  })

  it('warns of what is left out, or refuses it', async () => {
    const { patch } = open({ live: objectOf() })
    const odd = mergeOf({ spec: { odd: 1 } })
    expect((await patch(kind, at, odd, by)).warnings).toEqual(['unknown field "spec.odd"'])
    const ordered = mergeOf({ spec: { '$setElementOrder/list': [] } })
    expect((await patch(kind, at, ordered, by)).warnings).toEqual(['unknown field "spec.$setElementOrder/list"'])
    expect(await endOf(patch(kind, at, odd, { ...by, fieldValidation: 'Strict' }))).toContain('strict decoding error')
  })
})

describe('an apply', () => {
  it('creates what is not there, in the place that it comes by', async () => {
    const { patch, store } = open()
    const { stored, outcome } = await patch(kind, at, applyOf({ spec: { size: 2 } }), by)
    expect([outcome, stored.object.spec]).toEqual(['created', { size: 2 }])
    expect(stored.object.metadata).toMatchObject({ ...at, uid: 'new', managedFields: [{ operation: 'Apply' }] })
    expect(store.writes()).toEqual(['create K n/a'])
  })

  it('creates an object of the cluster without a namespace', async () => {
    const { patch } = open()
    const { metadata } = (await patch(cluster, at, applyOf({}), by)).stored.object
    expect([metadata.name, metadata.namespace]).toEqual(['a', undefined])
  })

  it('changes what is there, once it was looked at', async () => {
    const seen: unknown[] = []
    const { patch, store } = open({ live: objectOf({ status: { size: 3 } }) })
    const check: WriteOptions['check'] = ({ status }) => void seen.push(status)
    const { stored } = await patch(kind, at, applyOf({ spec: { size: 2 } }, true), { ...by, check })
    expect([stored.object.spec, seen]).toEqual([{ size: 2 }, [{ size: 3 }]])
    expect(stored.object.metadata).toMatchObject({ generation: 2 })
    expect(store.writes()).toEqual(['replace K n/a spec,fields'])
  })

  it('is refused once where what it names is not there', async () => {
    let tries = 0
    const { patch } = open({ live: objectOf() })
    const check = () => void tries++
    const how = { ...by, check, permit: missOther }
    expect(await endOf(patch(kind, at, applyOf({ spec: { size: 2 } }, true), how))).toBe(missing)
    expect(tries).toBe(1)
  })

  it('notes the path that it came by', async () => {
    const status = open({ live: objectOf() })
    const applied = applyOf({ status: { size: 2 } })
    const { stored } = await status.patch(kind, at, applied, { ...by, subresource: 'status' })
    const [last] = stored.object.metadata.managedFields?.toReversed() ?? []
    expect([stored.object.status, last?.subresource]).toEqual([{ size: 2 }, 'status'])
    expect(status.store.writes()).toEqual(['replace K n/a fields,status'])

    const shown = { ...kind, kind: 'Scale' }
    const show = (object: ApiObject) => ({ ...object, kind: 'Scale' })
    const path = { subresource: 'scale', kind: shown, show, absorb: (object: ApiObject) => object }
    const scale = open({ live: objectOf(), policies: {} })
    const scaled = await scale.patch(kind, at, applyOf({ spec: { size: 2 } }, true), { ...by, user, path })
    const [latest] = scaled.stored.object.metadata.managedFields?.toReversed() ?? []
    expect([scaled.stored.object.spec, latest?.subresource]).toEqual([{ size: 2 }, 'scale'])
    const told = { subresource: 'scale', kind: shown, resource: kind, object: { kind: 'Scale' } }
    expect(scale.asked).toMatchObject([told, told])
    await status.patch(kind, at, applyOf({ spec: { size: 2 } }, true), by)
  })

  const another = { subresource: 'scale', kind, show: (one: ApiObject) => one, absorb: (one: ApiObject) => one }
  it.each<[string, JsonObject, Partial<Parameters<ReturnType<typeof open>['patch']>[3]>, string]>([
    ['of another kind', { kind: 'X' }, {}, 'BAD_REQUEST: the object provided is g.dev/v1 X'],
    ['that names the uid of another', { metadata: { uid: 'old' } }, {}, 'specified uid old, and no existing object'],
    ['of the status of nothing', {}, { subresource: 'status' }, 'NOT_FOUND: ks.g.dev "a" not found'],
    ['of the scale of nothing', {}, { path: another }, 'NOT_FOUND: ks.g.dev "a" not found'],
  ])('%s is refused', async (_what, body, how, end) => {
    const { patch, store } = open()
    expect(await endOf(patch(kind, at, applyOf(body), { ...by, ...how }))).toContain(end)
    expect(store.writes()).toEqual([])
  })

  it.each<[string, JsonObject, string, number]>([
    ['of no version is made again', {}, 'done', 2],
    ['of a version is not', { metadata: { resourceVersion: '3' } }, 'VERSION_CONFLICT', 1],
  ])('%s where another writer was ahead', async (...row) => {
    const [, body, end, writes] = row
    let tries = 0
    const before = (request: string) => {
      if (request.startsWith('replace') && tries++ === 0) throw new OperatingError('VERSION_CONFLICT', 'no')
    }
    const { patch, store } = open({ before, live: objectOf() })
    expect(await endOf(patch(kind, at, applyOf({ ...body, spec: { size: 2 } }, true), by))).toContain(end)
    expect(store.writes()).toHaveLength(writes)
  })

  it('begins again where the object comes or goes meanwhile, and where it may not be created says so', async () => {
    const coming = open({ before: (request) => void (request === 'create K n/a' && coming.store.put(objectOf())) })
    const { stored } = await coming.patch(kind, at, applyOf({ spec: { size: 2 } }, true), by)
    expect([stored.object.spec, stored.object.metadata.uid]).toEqual([{ size: 2 }, 'u'])

    const take = (request: string) => {
      if (request.startsWith('replace')) throw new OperatingError('NOT_FOUND', 'x')
    }
    const applied = applyOf({ status: { size: 2 } })
    const going = open({ before: take, live: objectOf() })
    expect(await endOf(going.patch(kind, at, applied, { ...by, subresource: 'status' }))).toContain('NOT_FOUND')
    expect(going.store.writes()).toHaveLength(1)
    expect(await endOf(going.patch(kind, at, applyOf({ spec: { size: 2 } }, true), by))).toContain('NOT_FOUND')
    expect(going.store.writes()).toHaveLength(11)
  })
})

describe('a deletion', () => {
  it('removes the object, or marks one that is held', async () => {
    const { delete: erase, store } = open({ live: objectOf() })
    expect(await erase(kind, at)).toMatchObject({ gone: true, stored: { object: { spec: { size: 1 } } } })
    store.put(objectOf({}, { finalizers: ['x.dev/y'] }))
    const marked = await erase(kind, at, { manager: 'ann' })
    const metadata = { deletionTimestamp: '1970-01-01T00:16:40Z', finalizers: ['x.dev/y'], generation: 2 }
    expect(marked).toMatchObject({ gone: false, stored: { object: { metadata } } })
    expect(marked.stored.engine.change).toEqual({ atMs: 1_000_000, by: 'ann', verb: 'deleted' })
    expect(store.writes()).toEqual(['remove K n/a', 'replace K n/a delete'])
  })

  it.each([
    ['Background', undefined],
    ['Foreground', ['foregroundDeletion']],
    ['Orphan', ['orphan']],
  ] as const)('%s leaves the finalizers %j', async (propagation, finalizers) => {
    const { delete: erase } = open({ live: objectOf() })
    const { stored, gone } = await erase(kind, at, { propagation })
    expect([stored.object.metadata.finalizers, gone]).toEqual([finalizers, finalizers === undefined])
  })

  it('that is asked for again is written where something else is to become of the children', async () => {
    const { delete: erase, store } = open({ live: objectOf({}, { finalizers: ['x.dev/y'] }) })
    await erase(kind, at, { propagation: 'Background' })
    await erase(kind, at, { propagation: 'Background' })
    await erase(kind, at)
    const { stored } = await erase(kind, at, { propagation: 'Orphan' })
    await erase(kind, at, { propagation: 'Background', dryRun: true })
    expect(stored.object.metadata).toMatchObject({ finalizers: ['x.dev/y', 'orphan'], generation: 2 })
    expect(store.writes()).toEqual(['replace K n/a delete', 'replace K n/a delete,meta'])
  })

  it('that is a rehearsal writes nothing', async () => {
    const { delete: erase, store } = open({ live: objectOf() })
    expect(await erase(kind, at, { dryRun: true })).toMatchObject({ gone: true })
    expect(store.writes()).toEqual([])
  })

  it.each<[string, ServedKind, string, DeleteOptions, string]>([
    ['of another uid', kind, 'a', { preconditions: { uid: 'x' } }, 'VERSION_CONFLICT'],
    ['of what is not there', kind, 'b', {}, 'NOT_FOUND: ks.g.dev "b" not found'],
    ['of what has to stay', namespaceKind, 'default', {}, 'FORBIDDEN: namespaces "default" is forbidden'],
  ])('%s is refused', async (...row) => {
    const [, of, name, options, end] = row
    const { delete: erase, store } = open({ live: objectOf() })
    store.put(namespaceOf('default'))
    expect(await endOf(erase(of, { ...at, name }, options))).toContain(end)
    expect(store.writes()).toEqual([])
  })

  it('marks a state that is complete', async () => {
    const { delete: erase, store } = open()
    store.put(namespaceOf('old', { finalizers: ['setpoint.dev/namespace'] }))
    const { stored } = await erase(namespaceKind, { name: 'old' })
    expect(stored.object.status).toEqual({ phase: 'Terminating' })
  })

  it('asks hooks and policies for somebody only', async () => {
    const asks: string[] = []
    const hooked = { ...kind, hooks: { validate: () => void asks.push('hook') } }
    const { delete: erase, asked, store } = open({ live: objectOf(), policies: {} })
    await erase(hooked, at)
    expect([asks, asked]).toEqual([[], []])
    store.put(objectOf())
    const annotate = () => {}
    await erase(hooked, at, { user, annotate, said: { a: 1 }, dryRun: true })
    expect(asks).toEqual(['hook'])
    expect(asked).toMatchObject([
      { user, annotate, said: { a: 1 }, dryRun: true },
      { user, annotate, said: { a: 1 }, dryRun: true },
    ])
  })

  it.each<[boolean | undefined, string]>([
    [true, 'done'],
    [false, 'DAMAGED'],
    [undefined, 'DAMAGED'],
  ])('of what cannot be read, damage ignored: %s', async (...row) => {
    const [ignoreDamage, end] = row
    const before = (request: string) => {
      const remains = { uid: 'u', resourceVersion: '3' }
      if (request === 'get K n/a') throw new DamagedObjectError('cannot be read', remains)
    }
    const { delete: erase, store } = open({ before, live: objectOf() })
    const options = ignoreDamage === undefined ? {} : { ignoreDamage }
    expect(await endOf(erase(kind, at, options))).toContain(end)
    expect(store.writes()).toEqual(end === 'done' ? ['remove K n/a'] : [])
  })

  it('of what can be read is one like any other, damage ignored or not', async () => {
    const { delete: erase, store } = open({ live: objectOf({}, { finalizers: ['x.dev/y'] }) })
    expect(await erase(kind, at, { ignoreDamage: true })).toMatchObject({ gone: false })
    expect(store.writes()).toEqual(['replace K n/a delete'])
  })
})

describe('a kind that somebody else converts', () => {
  /** Knows an object of v1 once it was asked about it. */
  function conversionOf(fails = false): Conversion & { readonly asked: string[] } {
    const known = new Set<string>()
    const asked: string[] = []
    return {
      group: 'g.dev',
      kind: 'K',
      version: 'v2',
      schema,
      asked,
      schemaOf: () => schema,
      findFault: () => {},
      convert: (object, version) => {
        if (object.apiVersion === `g.dev/${version}`) return object
        if (fails && version === 'v1') throw new OperatingError('CONVERSION_FAILED', 'no')
        if (!known.has(version)) throw new UnpreparedError(object, version)
        return { ...object, apiVersion: `g.dev/${version}` }
      },
      prepare: async (objects, version) => {
        if (objects.every(({ apiVersion }) => apiVersion === `g.dev/${version}`)) return
        asked.push(version)
        known.add(version)
        if (fails && version === 'v1') throw new OperatingError('CONVERSION_FAILED', 'no')
      },
    }
  }
  const stored = { ...objectOf(), apiVersion: 'g.dev/v2' }

  it('is stored in one version, and shown in the one that is asked for', async () => {
    const conversion = conversionOf()
    const converted: ServedKind = { ...kind, storageVersion: 'v2', conversion }
    const { create, get, list: listAll, store } = open()
    const created = await create(converted, bodyOf(), by)
    expect(created.stored.object).toMatchObject({ apiVersion: 'g.dev/v1', spec: { size: 2 } })
    const key = { group: 'g.dev', kind: 'K', ...at }
    expect((await store.get(key))?.object.apiVersion).toBe('g.dev/v2')
    expect((await get(converted, at)).object.apiVersion).toBe('g.dev/v1')
    expect((await listAll(converted)).items.map(({ object }) => object.apiVersion)).toEqual(['g.dev/v1'])
    expect(conversion.asked.slice(0, 2)).toEqual(['v2', 'v1'])
  })

  it('is shown as it is stored where it cannot be converted after a write', async () => {
    const converted: ServedKind = { ...kind, storageVersion: 'v2', conversion: conversionOf(true) }
    const { delete: erase } = open({ live: stored })
    expect((await erase(converted, at)).stored.object.apiVersion).toBe('g.dev/v2')
  })
})
