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

/** The steps of a file in their order, each with the schema it was recorded under and the number of its line. */
export function recorded<S>(file: string): readonly { line: number; schema: StructuralSchema; step: S }[] {
  const lines = gunzipSync(readFileSync(new URL(`../../../vectors/${file}`, import.meta.url)))
    .toString()
    .trim()
  let schema: StructuralSchema = {}
  return lines.split('\n').flatMap((text, i) => {
    const read = JSON.parse(text) as { schema: StructuralSchema } | S
    if (typeof read === 'object' && read !== null && 'schema' in read) schema = read.schema
    else return [{ line: i + 1, schema, step: read as S }]
    return []
  })
}
