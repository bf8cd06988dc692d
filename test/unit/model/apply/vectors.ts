/** Reads the recordings of Kubernetes' Go code; test/vectors/README.md says where they come from. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../../shared/model/schema/structural-schema.ts'

interface Step {
  readonly op: 'apply' | 'update'
  readonly manager: string
  readonly force: boolean
  readonly live?: JsonObject
  readonly object: JsonObject
}

/** A step of structured-merge-diff's updater, over sets by manager. */
export interface UpdaterStep extends Step {
  readonly live: JsonObject
  readonly managers: Readonly<Record<string, { readonly fields: JsonObject; readonly applied: boolean }>>
  readonly want: {
    readonly object?: JsonObject
    readonly managers?: Readonly<Record<string, JsonObject>>
    readonly conflicts?: readonly string[]
  }
}

/** A step of apimachinery's field manager, over `metadata.managedFields`. */
export interface FieldManagerStep extends Step {
  readonly subresource?: string
  readonly reset: readonly (readonly string[])[]
  readonly want: {
    readonly object?: JsonObject
    readonly message?: string
    readonly causes?: readonly { readonly message: string; readonly field: string }[]
  }
}

/** With the schema it was recorded under and the number of its line. */
interface Recorded<S> {
  readonly line: number
  readonly schema: StructuralSchema
  readonly step: S
}

export function updaterSteps(): readonly Recorded<UpdaterStep>[] {
  return recorded('ssa-vectors.jsonl.gz') as readonly Recorded<UpdaterStep>[]
}

export function fieldManagerSteps(): readonly Recorded<FieldManagerStep>[] {
  return recorded('field-manager-vectors.jsonl.gz') as readonly Recorded<FieldManagerStep>[]
}

/** A line is a step, or the schema of those that follow. */
function recorded(file: string): readonly Recorded<unknown>[] {
  const text = gunzipSync(readFileSync(new URL(`../../../vectors/${file}`, import.meta.url))).toString()
  let schema: StructuralSchema = {}
  return text.split('\n').flatMap((json, i) => {
    if (json === '') return []
    const read = JSON.parse(json) as object
    if (!('schema' in read)) return [{ line: i + 1, schema, step: read }]
    schema = read.schema as StructuralSchema
    return []
  })
}
