import { expect, it } from 'vitest'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { newObject } from '../../../shared/resources/transitions.ts'

const kind = { group: 'example.com', version: 'v1', kind: 'Widget', namespaced: true } as unknown as ServedKind
const birth = { namespace: 'default', nowMs: 0, uid: 'u', suffix: 'abcde' }

it.each([
  { given: { name: 'w' }, name: 'w', generateName: undefined },
  { given: { generateName: 'w-' }, name: 'w-abcde', generateName: 'w-' },
  { given: { name: 'w', generateName: 'v-' }, name: 'w', generateName: 'v-' },
])('a new object with $given is named $name', ({ given, name, generateName }) => {
  const { metadata } = newObject(kind, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: given }, birth)
  expect(metadata).toMatchObject({ name, namespace: 'default', uid: 'u', generation: 1 })
  expect(metadata.generateName).toBe(generateName)
  expect(Object.hasOwn(metadata, 'generateName')).toBe(generateName !== undefined)
})
