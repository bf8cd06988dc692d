import { describe, expect, it } from 'vitest'
import type { Selection } from '../../../shared/api/selection.ts'
import {
  createChangingMembership,
  createFixedMembership,
  resumeMembership,
  type Membership,
} from '../../../shared/api/watch/membership.ts'
import { createSharedNames } from '../../../shared/api/watch/known-names.ts'
import { keyOf, keyText } from '../../../shared/model/object-key.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { Change } from '../../../shared/ports/change-feed.ts'
import { plainKind } from './called.ts'
import { fakeServices, storedOf, throwing } from './fake-services.ts'

const everywhere: Selection = { namespace: '', name: undefined, selector: undefined, isMutable: false }
const inN: Selection = { ...everywhere, namespace: 'n' }
const red: Selection = { ...inN, isMutable: true, selector: ({ spec }) => spec?.['color'] === 'red' }

function changeOf(type: Change['type'], name = 'a', { color = 'red', namespace = 'n', version = '7' } = {}): Change {
  const stored = storedOf({ name, namespace, resourceVersion: version }, { spec: { color } })
  return { type, stored, touched: {} as unknown as Change['touched'] }
}

function objectOf(name: string, namespace = 'n'): ApiObject {
  return storedOf({ name, namespace }).object
}

describe('a watch of what no change brings in or out', () => {
  it('tells each change in its place', () => {
    const { eventOf, knows } = createFixedMembership(inN)
    knows(objectOf('a'))
    const types = ['added', 'modified', 'removed'] as const
    expect(types.map((type) => eventOf(changeOf(type)))).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    expect(types.map((type) => eventOf(changeOf(type, 'a', { namespace: 'm' })))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('a watch by content', () => {
  it('tells what enters as added and what leaves as deleted', () => {
    const { eventOf, knows } = createChangingMembership(red, createSharedNames())
    knows(objectOf('known'))
    const rows: readonly (readonly [Change, string | undefined])[] = [
      [changeOf('modified', 'known'), 'MODIFIED'],
      [changeOf('modified', 'a', { color: 'blue' }), undefined],
      [changeOf('modified', 'a'), 'ADDED'],
      [changeOf('modified', 'a'), 'MODIFIED'],
      [changeOf('modified', 'a', { color: 'blue' }), 'DELETED'],
      [changeOf('modified', 'a', { color: 'blue' }), undefined],
      [changeOf('removed', 'a'), undefined],
      [changeOf('added', 'a'), 'ADDED'],
      [changeOf('added', 'a'), 'ADDED'],
      [changeOf('removed', 'a'), 'DELETED'],
      [changeOf('removed', 'a'), undefined],
      [changeOf('added', 'a', { namespace: 'm' }), undefined],
    ]
    expect(rows.map(([change]) => eventOf(change))).toEqual(rows.map(([, event]) => event))
  })
})

describe('the place of an object', () => {
  it.each<[string, Selection, string, string, boolean]>([
    ['all', everywhere, 'm', 'a', true],
    ['its namespace', inN, 'n', 'a', true],
    ['another namespace', inN, 'm', 'a', false],
    ['its name', { ...inN, name: 'a' }, 'n', 'a', true],
    ['another name', { ...inN, name: 'b' }, 'n', 'a', false],
    ['its name elsewhere', { ...inN, name: 'a' }, 'm', 'a', false],
    ['its content, whatever that is', red, 'n', 'a', true],
  ])('is what a watch of %s is about', (...row) => {
    const [, selection, namespace, name, is] = row
    for (const membership of [
      createFixedMembership(selection),
      createChangingMembership(selection, createSharedNames()),
    ])
      expect(membership.mayTell(objectOf(name, namespace))).toBe(is)
  })
})

describe('a client that comes back', () => {
  const item = (name: string, resourceVersion: string, color = 'red') =>
    storedOf({ name, namespace: 'n', resourceVersion }, { spec: { color } })

  async function resume(selection: Selection): Promise<{ membership: Membership; asked: readonly unknown[] }> {
    const pages = [
      { items: [item('a', '20'), item('b', '30', 'blue')], resourceVersion: '10', continue: 'c' },
      { items: [item('c', '5')], resourceVersion: '10' },
    ]
    const services = fakeServices({ list: () => pages.shift() })
    return {
      membership: await resumeMembership({ kind: plainKind, selection }, services, createSharedNames()),
      asked: services.asked,
    }
  }

  it('is told of what it may know, until the newest state that was there when it came', async () => {
    const { membership } = await resume(red)
    const rows: readonly (readonly [Change, string | undefined])[] = [
      [changeOf('modified', 'a'), 'MODIFIED'],
      [changeOf('modified', 'b', { color: 'blue', version: '31' }), undefined],
      [changeOf('modified', 'x', { version: '9' }), 'ADDED'],
      [changeOf('modified', 'b', { color: 'blue', version: '29' }), 'DELETED'],
      [changeOf('removed', 'y', { version: '30' }), 'DELETED'],
      [changeOf('removed', 'y', { version: '31' }), undefined],
      [changeOf('modified', 'z', { color: 'blue', version: '31' }), undefined],
      [changeOf('added', 'z', { color: 'blue', version: '9' }), undefined],
      [changeOf('removed', 'y', { namespace: 'm', version: '9' }), undefined],
      [changeOf('removed', 'c', { version: '31' }), 'DELETED'],
    ]
    expect(rows.map(([change]) => membership.eventOf(change))).toEqual(rows.map(([, event]) => event))
    expect([membership.mayTell(objectOf('a')), membership.mayTell(objectOf('a', 'm'))]).toEqual([true, false])
  })

  it('tells DELETED for a new object, where a feed may leave out the removal of the object before it', async () => {
    const services = fakeServices({ list: () => ({ items: [], resourceVersion: '10' }) })
    const feed = { ...services.feed, reachBack: 5 }
    const options = { kind: plainKind, selection: red }
    const { eventOf } = await resumeMembership(options, { ...services, feed }, createSharedNames())
    const made = (version: string) => eventOf(changeOf('added', 'y', { color: 'blue', version }))
    expect([made('10'), made('15'), made('16')]).toEqual(['DELETED', 'DELETED', undefined])
    expect(eventOf(changeOf('modified', 'y', { color: 'blue', version: '11' }))).toBeUndefined()
    expect(eventOf(changeOf('added', 'y', { version: '11' }))).toBe('ADDED')
  })

  it('with a name is told of that name alone, in doubt too: who may watch one Secret shall not read others', async () => {
    const { membership } = await resume({ ...red, name: 'a' })
    const gone = (name: string) => membership.eventOf(changeOf('modified', name, { color: 'blue', version: '9' }))
    expect([gone('a'), gone('b'), gone('x')]).toEqual(['DELETED', undefined, undefined])
    expect(membership.eventOf(changeOf('removed', 'x', { version: '9' }))).toBeUndefined()
  })

  it('has all of its namespace looked at, since what has left is there in other colors', async () => {
    const { asked } = await resume(red)
    expect(asked).toEqual([
      ['list', plainKind, { namespace: 'n', limit: 32 }],
      ['list', plainKind, { namespace: 'n', limit: 32, continue: 'c' }],
    ])
  })

  it('leaves the names that it has noted when the rest cannot be looked through', async () => {
    const names = createSharedNames().open()
    const pages = [
      () => ({ items: [item('a', '5')], resourceVersion: '10', continue: 'c' }),
      throwing('EXPIRED', 'old'),
    ]
    const services = fakeServices({ list: () => pages.shift()?.() })
    const resumed = resumeMembership({ kind: plainKind, selection: red }, services, { open: () => names })
    await expect(resumed).rejects.toMatchObject({ code: 'EXPIRED' })
    expect(names.has(keyText(keyOf(objectOf('a'))))).toBe(false)
  })

  it('is told up to the version of the list where nothing in it is newer', async () => {
    const services = fakeServices({ list: () => ({ items: [item('a', '5')], resourceVersion: '10' }) })
    const { eventOf } = await resumeMembership(
      { kind: plainKind, selection: { ...red, namespace: '' } },
      services,
      createSharedNames(),
    )
    const gone = (version: string, namespace = 'n') => eventOf(changeOf('removed', 'y', { version, namespace }))
    expect([gone('10'), gone('11'), gone('10', 'm')]).toEqual(['DELETED', undefined, 'DELETED'])
  })
})
