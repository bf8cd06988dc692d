import { expect, it } from 'vitest'
import { createQuarantine } from '../../../../../shared/adapters/local/sqlite/quarantine.ts'

const key = (name: string) => ({ group: '', kind: 'ConfigMap', namespace: 'default', name })

it('names what was found damaged, once, until it is deleted', () => {
  const quarantine = createQuarantine()
  quarantine.release(key('a'))
  quarantine.note(key('a'))
  quarantine.note(key('a'))
  quarantine.note(key('b'))
  expect(quarantine.keys()).toEqual([key('a'), key('b')])
  quarantine.release(key('a'))
  expect(quarantine.keys()).toEqual([key('b')])
})

it('names a thousand at most, and others when there is room', () => {
  const quarantine = createQuarantine()
  for (let i = 0; i < 1_001; i++) quarantine.note(key(`k${i}`))
  expect(quarantine.keys()).toHaveLength(1_000)
  quarantine.release(key('k0'))
  quarantine.note(key('late'))
  expect(quarantine.keys().at(-1)).toEqual(key('late'))
})
