import { expect, it } from 'vitest'
import * as z from 'zod'
import { findSchemaChanges, reportSchemaChange } from '../../../../shared/engine/insight/schema-report.ts'
import { defineKind } from '../../../../shared/index.ts'
import type { CustomResourceDefinition } from '../../../../shared/model/custom-resource-definition.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const widgetOf = (spec: z.ZodType, status: z.ZodType = z.object({}), version = 'v1') =>
  defineKind({ group: 'test.setpoint.dev', version, kind: 'Widget', spec, status })
const before = widgetOf(z.object({ size: z.number().int() }))
const after = widgetOf(z.object({ size: z.number().int(), color: z.string() }))

function objectOf(spec: object, isOfCluster = false): ApiObject {
  const { object } = storedWidget('w')
  const { namespace: _, ...wide } = object.metadata
  const metadata = isOfCluster ? wide : object.metadata
  return { ...object, apiVersion: 'test.setpoint.dev/v1', metadata, spec } as ApiObject
}

const fits = objectOf({ size: 1, color: 'red' })
const lacks = objectOf({ size: 1 })

it('a schema that is the same has no report, and no object is read', async () => {
  const unread = (function* (): Generator<never> {
    yield expect.fail('nobody reads')
  })()
  expect(await reportSchemaChange(after, after.definition, unread)).toBeUndefined()
  expect(
    await reportSchemaChange(
      widgetOf(z.object({ size: z.number().int() }), z.object({ a: z.string() })),
      before.definition,
      [],
    ),
  ).toBeUndefined()
})

it.each([
  ['is not stored yet', after, undefined],
  ['is another’s', { group: 'test.setpoint.dev', version: 'v1', kind: 'Widget', namespaced: true }, before.definition],
  ['has no versions', after, { spec: { versions: [] } } as unknown as CustomResourceDefinition],
  ['has no schema', after, { spec: { versions: [{ name: 'v1' }] } } as unknown as CustomResourceDefinition],
])('a definition that %s has no changes', (_what, kind, stored) => {
  expect(findSchemaChanges(kind, stored)).toEqual([])
})

it('the version that the reconciler reads is compared, and the first one where it is not there', () => {
  const [older] = before.definition?.spec.versions ?? []
  const [newer] = after.definition?.spec.versions ?? []
  const both = { spec: { versions: [{ ...newer, name: 'v0' }, older] } } as unknown as CustomResourceDefinition
  expect(findSchemaChanges(before, both)).toEqual([])
  expect(findSchemaChanges(after, both)).toMatchObject([{ path: 'spec.color' }])
  expect(
    findSchemaChanges(widgetOf(z.object({ size: z.number().int(), color: z.string() }), z.object({}), 'v2'), both),
  ).toEqual([])
})

it('a version that is converted is compared with the same one of before, and its objects as they will be', async () => {
  const spec = z.object({ amount: z.number().int() })
  const convertedFrom = (older: z.ZodType<{ size: number }>) =>
    defineKind({
      group: 'test.setpoint.dev',
      version: 'v2',
      kind: 'Widget',
      spec,
      olderVersions: (version) => [
        version('v1', {
          spec: older,
          upgrade: (of) => ({ spec: { amount: of.spec.size } }),
          downgrade: (of) => ({ spec: { size: of.spec.amount } }),
        }),
      ],
    })
  const same = convertedFrom(z.object({ size: z.number().int() }))
  expect(await reportSchemaChange(same, before.definition, [[lacks, objectOf({ size: 'much' })]])).toMatchObject({
    changes: [{ path: 'v1', says: 'is converted to v2' }],
    objects: 2,
    invalid: 1,
    examples: [expect.stringContaining('cannot be converted from v1 to v2: spec.size')],
  })
  const other = convertedFrom(z.object({ size: z.number().int().max(5) }))
  expect(findSchemaChanges(other, before.definition)).toMatchObject([{ path: 'v1' }, { path: 'spec.size' }])
})

it('an object that fits is told of as such', async () => {
  expect(await reportSchemaChange(after, before.definition, [[fits]])).toMatchObject({
    kind: 'Widget.test.setpoint.dev',
    changes: [{ path: 'spec.color' }],
    objects: 1,
    invalid: 0,
    examples: [],
    advice: 'every object that was looked at fits',
  })
})

it.each([
  ['default/w: ', lacks],
  ['w: ', objectOf({ size: 1 }, true)],
])('an object that does not fit is named: %s', async (name, object) => {
  const report = await reportSchemaChange(after, before.definition, [[fits, object]])
  expect(report).toMatchObject({ objects: 2, invalid: 1, examples: [expect.stringMatching(/color/)] })
  expect(report?.examples[0]?.startsWith(name)).toBe(true)
  expect(report?.advice).toContain('SpecInvalid')
})

it('ten of them are named, of all pages', async () => {
  const pages = Array.from({ length: 4 }, () => [fits, lacks, lacks, lacks])
  const report = await reportSchemaChange(after, before.definition, pages)
  expect([report?.objects, report?.invalid, report?.examples.length]).toEqual([16, 12, 10])
})
