import { expect, it } from 'vitest'
import { present } from '../../../shared/model/present.ts'
import { microTimestamp, timestamp } from '../../../shared/model/time.ts'
import { storedWidget } from '../../support/stored-object.ts'

it('a time is written down in UTC', () => {
  expect(timestamp(0)).toBe('1970-01-01T00:00:00Z')
  expect(microTimestamp(1_500)).toMatch(/^1970-01-01T00:00:01\.500/)
})

it.each([1.7e18, Infinity, -Infinity, Number.NaN])(
  'one that is none, %s, hides no object from those who list it',
  (syncedAtMs) => {
    const { object } = storedWidget('w')
    const shown = present({
      object,
      engine: { wait: { kind: 'Resync', generation: 1, atMs: 0 }, memory: { syncedAtMs } },
    })
    expect(shown.metadata.name).toBe('w')
  },
)
