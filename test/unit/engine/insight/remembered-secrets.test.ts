import { describe, expect, it } from 'vitest'
import {
  findSecretPaths,
  joinSecretPaths,
  secretInMemory,
} from '../../../../shared/engine/insight/remembered-secrets.ts'
import { SecretValues } from '../../../../shared/engine/insight/secret-values.ts'
import type { Memory } from '../../../../shared/model/engine-state.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const secrets = new SecretValues(storedWidget('w').object)
secrets.note({ stringData: { password: 'Geheim123', pin: '12345678' } })
const notMet = undefined
const nothing = undefined
const known = { of: 'x', state: 'done' } as const
const memory: Memory = {
  once: {
    none: { ...known, state: 'begun' },
    text: { ...known, result: 'Geheim123' },
    deep: { ...known, result: { id: 'i-123456', list: [null, true, { url: 'https://u:Geheim123@h' }], pin: 12345678 } },
  },
  notes: { n: 'Geheim123', other: 5, id: 'i-123456' },
}
const paths = [
  ['once', 'text', 'result'],
  ['once', 'deep', 'result', 'list', 2, 'url'],
  ['once', 'deep', 'result', 'pin'],
  ['notes', 'n'],
]

describe('what runs leave', () => {
  it('holds values of Secrets where a run that has met them finds them', () => {
    expect(findSecretPaths(memory, secrets)).toEqual(paths)
    expect(findSecretPaths({}, secrets)).toEqual([])
    expect(secrets.hasMasked).toBe(false)
  })

  it('is not looked through by a run that has met no Secret', () => {
    expect(findSecretPaths({ ...memory, secretPaths: [['notes', 'id']] }, notMet)).toEqual([['notes', 'id']])
    expect(findSecretPaths(memory, notMet)).toBeUndefined()
  })

  it('is where two runs have left it, and told once', () => {
    expect(joinSecretPaths(paths.slice(0, 3), paths.slice(2))).toEqual(paths)
    expect(joinSecretPaths(undefined, paths)).toEqual(paths)
    expect(joinSecretPaths(paths)).toEqual(paths)
    expect(joinSecretPaths()).toEqual([])
  })

  it('is known to later runs, where it still is', () => {
    const found = secretInMemory({ ...memory, secretPaths: [...paths, ['notes', 'gone', 'deep'], ['notes']] })
    const later = new SecretValues(storedWidget('w').object)
    later.note(found ?? {})
    expect(later.mask('Geheim123 at https://u:Geheim123@h with i-123456, 12345678')).toBe(
      '*** at *** with i-123456, ***',
    )
    expect(secretInMemory(memory)).toBeUndefined()
    expect(secretInMemory(nothing)).toBeUndefined()
  })
})
