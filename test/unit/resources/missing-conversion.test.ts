import { describe, expect, it } from 'vitest'
import { hasCode } from '../../../shared/model/errors.ts'
import type { CustomResourceDefinition } from '../../../shared/model/custom-resource-definition.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { kindOfStored, missingConversion } from '../../../shared/resources/missing-conversion.ts'

const versions = [
  { name: 'v1', served: true, storage: false },
  { name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' as const } } },
]

function definitionOf(annotations: object | undefined, of: readonly object[] = versions): CustomResourceDefinition {
  const names = { kind: 'Widget', plural: 'widgets' }
  return {
    metadata: { name: 'widgets.example.com', ...(annotations && { annotations }) },
    spec: { group: 'example.com', names, versions: of },
  } as unknown as CustomResourceDefinition
}

const byFunctions = { 'setpoint.dev/conversion': 'functions' }
const objectIn = (version: string) =>
  ({ apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name: 'a', namespace: 'n' } }) as never
const message =
  'Widget.example.com "n/a" cannot be converted from v1 to v2: this release has no functions for that; deploy one that has both versions (olderVersions of defineKind)'

describe('the conversion that another release has', () => {
  it.each([
    ['no annotation', undefined],
    ['other annotations', { note: 'functions' }],
    ['another value', { 'setpoint.dev/conversion': 'None' }],
  ])('is missed by no definition with %s', (_what, annotations) => {
    expect(missingConversion(definitionOf(annotations))).toBeUndefined()
  })

  it('is missed by none without a version to store in', () => {
    expect(missingConversion(definitionOf(byFunctions, versions.slice(0, 1)))).toBeUndefined()
  })

  it('knows the versions and their schemas, and lacks all but the stored one', () => {
    const missing = missingConversion(definitionOf(byFunctions))
    expect(missing).toMatchObject({ group: 'example.com', kind: 'Widget', version: 'v2', schema: { type: 'object' } })
    expect(['v1', 'v2', 'v3'].map((name) => missing?.lacks?.(name))).toEqual([true, false, true])
    expect(missing?.schemaOf('v1')).toMatchObject({ 'x-kubernetes-preserve-unknown-fields': true })
    expect([missing?.schemaOf('v2'), missing?.schemaOf('v3')]).toEqual([{ type: 'object' }, undefined])
  })

  it('leaves an object in its version as it is, and makes nothing else of it', () => {
    const missing = missingConversion(definitionOf(byFunctions))
    const [old, stored] = [objectIn('v1'), objectIn('v2')]
    expect([missing?.convert(stored, 'v2'), missing?.convert(old, 'v1')]).toEqual([stored, old])
    expect([missing?.findFault(stored, 'v2'), missing?.findFault(old, 'v2')]).toEqual([undefined, message])
    const answer = { status: 422, reason: 'Invalid' }
    const causes = [{ field: 'apiVersion', reason: 'FieldValueInvalid', message }]
    expect(() => missing?.convert(old, 'v2')).toThrow(
      expect.objectContaining({
        code: 'CONVERSION_FAILED',
        message,
        details: { name: 'a', group: 'example.com', kind: 'Widget', causes, answer },
      }),
    )
  })
})

describe('a kind as it is for one object', () => {
  const kind = { group: 'example.com', kind: 'Widget', version: 'v1', storageVersion: 'v1' } as ServedKind
  const conversion = {} as never

  it.each([
    ['its definition has the version', { versions: ['v0', 'v1'] }, 'v0'],
    ['there is no definition', {}, 'v2'],
    ['somebody converts it', { versions: ['v1'], conversion }, 'v2'],
  ])('is the same if %s', (_what, more, version) => {
    const one = { ...kind, ...more }
    expect(kindOfStored(one, objectIn(version))).toBe(one)
  })

  it('lacks the functions for a version that its definition has not yet', () => {
    const found = kindOfStored({ ...kind, versions: ['v1'] }, objectIn('v2'))
    const failures = ['v2', 'v1'].map((version) => {
      try {
        return found.conversion?.convert(objectIn('v2'), version)
      } catch (error) {
        return hasCode(error, 'CONVERSION_FAILED')
      }
    })
    expect([failures, found.conversion?.lacks?.('v2')]).toEqual([[objectIn('v2'), true], true])
    expect(found.conversion?.schemaOf('v2')).toBeUndefined()
  })
})
