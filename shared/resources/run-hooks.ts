import type { AdmissionHooks, AdmissionRequest, HookContext } from '../model/admission-hooks.ts'
import { OperatingError } from '../model/errors.ts'
import { foreignPart } from '../model/foreign-part.ts'
import { copyJson, isObject, type Json, type JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import type { FieldError } from '../model/schema/field-error.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Clock } from '../ports/clock.ts'
import { refuse } from './admission.ts'

/** So long a hook may take. */
const hookMsMax = 5_000
const warningsMax = 10
const warningLengthMax = 256
const problemsMax = 20
const messageLengthMax = 500

/** The hooks of a kind over one write. */
export interface HookRun {
  /** What the hooks have warned of so far. */
  readonly warnings: readonly string[]
  /** The object with what `default` of its kind adds; the same object if it adds nothing. */
  complete(object: ApiObject): Promise<ApiObject>
  /** Throws INVALID with what `validate` of its kind finds. */
  check(object: ApiObject): Promise<void>
}

export function createHookRun(
  kind: ServedKind & { readonly hooks: AdmissionHooks },
  request: AdmissionRequest,
  clock: Clock,
): HookRun {
  const warnings: string[] = []
  const warn = (text: string): void => {
    if (warnings.length < warningsMax) warnings.push(text.slice(0, warningLengthMax))
  }
  const ask = (name: keyof AdmissionHooks, object: ApiObject): Promise<unknown> =>
    call({ kind, name, object, clock }, { ...request, warn })
  return {
    warnings,
    complete: async (object) => {
      if (kind.hooks.default === undefined) return object
      const made = await ask('default', object)
      return made === undefined ? object : withMade(object, readMade(kind, object, made))
    },
    check: async (object) => {
      if (kind.hooks.validate === undefined) return
      const problems = readProblems(kind, object, await ask('validate', object))
      refuse(kind, object.metadata.name, problems)
    },
  }
}

interface HookCall {
  readonly kind: ServedKind & { readonly hooks: AdmissionHooks }
  readonly name: keyof AdmissionHooks
  readonly object: ApiObject
  readonly clock: Clock
}

/** A hook that fails or takes too long keeps the write back: what it would have said is not known. */
async function call(
  { kind, name, object, clock }: HookCall,
  { old, ...request }: Omit<HookContext, 'signal'>,
): Promise<unknown> {
  const time = new AbortController()
  const over = new AbortController()
  const fail = (why: string, cause?: unknown): OperatingError => hookFailure({ kind, name, object }, why, cause)
  const late = clock.sleep(hookMsMax, over.signal).then(() => {
    if (over.signal.aborted) return
    time.abort('the time of the hook is over')
    throw fail(`it took longer than ${hookMsMax / 1_000} s`)
  })
  try {
    const context = { ...request, ...(old === undefined ? {} : { old: copyJson(old) }), signal: time.signal }
    const asked = Promise.resolve(kind.hooks[name]?.(copyJson(object), context))
    return await Promise.race([asked, late])
  } catch (error) {
    if (error instanceof OperatingError && error.code === 'HOOK_FAILED') throw error
    throw fail(error instanceof Error ? error.message : String(error), error)
  } finally {
    over.abort()
  }
}

function hookFailure({ kind, name, object }: Omit<HookCall, 'clock'>, why: string, cause?: unknown): OperatingError {
  const whose = `${name} of ${kind.kind}.${kind.group} for "${object.metadata.name}"`
  const message = `the hook ${whose} failed: ${why.slice(0, messageLengthMax)}`
  return new OperatingError('HOOK_FAILED', message, { cause })
}

interface Made {
  readonly spec?: JsonObject
  readonly labels?: JsonObject
  readonly annotations?: JsonObject
}

function readMade(kind: HookCall['kind'], object: ApiObject, made: unknown): Made {
  const fields = ['spec', 'labels', 'annotations']
  const isMade =
    isObject(made) && Object.entries(made).every(([name, field]) => fields.includes(name) && isObject(field))
  const why = isMade ? foreignPart(made, '') : 'it returns none of spec, labels and annotations'
  if (why !== undefined) throw hookFailure({ kind, name: 'default', object }, why)
  return copyJson(made) as Made
}

function withMade(object: ApiObject, { spec, labels, annotations }: Made): ApiObject {
  const { metadata } = object
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(labels && { labels: { ...metadata.labels, ...(labels as Record<string, string>) } }),
      ...(annotations && { annotations: { ...metadata.annotations, ...(annotations as Record<string, string>) } }),
    },
    ...(spec && { spec }),
  }
}

function readProblems(kind: HookCall['kind'], object: ApiObject, found: unknown): readonly FieldError[] {
  if (found === undefined) return []
  if (!Array.isArray(found)) throw hookFailure({ kind, name: 'validate', object }, 'it returns no list of problems')
  return found.slice(0, problemsMax).map((problem: Json) => {
    const { field, message } = isObject(problem) ? problem : { field: '', message: problem }
    const text = String(message).slice(0, messageLengthMax)
    return {
      field: field === '' ? '<nil>' : String(field),
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${text}`,
    }
  })
}
