import { expect, it } from 'vitest'
import type { EventType } from '../../../shared/api/watch/membership.ts'
import { endOfView, shownIn } from '../../../shared/api/watch/shown-changes.ts'
import type { Conversion } from '../../../shared/model/conversion.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { Change } from '../../../shared/ports/change-feed.ts'
import { plainKind } from './called.ts'
import { storedOf } from './fake-services.ts'

const changeOf = (name: string): Change => ({
  type: 'modified',
  stored: storedOf({ name }),
  touched: {} as unknown as Change['touched'],
})

const converted: ServedKind = {
  ...plainKind,
  version: 'v2',
  conversion: {
    version: 'v1',
    convert: (object: ApiObject) => {
      if (object.metadata.name === 'odd') throw new OperatingError('CONVERSION_FAILED', 'it has no color')
      return { ...object, apiVersion: 'g.dev/v2' }
    },
  } as Partial<Conversion> as Conversion,
}

it('changes are shown as they are in the version that they are stored in', () => {
  const changes = [changeOf('a'), changeOf('b')]
  const shown = shownIn(plainKind, changes)
  expect(shown).toEqual({ changes, unshown: [] })
  expect(shown.changes[0]).toBe(changes[0])
})

it('changes are shown in another version, but for those that cannot be', () => {
  const { changes, unshown } = shownIn(converted, [changeOf('a'), changeOf('odd'), changeOf('b')])
  const names = changes.map(({ type, stored: { object } }) => `${type} ${object.apiVersion} ${object.metadata.name}`)
  expect(names).toEqual(['modified g.dev/v2 a', 'modified g.dev/v2 b'])
  expect(unshown.map(({ change, fault }) => [change.stored.object.metadata.name, fault.code])).toEqual([
    ['odd', 'CONVERSION_FAILED'],
  ])
})

it('a watch ends at what it may be about and cannot show', () => {
  const fault = new OperatingError('CONVERSION_FAILED', 'it has no color')
  const unshown = [{ change: changeOf('odd'), fault }]
  const none: EventType | undefined = undefined
  const membership = (is: boolean) => ({ mayTell: () => is, knows: () => {}, eventOf: () => none, end: () => {} })
  expect(endOfView([], membership(true))).toBeUndefined()
  expect(endOfView(unshown, membership(false))).toBeUndefined()
  expect(endOfView(unshown, membership(true))).toMatchObject({
    code: 'EXPIRED',
    message: 'the watch ends, list again: it has no color',
    cause: fault,
  })
})
