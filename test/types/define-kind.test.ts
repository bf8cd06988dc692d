import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  defineKind,
  defineReconciler,
  done,
  type BodyOf,
  type Condition,
  type ConfigMapObject,
  type ConfigMap,
  type ObjectOf,
  type StatusOf,
} from '../../shared/index.ts'

/** What the compiler knows of a kind, and what it refuses. Errors are held by `npm test`, which compiles this file. */

const Cache = defineKind({
  group: 'types.test',
  version: 'v1',
  kind: 'Cache',
  spec: z.object({
    size: z.number().int().default(1),
    engine: z.enum(['redis', 'valkey']),
    secretRef: z.object({ name: z.string() }).optional(),
    zones: z.array(z.string()).default([]),
  }),
  status: z.object({ endpoint: z.string(), nodes: z.array(z.object({ id: z.string(), ready: z.boolean() })) }),
  columns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
})
type Cache = ObjectOf<typeof Cache>

describe('the types of a kind', () => {
  it('are those of its schema: what is read has its defaults', () => {
    expectTypeOf<Cache['spec']>().toEqualTypeOf<{
      size: number
      engine: 'redis' | 'valkey'
      secretRef?: { name: string } | undefined
      zones: string[]
    }>()
    expectTypeOf<Cache['metadata']['generation']>().toEqualTypeOf<number>()
    expectTypeOf<Cache['metadata']['labels']>().toEqualTypeOf<Record<string, string> | undefined>()
    expect(Cache.kind).toBe('Cache')
  })

  it('let what is applied leave the defaults out', () => {
    expectTypeOf<BodyOf<typeof Cache>['spec']>().toEqualTypeOf<{
      size?: number | undefined
      engine: 'redis' | 'valkey'
      secretRef?: { name: string } | undefined
      zones?: string[] | undefined
    }>()
  })

  it('have every field of the status optional, with the conditions and the generation beside them', () => {
    type Status = NonNullable<Cache['status']>
    expectTypeOf<Status['endpoint']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<Status['nodes']>().toEqualTypeOf<{ id: string; ready: boolean }[] | undefined>()
    expectTypeOf<Status['conditions']>().toEqualTypeOf<readonly Condition[] | undefined>()
    expectTypeOf<Status['observedGeneration']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<Condition['status']>().toEqualTypeOf<'True' | 'False' | 'Unknown'>()
  })

  it('leave to a reconciler the part of the status that is its own', () => {
    expectTypeOf<keyof StatusOf<Cache>>().toEqualTypeOf<'endpoint' | 'nodes'>()
  })

  it('are there for kinds that are built in', () => {
    expectTypeOf<ObjectOf<typeof ConfigMap>>().toEqualTypeOf<ConfigMapObject>()
  })

  it('of one without a status leave a reconciler nothing to report in it', () => {
    const Bare = defineKind({ group: 'types.test', version: 'v1', kind: 'Bare', spec: z.object({}) })
    // @ts-expect-error -- the kind has no status of its own
    defineReconciler(Bare, { reconcile: async () => done({ status: { size: 1 } }) })
    expect(defineReconciler(Bare, { reconcile: async () => done() }).name).toBe('bare')
  })

  it('refuse columns, scopes and schemas that there are not', () => {
    const common = { group: 'types.test', version: 'v1', kind: 'Wrong', spec: z.object({}) }
    // @ts-expect-error -- text is no type of a column
    defineKind({ ...common, columns: [{ name: 'Size', type: 'text', jsonPath: '.spec.size' }] })
    // @ts-expect-error -- a column has a path
    expect(() => defineKind({ ...common, columns: [{ name: 'Size', type: 'string' }] })).toThrow('columns[0].jsonPath')
    // @ts-expect-error -- a scope is Namespaced or Cluster
    expect(() => defineKind({ ...common, scope: 'Global' })).toThrow('scope')
    // @ts-expect-error -- a JSON schema is not what it takes
    expect(() => defineKind({ ...common, spec: { type: 'object' } })).toThrow(TypeError)
    const { spec: _, ...withoutSpec } = common
    // @ts-expect-error -- a kind has a spec
    expect(() => defineKind(withoutSpec)).toThrow(TypeError)
  })

  it('refuse the object of another kind', () => {
    const Other = defineKind({
      group: 'types.test',
      version: 'v1',
      kind: 'Other',
      spec: z.object({ path: z.string() }),
    })
    expectTypeOf<ObjectOf<typeof Other>>().not.toExtend<Cache>()
    expectTypeOf<Cache>().not.toExtend<ObjectOf<typeof Other>>()
  })
})
