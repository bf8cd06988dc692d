import { authorizerValues, type Decide } from '../cel/functions/authorizer.ts'
import type { Meter } from '../cel/meter.ts'
import { LazyMap, readUntyped } from '../cel/untyped-value.ts'
import { CelFailure, type Result } from '../cel/value.ts'
import type { Json } from '../json.ts'
import type { CompiledBase, NamedProgram } from './compile-policy.ts'

/** What expressions of a policy see, with one set of parameters. */
export interface PolicySubject {
  readonly object: Json | undefined
  readonly oldObject: Json | undefined
  readonly request: Json
  readonly params: Json | undefined
  readonly namespaceObject: Json | undefined
  /** Who may do what. Left out, nobody knows. */
  readonly decide?: Decide | undefined
  /** Takes what a policy wants to have written beside the record of a request. */
  readonly note?: (key: string, value: string) => void
}

/** The values of a policy's variables, in their order. */
export function valuesOf({ variables }: CompiledBase, subject: PolicySubject, meter: Meter): readonly Result[] {
  const { object, oldObject, request, params, namespaceObject, decide } = subject
  const plain = [object, oldObject, request, params, namespaceObject].map(readUntyped)
  const rights: readonly Result[] = decide === undefined ? [] : authorizerValues(decide, request)
  const lazy = new LazyMap(
    new Map(
      variables.map(({ name, program }) => [name, (): Result => program.run([...plain, lazy, ...rights], meter)]),
    ),
  )
  return [...plain, lazy, ...rights]
}

/** All conditions hold, or one does not; a condition that fails counts only where all others hold. */
export function findMatch(
  conditions: readonly NamedProgram[],
  values: readonly Result[],
  meter: Meter,
): boolean | { readonly failure: string } {
  let failure: string | undefined
  for (const { expression, program } of conditions) {
    const result = program.run(values, meter)
    if (result === false) return false
    if (result instanceof CelFailure) failure ??= `expression '${expression}' resulted in error: ${result.message}`
  }
  return failure === undefined ? true : { failure }
}
