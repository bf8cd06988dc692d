import type { JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'
import type { Harness } from '../harness.ts'

/** Kinds whose schemas make the most work of a value. */
export const schemas = {
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  texts: list({ type: 'string', enum: Array.from({ length: 38_000 }, (_, i) => `v${i}`) }),
  choices: list({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    enum: Array.from({ length: 9_000 }, (_, i) => ({ a: i, b: 'x' })),
  }),
  sets: list({ type: 'string' }, { 'x-kubernetes-list-type': 'set' }),
  maps: list(
    { type: 'object', required: ['a', 'b'], properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b'] },
  ),
  anyOf: list({ type: 'string', anyOf: Array.from({ length: 3_000 }, (_, i) => ({ enum: [`x${i}`] })) }),
  oneOf: list({ type: 'string', oneOf: Array.from({ length: 3_000 }, (_, i) => ({ maxLength: i })) }),
  patterns: list({ type: 'string', pattern: '(?:a?){500}a{500}' }),
  defaults: list({
    type: 'object',
    properties: { d: { type: 'array', items: { type: 'integer' }, default: Array.from({ length: 10_000 }, () => 1) } },
  }),
  wide: {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`p${i}`, { type: 'string' }])),
  },
  deep: nested(60),
} as const satisfies Record<string, StructuralSchema>

export type HostileKind = keyof typeof schemas
export const hostileKinds = Object.keys(schemas) as readonly HostileKind[]

function list(items: StructuralSchema, keywords: StructuralSchema = {}): StructuralSchema {
  return { type: 'object', properties: { s: { type: 'array', items, ...keywords } } }
}

function nested(levels: number): StructuralSchema {
  if (levels === 0) return { type: 'string' }
  const below = nested(levels - 1)
  return { type: 'object', properties: { a: below }, enum: [{ a: { a: 'x' } }] }
}

/** The definition of such a kind, with forty columns that search for what is not there. */
function definitionOf(kind: HostileKind): JsonObject {
  return defined(kind, schemas[kind])
}

/** The definition of a kind with such a spec. */
export function defined(kind: string, spec: StructuralSchema): JsonObject {
  const plural = kind.toLowerCase()
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    additionalPrinterColumns: Array.from({ length: 40 }, (_, i) => ({
      name: `c${i}`,
      type: 'string',
      jsonPath: ['..a..a..a', '..*..*', '.spec', '.spec[?(@.a==1)]'][i % 4],
    })),
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.hostile.dev` },
    spec: {
      group: 'hostile.dev',
      scope: 'Namespaced',
      names: { kind: kindName(kind), plural },
      versions: [version],
    } as unknown as JsonObject,
  }
}

export function pathOf(kind: HostileKind): string {
  return `/apis/hostile.dev/v1/namespaces/default/${kind.toLowerCase()}`
}

export function bodyOf(kind: HostileKind, spec: JsonObject, name = 'a'): JsonObject {
  return { apiVersion: 'hostile.dev/v1', kind: kindName(kind), metadata: { name }, spec }
}

function kindName(kind: string): string {
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`
}

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Serves all of them, and an object of each of the simplest. */
export async function serveHostileKinds(harness: Harness): Promise<void> {
  for (const kind of hostileKinds) {
    const { status, body } = await harness.send(`POST ${definitions}`, { body: definitionOf(kind) })
    if (status !== 201) throw new Error(JSON.stringify(body).slice(0, 1_000))
  }
  const items = Array.from({ length: 165_000 }, () => 1)
  await made(harness, bodyOf('free', { s: items }, 'long'))
  await made(harness, bodyOf('free', { s: Array.from({ length: 9_000 }, () => ({ a: { a: { a: 1 } } })) }, 'bushy'))
}

async function made(harness: Harness, body: JsonObject): Promise<void> {
  const { status } = await harness.send(`POST ${pathOf('free')}`, { body })
  if (status !== 201) throw new Error(`made by ${status}`)
}
