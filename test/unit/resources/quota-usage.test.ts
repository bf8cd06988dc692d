import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { checkQuota, limitNamesOf, withQuantityTexts } from '../../../shared/resources/quota-kind.ts'
import {
  askForCount,
  isYoung,
  release,
  reserve,
  secondOf,
  withCounts,
  withoutQuestion,
  youngS,
  type Count,
  type Counted,
} from '../../../shared/resources/quota-usage.ts'
import { share } from '../../support/strength.ts'

const maps = 'count/configmaps'

function quota(hard: Record<string, string>, used?: Record<string, string>): StoredObject {
  const object = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'n' },
    spec: { hard },
    ...(used === undefined ? {} : { status: { hard, used } }),
  }
  return { object: object as unknown as ApiObject, engine: {} }
}

function count(total: number, bySecond: readonly (readonly [number, number])[] = []): Count {
  return { total, bySecond: new Map(bySecond) }
}

const atS = 1_000
const one: Counted = { atS, names: [maps, 'configmaps'] }

describe('the limits of a quota', () => {
  it.each([
    [{ group: '', plural: 'configmaps' }, ['count/configmaps', 'configmaps']],
    [{ group: '', plural: 'events' }, ['count/events']],
    [{ group: 'example.com', plural: 'widgets' }, ['count/widgets.example.com']],
    [{ group: 'apps', plural: 'pods' }, ['count/pods.apps']],
  ])('count %o by %o', (kind, names) => expect(limitNamesOf(kind)).toEqual(names))

  it.each([
    ['count/configmaps', '3', undefined],
    ['count/widgets.example.com', '1k', undefined],
    ['secrets', '0', undefined],
    ['requests.cpu', '1500m', undefined],
    ['limits.memory', '1.5Gi', undefined],
    ['requests.nvidia.com/gpu', '4', undefined],
    ['widgets', '1', 'Invalid value: "widgets": must be a standard resource for quotas'],
    ['count/', '1', 'Invalid value: "count/": must be a standard resource for quotas'],
    ['secrets', '-1', 'Invalid value: "-1": must be greater than or equal to 0'],
    ['secrets', '1.5', 'Invalid value: "1.5": must be an integer'],
    [
      'secrets',
      'many',
      `Invalid value: "many": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    ],
  ])('%s: %s is answered by %s', (name, value, message) => {
    const errors = checkQuota(quota({ [name]: value }).object)
    expect(errors.map((error) => [error.field, error.message])).toEqual(
      message === undefined ? [] : [[`spec.hard[${name}]`, message]],
    )
  })

  it('are texts, however they are written', () => {
    expect(withQuantityTexts({ spec: { hard: { secrets: 3, pods: '4' } } })).toEqual({
      spec: { hard: { secrets: '3', pods: '4' } },
    })
  })

  it('have no scopes', () => {
    const { object } = quota({})
    const fields = (spec: object) => checkQuota({ ...object, spec } as unknown as ApiObject).map(({ field }) => field)
    expect(fields({ scopes: ['BestEffort'] })).toEqual(['spec.scopes'])
    expect(fields({ scopeSelector: { matchExpressions: [] } })).toEqual(['spec.scopeSelector'])
    expect(fields({ scopes: [], scopeSelector: null })).toEqual([])
  })
})

describe('room in a quota', () => {
  it('is there until it is used up, and the refusal says by what', () => {
    const wanted = [1, 2, 3].map(() => ({ ...one }))
    const full = quota({ [maps]: '2', configmaps: '5', secrets: '0' }, { [maps]: '0', configmaps: '1', secrets: '0' })
    const { next, refused } = reserve(full, wanted, atS)
    expect(next.object.status).toMatchObject({ used: { [maps]: '2', configmaps: '3', secrets: '0' } })
    expect([...refused]).toEqual([
      [wanted[2], `exceeded quota: q, requested: ${maps}=1, used: ${maps}=2, limited: ${maps}=2`],
    ])
  })

  it('is not asked for by what the quota does not limit', () => {
    const stored = quota({ secrets: '1' }, { secrets: '1' })
    const { next, refused } = reserve(stored, [one], atS)
    expect([next, refused.size]).toEqual([stored, 0])
    expect(next).toBe(stored)
    expect(release(stored, one, atS)).toBe(stored)
  })

  it('is all there while nothing is said to be used', () => {
    const { next, refused } = reserve(quota({ [maps]: '1', configmaps: '1' }, { configmaps: '0' }), [one], atS)
    expect([refused.size, next.object.status]).toEqual([
      0,
      { hard: { [maps]: '1', configmaps: '1' }, used: { [maps]: '1', configmaps: '1' } },
    ])
    expect([...reserve(quota({ [maps]: '0' }, {}), [one], atS).refused.values()]).toEqual([
      `exceeded quota: q, requested: ${maps}=1, used: ${maps}=0, limited: ${maps}=0`,
    ])
  })

  it('is there before anything was counted, and the count knows of it', () => {
    const { next, refused } = reserve(quota({ [maps]: '0' }), [one], atS)
    expect(refused.size).toBe(0)
    expect(next.object.status).toBeUndefined()
    const counted = withCounts(next, next, { counts: new Map([[maps, count(0)]]), nowS: atS })
    expect(counted.next.object.status).toEqual({ hard: { [maps]: '0' }, used: { [maps]: '1' } })
    expect(counted.isOpen).toBe(true)
  })

  it('comes back at once for what is young, and by a count for the rest', () => {
    const { next } = reserve(quota({ [maps]: '1' }, { [maps]: '0' }), [one], atS)
    const released = release(next, one, atS + youngS - 1)
    expect(released).toEqual(quota({ [maps]: '1' }, { [maps]: '0' }))
    expect(release(next, { ...one, atS: atS - 1 }, atS)).toBeUndefined()
    const asked = askForCount(next, 5)
    expect(askForCount(asked, 6)).toBe(asked)
    const begun = withoutQuestion(asked)
    expect(withCounts(begun, begun, { counts: new Map(), nowS: atS + youngS })).toMatchObject({
      next: { object: { status: { used: { [maps]: '0' } } }, engine: {} },
      isOpen: false,
    })
  })
})

it.each([
  ['as many are there', 2, [[atS, 2]], '5'],
  ['fewer are there', 3, [[atS, 1]], '7'],
  ['more are there', 1, [[atS, 2]], '5'],
  ['none of its second is there', 3, [[atS - 1, 2]], '8'],
] as const)('what is reserved is used beside a count of five, where %s', (_what, reserved, bySecond, used) => {
  const { next } = reserve(
    quota({ [maps]: '9' }, { [maps]: '0' }),
    Array.from({ length: reserved }, () => ({ ...one })),
    atS,
  )
  const counts = new Map([[maps, count(5, bySecond)]])
  const counted = withCounts(next, next, { counts, nowS: atS }).next
  expect(counted.object.status).toMatchObject({ used: { [maps]: used } })
  expect(withCounts(counted, counted, { counts, nowS: atS }).next.object).toBe(counted.object)
})

it.each([
  ['1970-01-01T00:16:40Z', 1_000],
  ['1970-01-01T00:16:40.9Z', 1_000],
  ['', 0],
])('an object of %j counts by the second %d', (creationTimestamp, second) => {
  expect(secondOf({ metadata: { creationTimestamp } } as unknown as ApiObject)).toBe(second)
})

it('a count that is asked for while another goes on comes after it', () => {
  const asked = askForCount(quota({ [maps]: '1' }, { [maps]: '1' }), 6)
  const begun = withoutQuestion(asked)
  expect(begun.engine).toEqual({})
  expect(withoutQuestion(begun)).toBe(begun)
  const counted = { counts: new Map([[maps, count(1)]]), nowS: atS }
  expect(withCounts(begun, begun, counted).next.engine).toEqual({})
  expect(withCounts(askForCount(begun, 7), begun, counted).next.engine).toEqual({ wakeAtMs: 7 })
})

it('a count ends the hold of the one before', () => {
  const held = { ...quota({}), engine: { hold: { handle: 'h', untilMs: 9 } } }
  expect(withCounts(held, held, { counts: new Map(), nowS: atS }).next.engine).toEqual({})
})

/** Requests over one quota, each step of each in any order, as processes that may end between any two steps. */
type Step =
  | {
      readonly do: 'reserve' | 'insert' | 'fail' | 'remove' | 'note' | 'begin' | 'finish' | 'crash'
      readonly pick: number
    }
  | { readonly do: 'pass'; readonly pick: number }

describe('however requests, removals and counts mix', () => {
  it('there are never more than may be, and the next count in quiet is exact', () => {
    const step = fc.record({
      do: fc.constantFrom<Step['do']>(
        'reserve',
        'reserve',
        'insert',
        'fail',
        'remove',
        'note',
        'begin',
        'finish',
        'crash',
        'pass',
      ),
      pick: fc.nat(200),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 4 }), (steps, most) => {
        const world = new World(most)
        for (const { do: what, pick } of steps) {
          world.act(what, pick)
          expect(world.live.length + world.inFlight.length).toBeLessThanOrEqual(most)
        }
        world.rest()
        expect(world.quota.engine).toEqual({})
        expect(world.quota.object.status).toMatchObject({ used: { [maps]: String(world.live.length) } })
      }),
      { numRuns: share(2_000) },
    )
  })
})

// AWS seed 31302385 of the simulator: what was removed during a count was used until the next one, an hour later.
it('what is removed while a count goes on, which has seen it, makes another count necessary', () => {
  const begun = reserve(versioned(quota({ [maps]: '2' }, { [maps]: '0' }), '1'), [one], atS).next
  const removed = versioned(release(begun, one, atS) as StoredObject, '2')
  const counts = new Map([[maps, count(1, [[atS, 1]])]])
  expect(withCounts(removed, begun, { counts, nowS: atS }).isOpen).toBe(true)
  expect(withCounts(versioned(begun, '2'), begun, { counts, nowS: atS }).isOpen).toBe(false)
  const unnoted = versioned(quota({ [maps]: '2' }, { [maps]: '1' }), '2')
  expect(withCounts(unnoted, unnoted, { counts, nowS: atS }).isOpen).toBe(false)
})

function versioned({ object, engine }: StoredObject, resourceVersion: string): StoredObject {
  return { object: { ...object, metadata: { ...object.metadata, resourceVersion } }, engine }
}

describe('however requests, removals and counts mix, and no process ends in between', () => {
  it('what no other count is asked for is exact', () => {
    const step = fc.record({
      do: fc.constantFrom<Step['do']>('reserve', 'insert', 'fail', 'remove', 'note', 'begin', 'finish'),
      pick: fc.nat(200),
    })
    fc.assert(
      fc.property(fc.nat(3), fc.array(step, { maxLength: 40 }), (old, steps) => {
        const world = new World(4, old)
        for (const { do: what, pick } of steps) world.act(what, pick)
        world.settle()
        if (world.isOpen || world.quota.engine.wakeAtMs !== undefined) return
        expect(world.quota.object.status).toMatchObject({ used: { [maps]: String(world.live.length) } })
      }),
      { numRuns: share(2_000) },
    )
  })
})

class World {
  nowS = 1_000
  /** Another count comes. */
  isOpen = false
  quota: StoredObject
  readonly live: Counted[] = []
  readonly inFlight: Counted[] = []
  /** Removed, and not yet noted. */
  readonly removed: Counted[] = []
  #writes = 0
  counting:
    | { readonly begun: StoredObject; readonly counts: ReadonlyMap<string, Count>; readonly nowS: number }
    | undefined

  /** `old`: so many are there from a time of which nothing is known any more. */
  constructor(most: number, old = 0) {
    this.quota = quota({ [maps]: String(most) }, { [maps]: String(old) })
    for (let i = 0; i < old; i++) this.live.push({ atS: this.nowS - youngS, names: [maps] })
  }

  act(what: Step['do'], pick: number): void {
    const steps: Record<Step['do'], () => void> = {
      reserve: () => this.#reserve(),
      insert: () => this.#take(this.inFlight, pick, (object) => this.live.push(object)),
      fail: () => this.#take(this.inFlight, pick, (object) => this.#takeOff(object)),
      remove: () => this.#take(this.live, pick, (object) => this.removed.push(object)),
      note: () => this.#take(this.removed, pick, (object) => this.#takeOff(object)),
      begin: () => this.#begin(),
      finish: () => this.#finish(),
      crash: () => void [this.inFlight.splice(pick % 3), this.removed.splice(pick % 2)],
      pass: () => this.#pass(pick),
    }
    steps[what]()
  }

  /** What goes on comes to its end. */
  settle(): void {
    while (this.inFlight.length > 0) this.act('insert', 0)
    while (this.removed.length > 0) this.act('note', 0)
    this.#finish()
  }

  /** Everything ends, and counts come when they are asked for. */
  rest(): void {
    this.inFlight.splice(0)
    for (let rounds = 0; rounds < 3; rounds++) {
      this.nowS += youngS + 1
      this.#begin()
      this.#finish()
    }
  }

  #begin(): void {
    this.#write(withoutQuestion(this.quota))
    this.counting = { begun: this.quota, counts: this.#count(), nowS: this.nowS }
  }

  #reserve(): void {
    const wanted = { atS: this.nowS, names: [maps] }
    const { next, refused } = reserve(this.quota, [wanted], this.nowS)
    this.#write(next)
    if (refused.size === 0) this.inFlight.push(wanted)
  }

  #take(from: Counted[], pick: number, then: (object: Counted) => void): void {
    const [taken] = from.splice(pick % Math.max(1, from.length), 1)
    if (taken !== undefined) then(taken)
  }

  #takeOff(object: Counted): void {
    this.#write(release(this.quota, object, this.nowS) ?? askForCount(this.quota, this.nowS * 1_000))
  }

  #count(): ReadonlyMap<string, Count> {
    const bySecond = new Map<number, number>()
    for (const { atS: second } of this.live)
      if (isYoung(second, this.nowS)) bySecond.set(second, (bySecond.get(second) ?? 0) + 1)
    return new Map([[maps, { total: this.live.length, bySecond }]])
  }

  #finish(): void {
    if (this.counting !== undefined) {
      const { next, isOpen } = withCounts(this.quota, this.counting.begun, this.counting)
      this.#write(next)
      this.isOpen = isOpen
    }
    this.counting = undefined
  }

  #write(next: StoredObject): void {
    if (next !== this.quota) this.quota = versioned(next, String(++this.#writes))
  }

  /** No request takes longer than half a minute, no count longer than a minute. */
  #pass(seconds: number): void {
    this.nowS += seconds % 40
    const isLate = ({ atS: second }: Counted): boolean => this.nowS - second > 30
    for (const late of this.inFlight.filter(isLate)) this.inFlight.splice(this.inFlight.indexOf(late), 1)
    if (this.counting !== undefined && this.nowS - this.counting.nowS > 60) this.counting = undefined
  }
}
