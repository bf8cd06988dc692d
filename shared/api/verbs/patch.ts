import { OperatingError } from '../../model/errors.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { apiVersionOf } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { child, entry, forbidden, fieldRequired } from '../../model/schema/field-error.ts'
import { warnOfFaults } from '../../resources/admission.ts'
import { withMetadataLists } from '../../resources/keyed-merge.ts'
import type { Patch } from '../../resources/resources.ts'
import { authorOf, placeOf, subresourceOf, type ApiServices, type Call, type VerbHandler } from '../call.ts'
import { placeBody } from '../place-body.ts'
import { faultsOf } from '../duplicate-fields.ts'
import { flag, refuseOptions, textParameter, writeOptions } from '../query.ts'
import { replyWritten } from '../reply-written.ts'
import { methodNotAllowed } from '../request-info.ts'
import { jsonOf, mediaType, mediaTypeRefusal, readBytes, readObject } from '../request-body.ts'
import { strategicAsMerge } from '../strategic-patch.ts'
import { viewOf } from '../view.ts'

/** `PATCH` of an object or its status, by the kind of patch that Content-Type names. */
export function createPatch({ resources, clock }: ApiServices): VerbHandler {
  return async (call) => {
    if (call.info.name === '') throw methodNotAllowed()
    const view = viewOf(call, clock)
    const options = { ...writeOptions(call.request, 'PatchOptions'), ...subresourceOf(call), ...authorOf(call) }
    const { patch, faults } = await readPatch(call)
    const twice = warnOfFaults(call.kind, faults, options, patch.type !== 'apply')
    const written = await resources.patch(call.kind, placeOf(call), patch, options)
    return replyWritten(written.outcome === 'created' ? 201 : 200, { kind: call.kind, view, twice }, written)
  }
}

/** A patch, and what is wrong with its text. */
interface SentPatch {
  readonly patch: Patch
  readonly faults: readonly string[]
}

async function readPatch(call: Call): Promise<SentPatch> {
  const { request } = call
  const type = mediaType(request)
  if (type === applyType) return readApply(call)
  if (request.query.has('force'))
    refuseOptions('PatchOptions', [forbidden('force', 'may not be specified for non-apply patch')])
  if (!isJsonType(type)) throw mediaTypeRefusal(type, patchTypes.join(', '))
  return patchOf(call.kind, type, jsonOf(await readBytes(request)))
}

/** A patch in JSON, and what is wrong with its text. Throws BAD_REQUEST, TOO_LARGE. */
export function patchOf(kind: ServedKind, type: JsonType, body: Json): SentPatch & { readonly patch: PlainPatch } {
  switch (type) {
    case 'application/merge-patch+json':
      return mergeOf(asObject(body))
    case 'application/json-patch+json': {
      const operations = requireOperations(body)
      const faults = [...faultsOf(operations), ...findUnknownFields(operations)]
      return { patch: { type: 'json', body: operations }, faults: faults.map((fault) => `json patch ${fault}`) }
    }
    case 'application/strategic-merge-patch+json':
      return mergeOf(strategicAsMerge(kind, asObject(body)), kind)
  }
}

type JsonType =
  | 'application/merge-patch+json'
  | 'application/json-patch+json'
  | 'application/strategic-merge-patch+json'

function isJsonType(type: string): type is JsonType {
  return jsonTypes.some((known) => known === type)
}

export const applyType = 'application/apply-patch+yaml'
const jsonTypes: readonly JsonType[] = [
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
]
const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', applyType]

/** `listsOf`: the kind whose lists with keys merge item by item. */
function mergeOf(body: JsonObject, listsOf?: ServedKind): SentPatch & { readonly patch: PlainPatch } {
  return {
    patch: { type: 'merge', body, ...(listsOf?.builtIn === true && { keyedBy: withMetadataLists(listsOf.schema) }) },
    faults: faultsOf(body),
  }
}

export type ApplyPatch = Extract<Patch, { readonly type: 'apply' }>
type PlainPatch = Exclude<Patch, ApplyPatch>

/** What somebody applies. Throws INVALID if they do not say who they are. */
export async function readApply(call: Call): Promise<SentPatch & { readonly patch: ApplyPatch }> {
  const { query } = call.request
  if (textParameter(query, 'fieldManager') === undefined)
    refuseOptions('PatchOptions', [fieldRequired('fieldManager', 'is required for apply patch')])
  const body = await readObject(call.request)
  requireType(body, call.kind)
  return { patch: { type: 'apply', body: placeBody(call, body), force: flag(query, 'force') }, faults: faultsOf(body) }
}

/** What is applied says what it is: its fields are owned in that version. */
function requireType({ apiVersion, kind }: JsonObject, { group, version }: ServedKind): void {
  if (isText(apiVersion) && isText(kind)) return
  const wanted = apiVersionOf(group, version)
  throw new OperatingError(
    'BAD_REQUEST',
    isText(apiVersion)
      ? "Object 'Kind' is missing in the apply patch"
      : `Incorrect version specified in apply patch. Specified patch version: , expected: ${wanted}`,
  )
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

function asObject(body: Json): JsonObject {
  if (isObject(body)) return body
  throw new OperatingError('BAD_REQUEST', 'the body of a merge patch must be an object')
}

/** What no operation has. */
function findUnknownFields(operations: readonly JsonObject[]): readonly string[] {
  const found: string[] = []
  for (const [i, operation] of operations.entries()) {
    for (const name in operation)
      if (!operationFields.has(name)) found.push(`unknown field "${child(entry('', i), name)}"`)
    if (found.length >= faultsMax) break
  }
  return found
}

const operationFields: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])
/** As many as a reply has room for. */
const faultsMax = 100

const operationsMax = 10_000

/** The operations of a JSON patch. Throws BAD_REQUEST, TOO_LARGE. */
function requireOperations(body: Json): readonly JsonObject[] {
  if (!Array.isArray(body) || !body.every(isObject))
    throw new OperatingError('BAD_REQUEST', 'the body of a JSON patch must be a list of operations')
  if (body.length <= operationsMax) return body
  throw new OperatingError(
    'TOO_LARGE',
    `The allowed maximum operations in a JSON patch is ${operationsMax}, got ${body.length}`,
  )
}
