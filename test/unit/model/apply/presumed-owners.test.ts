import { describe, expect, it } from 'vitest'
import { withPresumedOwners } from '../../../../shared/model/apply/presumed-owners.ts'
import { isObject, type JsonObject } from '../../../../shared/model/json.ts'

const number = { type: 'integer' } as const
const write = {
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { a: number, b: number, c: number } } } },
  manager: 'kubectl',
  apiVersion: 'example.com/v1',
  nowMs: 0,
} as const

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

function live(spec: JsonObject, lastApplied?: JsonObject): JsonObject {
  const config = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: lastApplied ?? {} }
  const annotations = lastApplied === undefined ? {} : { annotations: { [annotation]: JSON.stringify(config) } }
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', ...annotations }, spec }
}

function annotated(text: string | number): JsonObject {
  return { ...live({ a: 1 }), metadata: { name: 'w', annotations: { [annotation]: text } } }
}

/** The names of the spec's fields by their owner. */
function specOwners({ metadata }: JsonObject): JsonObject {
  const entries = isObject(metadata) && Array.isArray(metadata['managedFields']) ? metadata['managedFields'] : []
  return Object.fromEntries(
    entries.filter(isObject).map(({ manager, fieldsV1 }) => {
      const spec = isObject(fieldsV1) ? fieldsV1['f:spec'] : {}
      return [manager, Object.keys(isObject(spec) ? spec : {}).filter((name) => name !== '.')]
    }),
  )
}

describe('presumed owners', () => {
  it('are kubectl for what it applied last and nobody changed, and nobody for the rest', () => {
    const tracked = withPresumedOwners({ ...write, live: live({ a: 1, b: 5, c: 3 }, { a: 1, b: 2 }) })
    expect(specOwners(tracked)).toEqual({ 'kubectl-client-side-apply': ['f:a'], 'before-first-apply': ['f:b', 'f:c'] })
    expect(JSON.stringify(tracked)).toContain(`"f:${annotation}":{}`)
  })

  it.each([
    { because: 'nothing says that it was applied client-side', object: live({ a: 1 }) },
    {
      because: 'it is tracked',
      object: {
        ...live({ a: 1 }, { a: 1 }),
        metadata: { ...(live({}, { a: 1 })['metadata'] as JsonObject), managedFields: [] },
      },
    },
    { because: 'the annotation is empty', object: annotated('') },
    { because: 'the annotation is no text', object: annotated(5) },
  ])('are none when $because', ({ object }) => {
    expect(withPresumedOwners({ ...write, live: object })).toBe(object)
  })

  it('are none of fields that cannot be written here', () => {
    const object = live({ a: 1 }, { a: 1 })
    expect(withPresumedOwners({ ...write, live: object, resetFields: [['metadata'], ['spec']] })).toBe(object)
  })
})
