import { isObject, textOf } from '../../model/json.ts'
import { onNewest } from '../../model/on-newest.ts'
import { AdmissionBudget } from '../../model/policy/admission-budget.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { ReviewedPath } from '../../resources/policy-review.ts'
import type { WriteOptions } from '../../resources/resources.ts'
import { contentFinalizer, namespaceFinalizer } from '../../resources/strategies.ts'
import { namesVersion } from '../../model/writable-metadata.ts'
import { authorOf, placeOf, type ApiServices, type Call, type VerbHandler } from '../call.ts'
import { placeBody } from '../place-body.ts'
import { writeOptions } from '../query.ts'
import { jsonText } from '../reply.ts'
import { readObject } from '../request-body.ts'
import { viewOf } from '../view.ts'

/**
 * `PUT` of a namespace's `/finalize`: who leaves `kubernetes` out of `spec.finalizers` lets the namespace go, with
 * content left in it or not.
 */
export function createFinalize(services: ApiServices): VerbHandler {
  return async (call) => {
    const view = viewOf(call, services.clock)
    const options = { ...writeOptions(call.request, 'UpdateOptions'), budget: new AdmissionBudget() }
    const body = placeBody(call, await readObject(call.request))
    const spec = isObject(body['spec']) ? body['spec'] : {}
    const metadata = isObject(body['metadata']) ? body['metadata'] : {}
    const names = Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
    const isKept = names.includes(contentFinalizer)
    const named = namesVersion(metadata) ? String(metadata['resourceVersion']) : undefined
    const uid = textOf(metadata['uid'])
    const release = (): Promise<StoredObject> => letGo(call, services, { options, named, uid, isKept })
    return jsonText(200, view.one(await (named === undefined ? onNewest(release) : release())))
  }
}

function read(call: Call, { resources }: ApiServices): Promise<StoredObject> {
  return resources.get(call.kind, placeOf(call))
}

interface Release {
  readonly options: WriteOptions
  readonly named: string | undefined
  /** Of the namespace that is meant; empty for whichever has the name. */
  readonly uid: string
  /** `kubernetes` stays among the finalizers. */
  readonly isKept: boolean
}

async function letGo(
  call: Call,
  services: ApiServices,
  { options, named, uid, isKept }: Release,
): Promise<StoredObject> {
  const { metadata } = (await read(call, services)).object
  const all = metadata.finalizers ?? []
  const finalizers = isKept ? all : withoutContent(all)
  const resourceVersion = named ?? metadata.resourceVersion
  const body = { metadata: { finalizers, resourceVersion, ...(uid !== '' && { uid }) } }
  const how = { ...options, ...authorOf(call), path: finalizing(call.kind) }
  return (await services.resources.patch(call.kind, placeOf(call), { type: 'merge', body }, how)).stored
}

function withoutContent(finalizers: readonly string[]): string[] {
  return finalizers.filter((name) => name !== namespaceFinalizer)
}

/** A namespace as `/finalize` shows it: what is held by `metadata.finalizers` is said by `spec.finalizers`. */
function finalizing(kind: ServedKind): ReviewedPath {
  return {
    subresource: 'finalize',
    kind,
    show: (object) => {
      const isHeld = object.metadata.finalizers?.includes(namespaceFinalizer) === true
      return { ...object, spec: { finalizers: isHeld ? [contentFinalizer] : [] } }
    },
    absorb: (object, { spec }) => {
      const names = isObject(spec) && Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
      const others = withoutContent(object.metadata.finalizers ?? [])
      const finalizers = names.includes(contentFinalizer) ? [...others, namespaceFinalizer] : others
      return { ...object, metadata: { ...object.metadata, finalizers } }
    },
  }
}
