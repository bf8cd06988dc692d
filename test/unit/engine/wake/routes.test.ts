import { describe, expect, it } from 'vitest'
import { routesOf } from '../../../../shared/engine/wake/routes.ts'
import {
  ConfigMap,
  defineReconciler,
  done,
  generationChanged,
  mapped,
  owned,
  reference,
  type ApiObject,
  type Part,
  type ReconcilerOptions,
} from '../../../../shared/index.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { ObjectKey } from '../../../../shared/model/object-key.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import type { ObjectIndex } from '../../../../shared/ports/object-index.ts'
import { widgets } from '../../../support/referring-widgets.ts'
import { storedWidget, widgetKind, withMetadata } from '../../../support/stored-object.ts'

const widgetKey = { ...widgetKind, namespace: 'default' } as const
/** All that the index knows: this one refers to whatever is asked about. */
const index = {
  referrers: async () => [
    { ...widgetKey, name: 'referrer' },
    { ...widgetKey, kind: 'Other', name: 'o' },
  ],
}

type Wakers = Pick<ReconcilerOptions<ApiObject>, 'when' | 'owns' | 'watches' | 'debounce'>

async function targetsOf(wakers: Wakers, change: Change, dropped: readonly ObjectKey[] = []) {
  const controller = defineReconciler(widgets, { ...wakers, reconcile: async () => done() })
  const found = await Promise.all(
    routesOf(controller, index as unknown as ObjectIndex).map(async (route) => route.targets(change, dropped)),
  )
  return found.flat().map(({ key, lane, dueAtMs }) => [key.name, dueAtMs ?? lane])
}

function ofWidget(touched: readonly Part[], type: Change['type'] = 'modified', engine: EngineState = {}): Change {
  return { type, touched, stored: { ...storedWidget('w'), engine } }
}

/** A ConfigMap that belongs to the Widget `owner`. */
function ofConfigMap(touched: readonly Part[], type: Change['type'] = 'modified', owner: object = {}): Change {
  const ownedBy = {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    name: 'owner',
    uid: 'u',
    controller: true,
    ...owner,
  }
  const { object, engine } = withMetadata(storedWidget('c'), { ownerReferences: [ownedBy] })
  return { type, touched, stored: { object: { ...object, apiVersion: 'v1', kind: 'ConfigMap' }, engine } }
}

/** One that this write took from the Widget `former`. */
function ofTaken(owner: object, former: object = {}): Change {
  const { stored, ...change } = ofConfigMap(['meta'], 'modified', owner)
  const formerOwner = { apiVersion: 'example.com/v2', kind: 'Widget', name: 'former', ...former }
  return { ...change, stored: { ...stored, engine: { formerOwner } } }
}

const ownerAlone = [['owner', 'background']]
const held: EngineState = { hold: { handle: 'h', untilMs: 5, receives: 1 } }
const waits: EngineState = { wait: { kind: 'Requeue', generation: 1, atMs: 5 } }
const own: readonly (readonly [string, Wakers, Change, readonly unknown[]])[] = [
  ['a spec', {}, ofWidget(['spec']), [['w', 'urgent']]],
  ['labels', {}, ofWidget(['labels']), [['w', 'urgent']]],
  ['what speaks to the engine', {}, ofWidget(['control']), [['w', 'urgent']]],
  ['a status', {}, ofWidget(['status']), []],
  ["the engine's memory", {}, ofWidget(['engine']), []],
  ['a removal', {}, ofWidget(['delete'], 'removed'), []],
  ['a removal while its message is held', {}, ofWidget(['delete'], 'removed', held), [['w', 'urgent']]],
  ['labels, which the predicate keeps', { when: generationChanged }, ofWidget(['labels']), []],
  ['a spec, which it does not', { when: generationChanged }, ofWidget(['spec']), [['w', 'urgent']]],
  ['what speaks to the engine, whatever it says', { when: () => false }, ofWidget(['control']), [['w', 'urgent']]],
  ['a deletion, whatever it says', { when: () => false }, ofWidget(['delete']), [['w', 'urgent']]],
  ['a timer', {}, ofWidget(['engine', 'timer'], 'modified', waits), [['w', 5]]],
  ['a timer without a time', {}, ofWidget(['engine', 'timer']), []],
  ['a wait that is no timer', {}, ofWidget(['engine'], 'modified', waits), []],
]

const ownsIt: Wakers = { owns: [ConfigMap] }
const picky: Wakers = { owns: [owned(ConfigMap, { when: generationChanged })] }
const refers: Wakers = { watches: [reference(ConfigMap, () => ({ name: 'c' }))] }
const refersPickily: Wakers = { watches: [reference(ConfigMap, () => ({ name: 'c' }), { when: generationChanged })] }
const maps: Wakers = { watches: [mapped(ConfigMap, () => ({ name: 'm' }))] }
const mapsPickily: Wakers = { watches: [mapped(ConfigMap, () => ({ name: 'm' }), { when: generationChanged })] }
const others: readonly (readonly [string, Wakers, Change, readonly unknown[]])[] = [
  ['a child: its owner', ownsIt, ofConfigMap(['status']), [['owner', 'background']]],
  ['a removed child: its owner', ownsIt, ofConfigMap(['delete'], 'removed'), [['owner', 'background']]],
  ['a child of a kind that is not owned: nobody', {}, ofConfigMap(['spec']), []],
  ['a child of another kind: nobody', ownsIt, ofConfigMap(['spec'], 'modified', { kind: 'Other' }), []],
  ['a child of another group: nobody', ownsIt, ofConfigMap(['spec'], 'modified', { apiVersion: 'x.com/v1' }), []],
  ['a child with another owner than before: both', ownsIt, ofTaken({}), [...ownerAlone, ['former', 'background']]],
  [
    'a child that has none any more: the former one',
    ownsIt,
    ofTaken({ controller: false }),
    [['former', 'background']],
  ],
  ['a child that another kind had before: its owner', ownsIt, ofTaken({}, { kind: 'Other' }), ownerAlone],
  ["a child's memory: nobody", ownsIt, ofConfigMap(['engine', 'timer']), []],
  ["a child's status and memory: its owner", ownsIt, ofConfigMap(['engine', 'status']), [['owner', 'background']]],
  ['what the predicate of children keeps: nobody', picky, ofConfigMap(['labels']), []],
  ['what it lets pass: its owner', picky, ofConfigMap(['spec']), [['owner', 'background']]],
  ['what is referred to: who refers', refers, ofConfigMap(['spec']), [['referrer', 'background']]],
  ['what the predicate of a reference keeps: nobody', refersPickily, ofConfigMap(['labels']), []],
  ['what that lets pass: who refers', refersPickily, ofConfigMap(['spec']), [['referrer', 'background']]],
  ['a status: nobody, whatever it refers to', refers, ofWidget(['status']), []],
  [
    'a status that refers to more: the object itself',
    refers,
    ofWidget(['status', 'references']),
    [['w', 'background']],
  ],
  [
    'one of another kind: who refers to that',
    refers,
    ofConfigMap(['status', 'references']),
    [['referrer', 'background']],
  ],
  ['a status that refers to more, for who watches no references: nobody', {}, ofWidget(['status', 'references']), []],
  ['what maps: whom it maps to', maps, ofConfigMap(['labels']), [['m', 'background']]],
  ['what the predicate of a map keeps: nobody', mapsPickily, ofConfigMap(['labels']), []],
  ['what that lets pass: whom it maps to', mapsPickily, ofConfigMap(['spec']), [['m', 'background']]],
]

describe('a change wakes', () => {
  it.each(own)('by %s', async (_what, wakers, change, targets) => {
    expect(await targetsOf(wakers, change)).toEqual(targets)
  })

  it.each(others)('by %s', async (_what, wakers, change, targets) => {
    expect(await targetsOf(wakers, change)).toEqual(targets)
  })

  it('whom an object mapped to before, and nobody of another kind', async () => {
    const before = { ...widgetKey, name: 'before' }
    const found = await targetsOf(maps, ofConfigMap(['spec']), [before, { ...before, kind: 'Other' }])
    expect(found).toEqual([
      ['m', 'background'],
      ['before', 'background'],
    ])
  })

  it('nobody by an object whose own change concerns nobody, whomever it mapped to before', async () => {
    const before = [{ ...widgetKey, name: 'before' }]
    expect(await targetsOf(maps, ofConfigMap(['engine']), before)).toEqual([])
  })

  it('by no more routes than there are watches', () => {
    const countOf = (wakers: Wakers) =>
      routesOf(defineReconciler(widgets, { ...wakers, reconcile: async () => done() }), index as unknown as ObjectIndex)
        .length
    expect([{}, ownsIt, refers, maps].map(countOf)).toEqual([2, 3, 4, 3])
  })

  it.each([
    [true, 'default'],
    [false, ''],
  ])('an owner (namespaced: %j) in namespace "%s"', async (namespaced, namespace) => {
    const controller = defineReconciler({ ...widgets, namespaced }, { ...ownsIt, reconcile: async () => done() })
    const found = await Promise.all(
      routesOf(controller, index as unknown as ObjectIndex).map(async (route) =>
        route.targets(ofConfigMap(['spec']), []),
      ),
    )
    expect(found.flat().map(({ key }) => key)).toEqual([{ ...widgetKey, namespace, name: 'owner' }])
  })

  it('nothing sooner than its debounce allows, but for timers', () => {
    const controller = defineReconciler(widgets, { ...ownsIt, debounce: '2s', reconcile: async () => done() })
    const routes = routesOf(controller, index as unknown as ObjectIndex)
    expect(routes.map(({ debounceMs }) => debounceMs)).toEqual([2_000, 0, 2_000])
  })
})
