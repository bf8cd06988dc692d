import { expect, it } from 'vitest'
import { createExplain } from '../../../../../shared/engine/insight/explain/explain.ts'
import { gatherFacts, type FactsOptions } from '../../../../../shared/engine/insight/explain/facts.ts'
import { DamagedObjectError } from '../../../../../shared/model/errors.ts'
import { keyText, type ObjectKey } from '../../../../../shared/model/object-key.ts'
import type { ApiObject, ObjectMeta, OwnerReference } from '../../../../../shared/model/object.ts'
import { hoursAgo, keyOfConfig, factsOf, nowMs } from './given-facts.ts'

interface World {
  readonly children?: number
  readonly events?: readonly object[]
  readonly stored?: readonly (readonly [ObjectKey, string])[]
}

const listed: object[] = []

/** A world around a widget. */
function optionsOf({ children = 0, events = [], stored = [] }: World): FactsOptions {
  const byKey = new Map(stored.map(([key, uid]) => [keyText(key), { object: { metadata: { uid } }, engine: {} }]))
  const keys = (count: number, name: string) => Array.from({ length: count }, (_, i) => keyOfConfig(`${name}${i}`))
  return {
    controllers: [
      { name: 'gadget', kind: { group: 'test.setpoint.dev', kind: 'Gadget' } },
      { name: 'other', kind: { group: 'example.org', kind: 'Widget' } },
      { name: 'widget', kind: { group: 'test.setpoint.dev', kind: 'Widget' }, owns: [] },
    ],
    store: { get: async (key: ObjectKey) => byKey.get(keyText(key)) },
    index: {
      childrenOf: async () => keys(children, 'c'),
      references: async () => keys(1, 'to'),
      referrers: async () => keys(2, 'from'),
    },
    resources: {
      list: async (
        _kind: object,
        { selector, namespace }: { selector: (one: ApiObject) => boolean; namespace: string },
      ) => {
        listed.push({ namespace })
        return { items: (events as ApiObject[]).filter(selector).map((object) => ({ object, engine: {} })) }
      },
    },
    clock: { nowMs: () => nowMs },
  } as unknown as FactsOptions
}

const { kind, stored } = factsOf()
const metadata = withoutNamespace(stored.object.metadata)
const wide = { ...stored, object: { ...stored.object, metadata } }

function withoutNamespace({ namespace: _, ...rest }: ObjectMeta): ObjectMeta {
  return rest
}

it('finds whoever reconciles the kind', async () => {
  expect((await gatherFacts(kind, stored, optionsOf({}))).controller?.name).toBe('widget')
})

it.each([
  [20, 20, 0],
  [21, 20, 1],
])('of %d children shows %d, and counts %d more', async (children, shown, more) => {
  const facts = await gatherFacts(kind, stored, optionsOf({ children, stored: [[keyOfConfig('c0'), 'x']] }))
  expect([facts.children.shown.length, facts.children.more]).toEqual([shown, more])
  expect(facts.children.shown.slice(0, 2)).toEqual([
    { key: keyOfConfig('c0'), object: { metadata: { uid: 'x' } } },
    { key: keyOfConfig('c1'), object: undefined },
  ])
  expect([facts.references.shown.length, facts.referrers.shown.length]).toEqual([1, 2])
})

const ownerKey = { group: 'g.org', kind: 'Owner', namespace: 'default', name: 'o' }

it.each([
  ['beside it', ownerKey, 'u', { key: ownerKey, object: { metadata: { uid: 'u' } } }],
  [
    'of the cluster',
    { ...ownerKey, namespace: '' },
    'u',
    { key: { ...ownerKey, namespace: '' }, object: { metadata: { uid: 'u' } } },
  ],
  ['of another uid', ownerKey, 'v', { key: ownerKey, object: undefined }],
])('finds an owner %s', async (_what, key, uid, owner) => {
  const reference: OwnerReference = { apiVersion: 'g.org/v1', kind: 'Owner', name: 'o', uid: 'u' }
  const owned = {
    ...stored,
    object: { ...stored.object, metadata: { ...stored.object.metadata, ownerReferences: [reference] } },
  }
  expect((await gatherFacts(kind, owned, optionsOf({ stored: [[key, uid]] }))).owners).toEqual([owner])
})

it('tells of who is damaged, and explains the object as ever', async () => {
  const reference: OwnerReference = { apiVersion: 'g.org/v1', kind: 'Owner', name: 'o', uid: 'u' }
  const own = { ...stored.object.metadata, ownerReferences: [reference] }
  const options = optionsOf({ children: 2 })
  const get = async (key: ObjectKey): Promise<undefined> => {
    if (key.name === 'c1') return undefined
    throw new DamagedObjectError('damaged', { uid: 'u', resourceVersion: '1' })
  }
  const owned = { ...stored, object: { ...stored.object, metadata: own } }
  const facts = await gatherFacts(kind, owned, { ...options, store: { ...options.store, get } })
  const damaged = (key: ObjectKey) => ({ key, object: undefined, isDamaged: true })
  expect(facts).toMatchObject({
    owners: [damaged(ownerKey)],
    children: { shown: [damaged(keyOfConfig('c0')), { key: keyOfConfig('c1'), object: undefined }] },
    references: { shown: [damaged(keyOfConfig('to0'))] },
    referrers: { shown: [damaged(keyOfConfig('from0')), damaged(keyOfConfig('from1'))] },
  })
  expect(facts.children.shown[1]).not.toHaveProperty('isDamaged')
})

it('says of the store what it says', async () => {
  const options = optionsOf({})
  const get = async (): Promise<never> => {
    throw new Error('no disk')
  }
  await expect(gatherFacts(kind, stored, { ...options, store: { ...options.store, get } })).rejects.toThrow('no disk')
})

it('looks for an owner of an object of the cluster in one place', async () => {
  const asked: string[] = []
  const reference: OwnerReference = { apiVersion: 'v1', kind: 'Owner', name: 'o', uid: 'u' }
  const owned = { ...wide, object: { ...wide.object, metadata: { ...metadata, ownerReferences: [reference] } } }
  const options = optionsOf({})
  const store = {
    ...options.store,
    get: async (key: ObjectKey) => void asked.push(`${key.kind} ${key.namespace}/${key.name}`),
  }
  const { owners } = await gatherFacts(kind, owned, { ...options, store })
  expect([asked.filter((one) => one.startsWith('Owner')), owners.length]).toEqual([['Owner /o'], 1])
})

it.each([
  ['of its namespace', stored, 'default'],
  ['of the default namespace, for an object of the cluster', wide, 'default'],
])('lists events %s', async (_what, of, namespace) => {
  listed.length = 0
  await gatherFacts(kind, of, optionsOf({}))
  expect(listed).toEqual([{ namespace }])
})

it('shows the last ten events of the object, the newest first', async () => {
  const event = (name: string, more: object) => ({
    metadata: { name, creationTimestamp: hoursAgo(9) },
    involvedObject: { uid: 'uid-w' },
    ...more,
  })
  const events = [
    event('of another', { involvedObject: { uid: 'x' } }),
    event('of nobody', { involvedObject: 'odd' }),
    event('of nothing', { involvedObject: undefined }),
    event('made', {}),
    event('at', { eventTime: hoursAgo(8) }),
    event('last', { eventTime: hoursAgo(8), lastTimestamp: hoursAgo(7) }),
    event('series', { series: { lastObservedTime: hoursAgo(6) }, lastTimestamp: hoursAgo(20) }),
    event('odd series', { series: 5, lastTimestamp: hoursAgo(5) }),
    // The list is in an order of its own, and keeps it among those of one moment.
    ...Array.from({ length: 7 }, (_, i) => event(`e${i}`, { lastTimestamp: hoursAgo(4 - i / 10) })),
  ]
  const facts = await gatherFacts(kind, stored, optionsOf({ events }))
  const names = facts.events.map(({ metadata: { name } }) => name)
  expect(names).toEqual(['e6', 'e5', 'e4', 'e3', 'e2', 'e1', 'e0', 'odd series', 'series', 'last'])
  const few = await gatherFacts(kind, stored, optionsOf({ events: events.slice(0, 8) }))
  expect(few.events.map(({ metadata: { name } }) => name)).toEqual(['odd series', 'series', 'last', 'at', 'made'])
})

it('an explanation has a head, the matter, and six questions with their numbers', async () => {
  const text = await createExplain(optionsOf({}))(kind, stored)
  expect(text.split('\n').slice(0, 6)).toEqual([
    'Widget default/w',
    '  test.setpoint.dev/v1, made 3h ago, uid uid-w, resourceVersion 7',
    '',
    'The object is as desired, since 60m ago.',
    expect.stringMatching(/^ {2}Look again at once: /),
    '',
  ])
  expect(text.match(/^\d\. [A-Z]+/gm)).toEqual([
    '1. DESIRED',
    '2. OBSERVED',
    '3. DIFFERENCE',
    '4. ACTION',
    '5. REQUEUE',
    '6. STATUS',
  ])
})
