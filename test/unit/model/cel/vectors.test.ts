import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { checkRules } from '../../../../shared/model/cel/check-rules.ts'
import { validateRules } from '../../../../shared/model/cel/validate-rules.ts'
import type { Json } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

/** What Kubernetes answered: `test/vectors/README.md` says how it was asked. */
interface Vector {
  readonly schema: StructuralSchema
  readonly value: Json
  readonly old?: Json
  readonly want: {
    readonly compile?: string
    readonly errors?: readonly { readonly field: string; readonly type: string; readonly detail: string }[]
  }
}

const file = new URL('../../../vectors/cel-vectors.jsonl.gz', import.meta.url)
const vectors = gunzipSync(readFileSync(file)).toString().trim().split('\n')
const named = vectors.map((line, i) => {
  const vector = JSON.parse(line) as Vector
  const [first] = vector.schema['x-kubernetes-validations'] ?? []
  return { ...vector, name: `${i}: ${first?.rule ?? JSON.stringify(vector.schema).slice(0, 100)}` }
})

/** Kubernetes' words where ours are others: there they repeat what a library of Go says. */
const ownWords =
  /^(?:IP Address|quantities must match|URL parse error|network address parse error|Failed with|.?no such overload: )/

describe('rules in CEL, as Kubernetes answers', () => {
  it.each(named)('$name', ({ schema, value, old, want }) => {
    const faults = checkRules(schema)
    expect(faults.length > 0).toBe(want.compile !== undefined)
    if (faults.length > 0) return
    const found = validateRules(schema, value, { path: 'self', old })
    const errors = found.toSorted((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0))
    const said = errors.map(({ field, reason }) => ({ field, type: reason }))
    expect(said).toEqual((want.errors ?? []).map(({ field, type }) => ({ field, type })))
    for (const [i, { detail }] of (want.errors ?? []).entries())
      if (detail !== '' && !ownWords.test(detail)) expect(errors[i]?.message).toContain(detail)
  })
})
