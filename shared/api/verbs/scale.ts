import { hasCode } from '../../model/errors.ts'
import { isObject, textOf, type Json, type JsonObject } from '../../model/json.ts'
import { onNewest } from '../../model/on-newest.ts'
import { invalid } from '../../model/schema/field-error.ts'
import type { ApiObject } from '../../model/object.ts'
import { AdmissionBudget } from '../../model/policy/admission-budget.ts'
import { defineBuiltInKind, type ScalePaths, type ServedKind } from '../../model/served-kind.ts'
import { namesVersion } from '../../model/writable-metadata.ts'
import type { HttpResponse } from '../../ports/http-handler.ts'
import { admitBody, checkType, invalidBecause, warnOfFaults, type Admitted } from '../../resources/admission.ts'
import { jsonPatch } from '../../resources/json-patch.ts'
import { mergePatch } from '../../resources/merge-patch.ts'
import type { ReviewedPath } from '../../resources/policy-review.ts'
import type { WriteOptions } from '../../resources/resources.ts'
import { authorOf, placeOf, type ApiServices, type Call, type VerbHandler } from '../call.ts'
import { scaleKind } from '../subresources.ts'
import { faultsOf } from '../duplicate-fields.ts'
import { placeBody } from '../place-body.ts'
import { writeOptions } from '../query.ts'
import { json, jsonText, withWarnings } from '../reply.ts'
import { jsonOf, mediaType, mediaTypeRefusal, readBytes, readObject } from '../request-body.ts'
import { viewOf } from '../view.ts'
import { applyType, patchOf, readApply, type ApplyPatch } from './patch.ts'

/**
 * `/scale` of a kind that says where its numbers of replicas are: `autoscaling/v1` Scale, whatever the kind. What is
 * written changes that one field of the object.
 */
export function createScale(services: ApiServices): VerbHandler {
  return async (call) => {
    const paths = call.kind.scale
    if (paths === undefined) throw new Error(`objects of ${call.kind.kind} have no scale`)
    if (call.info.verb === 'get') return answer(call, services, (await read(call, services)).object, paths)
    const options = writeOptions(call.request, call.info.verb === 'update' ? 'UpdateOptions' : 'PatchOptions')
    return write(call, services, { paths, options, ...(await readChange(call, options)) })
  }
}

/** In the form that is asked for: kubectl asks for a table. */
function answer({ request }: Call, { clock }: ApiServices, object: ApiObject, paths: ScalePaths): HttpResponse {
  const shown = { object: scaleOf(object, paths) as unknown as ApiObject, engine: {} }
  return jsonText(200, viewOf({ kind: scaleOfKind, request }, clock).one(shown))
}

function read(call: Call, { resources }: ApiServices): ReturnType<ApiServices['resources']['get']> {
  return resources.get(call.kind, placeOf(call))
}

/** The Scale that a writer wants, of the Scale there is; or what a writer applies of one. */
type Change = ((live: JsonObject) => Admitted) | ApplyPatch

/** A change, and what its text is warned of. */
interface SentChange {
  readonly change: Change
  readonly twice: readonly string[]
}

async function readChange(call: Call, options: WriteOptions): Promise<SentChange> {
  if (call.info.verb === 'update') {
    const sent = await readObject(call.request)
    const twice = warnOfFaults(scaleOfKind, faultsOf(sent), options)
    const admitted = admitBody(scaleOfKind, placeBody(call, sent), options)
    return { change: () => admitted, twice }
  }
  const type = mediaType(call.request)
  if (type === applyType) {
    const { patch, faults } = await readApply(call)
    checkType(scaleOfKind, patch.body)
    return { change: patch, twice: warnOfFaults(scaleOfKind, faults, options) }
  }
  if (type !== 'application/json-patch+json' && type !== 'application/merge-patch+json')
    throw mediaTypeRefusal(type, patchTypes)
  const { patch, faults } = patchOf(scaleOfKind, type, jsonOf(await readBytes(call.request)))
  const change = (live: JsonObject): Admitted => {
    const changed = patch.type === 'json' ? jsonPatch(live, patch.body) : (mergePatch(live, patch.body) as JsonObject)
    return admitBody(scaleOfKind, changed, options, live as unknown as ApiObject)
  }
  return { change, twice: warnOfFaults(scaleOfKind, faults, options, true) }
}

const patchTypes = `application/json-patch+json, application/merge-patch+json, ${applyType}`

interface Plan extends SentChange {
  readonly paths: ScalePaths
  readonly options: WriteOptions
}

async function write(call: Call, services: ApiServices, plan: Plan): Promise<HttpResponse> {
  const { paths, options, change, twice } = plan
  if (typeof change !== 'function') return apply(call, services, { paths, options, twice, applied: change })
  const how = { ...options, ...authorOf(call), path: scaling(call.kind, paths), budget: new AdmissionBudget() }
  let isNamed = false
  const attempt = async (): Promise<HttpResponse> => {
    const { object } = await read(call, services)
    const live = scaleOf(object, paths)
    const { body: wanted, warnings } = change(live)
    const { metadata, replicas } = wantedOf(wanted, object)
    const { resourceVersion } = object.metadata
    const version = namesVersion(metadata) ? String(metadata['resourceVersion']) : resourceVersion
    // Of a patch, the uid is a field that it may leave or change in vain.
    const uid = call.info.verb === 'update' ? textOf(metadata['uid']) : ''
    const isAnother = uid !== '' && uid !== object.metadata.uid
    isNamed = version !== resourceVersion || isAnother
    const place = { metadata: { resourceVersion: version, ...(isAnother && { uid }) } }
    const body = mergePatch(place, nest(namesOf(paths.specReplicasPath), replicas)) as JsonObject
    const written = await services.resources.patch(call.kind, placeOf(call), { type: 'merge', body }, how)
    const told = [...twice, ...warnings, ...written.warnings]
    return withWarnings(json(200, scaleOf(written.stored.object, paths)), told)
  }
  return onNewest(attempt, { isConflict: (error) => !isNamed && hasCode(error, 'VERSION_CONFLICT') })
}

/** Who applies a Scale owns the number of replicas in the object, and lets it go by leaving it out. */
async function apply(
  call: Call,
  services: ApiServices,
  { paths, options, twice, applied }: Omit<Plan, 'change'> & { readonly applied: ApplyPatch },
): Promise<HttpResponse> {
  const { kind } = call
  const { object } = await read(call, services)
  const { metadata, replicas } = wantedOf(applied.body, object)
  const { resourceVersion } = metadata
  const version = resourceVersion === undefined ? {} : { metadata: { resourceVersion } }
  const isSaid = isObject(applied.body['spec']) && applied.body['spec']['replicas'] !== undefined
  const body = isSaid ? { ...version, ...nest(namesOf(paths.specReplicasPath), replicas) } : version
  const how = { ...options, ...authorOf(call), path: scaling(kind, paths) }
  const written = await services.resources.patch(kind, placeOf(call), { ...applied, body }, how)
  return withWarnings(json(200, scaleOf(written.stored.object, paths)), [...twice, ...written.warnings])
}

/** An object as `/scale` shows it to admission. */
function scaling({ namespaced }: ServedKind, paths: ScalePaths): ReviewedPath {
  return {
    subresource: 'scale',
    kind: { ...scaleOfKind, namespaced },
    show: (object) => scaleOf(object, paths) as unknown as ApiObject,
    absorb: (object, shown) => {
      const { replicas } = wantedOf(shown, object)
      if (replicas === countAt(object, paths.specReplicasPath)) return object
      return mergePatch(object, nest(namesOf(paths.specReplicasPath), replicas)) as ApiObject
    },
  }
}

const count = { type: 'integer' } as const
const scaleOfKind = defineBuiltInKind({
  ...scaleKind,
  plural: 'scales',
  namespaced: true,
  columns: [
    { name: 'Desired', type: 'integer', description: 'Number of desired replicas', jsonPath: '.spec.replicas' },
    { name: 'Available', type: 'integer', description: 'Number of actual replicas', jsonPath: '.status.replicas' },
  ],
  schema: {
    type: 'object',
    properties: {
      metadata: { type: 'object' },
      spec: { type: 'object', properties: { replicas: count } },
      status: { type: 'object', properties: { replicas: count, selector: { type: 'string' } } },
    },
  },
})

/** Throws INVALID for a number of replicas that there cannot be. */
function wantedOf(
  scale: JsonObject,
  { metadata: { name } }: ApiObject,
): { readonly metadata: JsonObject; readonly replicas: number } {
  const metadata = isObject(scale['metadata']) ? scale['metadata'] : {}
  const { replicas = 0 } = isObject(scale['spec']) ? scale['spec'] : {}
  if (typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0 && replicas < 2 ** 31)
    return { metadata, replicas }
  throw invalidBecause({ group: 'autoscaling', kind: 'Scale' }, name, [
    invalid('spec.replicas', replicas, 'must be a whole number, greater than or equal to 0'),
  ])
}

function scaleOf(object: ApiObject, paths: ScalePaths): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const selector = paths.labelSelectorPath === undefined ? undefined : valueAt(object, paths.labelSelectorPath)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: countAt(object, paths.specReplicasPath) },
    status: {
      replicas: countAt(object, paths.statusReplicasPath),
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  }
}

function countAt(object: ApiObject, path: string): number {
  const value = valueAt(object, path)
  return typeof value === 'number' ? value : 0
}

/** `.spec.replicas` in its names. */
function namesOf(path: string): readonly string[] {
  return path.split('.').slice(1)
}

function valueAt(object: ApiObject, path: string): Json | undefined {
  let value: Json | undefined = object
  for (const name of namesOf(path)) value = isObject(value) ? value[name] : undefined
  return value
}

function nest([name = '', ...rest]: readonly string[], value: Json): JsonObject {
  return { [name]: rest.length === 0 ? value : nest(rest, value) }
}
