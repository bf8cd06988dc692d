import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import { builtInKinds } from '../../../shared/resources/built-in-kinds.ts'
import type { Reviewed } from '../../../shared/resources/policy-review.ts'
import { createStoredPolicies, type StoredPoliciesOptions } from '../../../shared/resources/stored-policies.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { createMapStore, type MapStore } from './map-store.ts'

/** Policies and webhooks over a store in memory, for a kind of two versions that differ in their names only. */

export const kind: ServedKind = {
  ...defineBuiltInKind({
    group: 'g.dev',
    kind: 'Thing',
    plural: 'things',
    namespaced: true,
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer' },
            color: { type: 'string' },
            text: { type: 'string' },
            made: { type: 'integer', default: 1 },
            list: { type: 'array', items: { type: 'integer' } },
          },
        },
      },
    },
  }),
  builtIn: false,
  hasStatus: true,
  servedVersions: ['v1', 'v2'],
}

export function thing(spec: JsonObject = { size: 1 }, labels?: Readonly<Record<string, string>>): ApiObject {
  const metadata = {
    name: 't',
    namespace: 'n',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-11-01T00:00:00Z',
  }
  return { apiVersion: 'g.dev/v1', kind: 'Thing', metadata: { ...metadata, ...(labels && { labels }) }, spec }
}

export const creation: Reviewed & { readonly object: ApiObject } = {
  operation: 'CREATE',
  dryRun: false,
  kind,
  object: thing(),
  subresource: '',
  user: { name: 'ann', groups: ['people'] },
}

const { object: _, ...rest } = creation
/** A request that names no object at all. */
export const withoutObject: Reviewed = rest
export const deletion: Reviewed = { ...withoutObject, operation: 'DELETE', old: thing() }

export const rule = { apiGroups: ['g.dev'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }
/** It lets nothing through of what is asked here. */
export const strangeRule = { ...rule, apiGroups: ['other.dev'] }

const registration = 'admissionregistration.k8s.io/v1'

function stored(kindName: string, name: string, content: JsonObject): ApiObject {
  const metadata = {
    name,
    uid: `u-${name}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-11-01T00:00:00Z',
  }
  return { apiVersion: registration, kind: kindName, metadata, ...content }
}

/** A policy of one expression, or of several, with a binding of its name. */
export function validating(
  name: string,
  expressions: string | readonly JsonObject[],
  { spec = {}, binding = {} }: { readonly spec?: JsonObject; readonly binding?: JsonObject } = {},
): readonly ApiObject[] {
  const validations = typeof expressions === 'string' ? [{ expression: expressions }] : expressions
  const whole = { matchConstraints: { resourceRules: [rule] }, validations: [...validations], ...spec }
  return [
    stored('ValidatingAdmissionPolicy', name, { spec: whole }),
    bindingOf(name, { validationActions: ['Deny'], ...binding }),
  ]
}

export function bindingOf(policyName: string, spec: JsonObject, name = policyName): ApiObject {
  return stored('ValidatingAdmissionPolicyBinding', name, { spec: { policyName, ...spec } })
}

/** A policy that changes objects by expressions of JSON patches, with a binding of its name. */
export function mutating(
  name: string,
  expressions: readonly string[],
  { spec = {}, binding = {} }: { readonly spec?: JsonObject; readonly binding?: JsonObject } = {},
): readonly ApiObject[] {
  const mutations = expressions.map((expression) => ({ patchType: 'JSONPatch', jsonPatch: { expression } }))
  const whole = { matchConstraints: { resourceRules: [rule] }, mutations, ...spec }
  return [
    stored('MutatingAdmissionPolicy', name, { spec: whole }),
    stored('MutatingAdmissionPolicyBinding', name, { spec: { policyName: name, ...binding } }),
  ]
}

/** A configuration of webhooks, each of which is called by its name. */
export function webhooks(
  type: 'Validating' | 'Mutating',
  ...all: readonly (JsonObject & { readonly name: string })[]
): ApiObject {
  const whole = all.map(({ name, ...more }) => {
    return { name, clientConfig: { url: `https://${name}` }, rules: [rule], admissionReviewVersions: ['v1'], ...more }
  })
  return stored(`${type}WebhookConfiguration`, `${type.toLowerCase()}-c`, { webhooks: whole })
}

/** What a webhook says: a response, or operations of a patch. */
type Answer = (name: string, request: JsonObject) => JsonObject | readonly JsonObject[] | Error | undefined

interface World extends Partial<Pick<StoredPoliciesOptions, 'readAccess' | 'maxAgeMs'>> {
  readonly objects?: readonly ApiObject[]
  /** Left out: they allow all. */
  readonly answer?: Answer
  /** One object of it, `d`, cannot be read, until something is removed. */
  readonly damagedKind?: string
}

export function openAdmission({ objects = [], answer = () => ({}), maxAgeMs = Infinity, ...world }: World = {}) {
  const { readAccess, damagedKind } = world
  const store = withDamage(createMapStore(), damagedKind)
  const space = thing()
  store.put({ ...space, apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadataOf('n'), labels: { of: 'n' } } })
  for (const object of objects) store.put(object)
  /** What happened: calls of webhooks by name, and rests. */
  const did: string[] = []
  const requests: JsonObject[] = []
  const clock = {
    ...createVirtualClock(1_000_000),
    nextTurn: async () => {
      did.push('rest')
    },
  }
  const post = async ({ url, body }: { readonly url: string; readonly body: string }): Promise<string> => {
    const name = url.slice('https://'.length)
    did.push(name)
    const { request } = JSON.parse(body) as { readonly request: JsonObject }
    requests.push(request)
    const said = answer(name, request)
    if (said instanceof Error) throw said
    return JSON.stringify(reviewOf(request, said ?? {}))
  }
  const policies = createStoredPolicies({
    store,
    catalog: {
      byKind: (group, name) => (group === 'g.dev' ? kind : builtInKinds.find((one) => one.kind === name)),
      inVersion: (of, version) => (of.servedVersions?.includes(version) === true ? { ...of, version } : undefined),
    },
    clock,
    maxAgeMs,
    random: { next: () => 0, uuid: () => 'uid' },
    webhooks: { post },
    ...(readAccess && { readAccess }),
  })
  return { store, did, requests, clock, ...policies }
}

function withDamage(store: MapStore, damagedKind: string | undefined): MapStore {
  if (damagedKind === undefined) return store
  let isThere = true
  return {
    ...store,
    list: async (query) => {
      const { group, kind: of } = query
      const damaged = isThere && of === damagedKind ? [{ group, kind: of, namespace: '', name: 'd' }] : []
      return { ...(await store.list(query)), ...(damaged.length > 0 && { damaged }) }
    },
    remove: async (left) => {
      isThere = false
      return left
    },
  }
}

function metadataOf(name: string): ApiObject['metadata'] {
  return { name, uid: `u-${name}`, resourceVersion: '1', generation: 1, creationTimestamp: '2026-11-01T00:00:00Z' }
}

function reviewOf({ uid = null }: JsonObject, said: JsonObject | readonly JsonObject[]): Json {
  const patch = (operations: readonly JsonObject[]) => ({
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  })
  const response = {
    uid,
    allowed: true,
    ...('length' in said ? patch(said as readonly JsonObject[]) : said),
  }
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }
}

export async function endOf(work: Promise<unknown> | undefined): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    return error instanceof Error && 'code' in error ? `${String(error.code)}: ${error.message}` : error
  }
}
