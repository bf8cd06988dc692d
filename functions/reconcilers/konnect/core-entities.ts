import { createHash } from 'node:crypto'
import {
  requires,
  Secret,
  stop,
  type Connecting,
  type ExternalApi,
  type Json,
  type JsonObject,
  type ObjectOf,
  type Owner,
  type Requirement,
} from '../../../shared/index.ts'
import { requireAnswer, createKonnectClient, type KonnectClient } from './client.ts'
import type { Konnect } from './konnect.ts'
import { KonnectControlPlane } from './kinds.ts'
import { ownerTags, uidInTags } from './owner-marks.ts'

/** What all entities in a control plane have in common. */

type ControlPlane = ObjectOf<typeof KonnectControlPlane>

interface InControlPlane {
  readonly spec: { readonly controlPlaneRef: { readonly name: string } }
}

/** The control plane that an entity is in, and goes with. */
export const inControlPlane: Requirement<InControlPlane, ControlPlane> = requires(
  KonnectControlPlane,
  ({ spec }: InControlPlane) => spec.controlPlaneRef,
  { contains: true },
)

interface WithControlPlane {
  readonly ControlPlaneRef: typeof inControlPlane
}

/** How entities of one plural are reached and shown. */
export function coreEntity(konnect: Konnect, kind: { readonly kind: string }, plural: Plural) {
  return {
    connect: connectInside(konnect),
    // The credentials of its control plane.
    grants: [{ kind: Secret, access: 'read' }] as const,
    api: coreEntities(plural),
    place: konnect.placeOf,
    shown: showInside,
    condition: 'Programmed',
    budget: konnect.budgetOf,
    syncPeriod: konnect.syncPeriodOf(kind),
  }
}

type Plural = 'services' | 'routes' | 'consumers'

/** Calls about entities in the control plane go by the credentials and to the server of that. */
function connectInside({ fetch }: Konnect) {
  return async (_: unknown, { refs, ctx }: Connecting<WithControlPlane>): Promise<KonnectClient> => {
    const { metadata, spec, status } = refs.ControlPlaneRef
    const secret = await ctx.get(Secret, spec.authRef.name)
    if (secret === undefined) throw stop('AuthRefNotFound', `Secret ${spec.authRef.name} does not exist`)
    if (status?.id === undefined) throw new Error(`control plane ${metadata.name} has no id`)
    const { organizationID } = status
    return createKonnectClient({
      serverURL: spec.serverURL,
      secret,
      ctx,
      fetch,
      controlPlaneID: status.id,
      organizationID,
    })
  }
}

/** Made by POST under an id of our choice, so that no two are made, and changed by PUT. */
function coreEntities(plural: Plural): ExternalApi<KonnectClient> {
  const pathOf = ({ controlPlaneID }: KonnectClient): string =>
    `/v2/control-planes/${controlPlaneID}/core-entities/${plural}`
  const get = (client: KonnectClient, id: string): Promise<JsonObject> =>
    requireAnswer(client.call(`GET ${pathOf(client)}/${encodeURIComponent(id)}`))
  return {
    get,
    find: (client, owner) => get(client, idFor(owner)),
    create: (client, declared, owner) =>
      requireAnswer(client.call(`POST ${pathOf(client)}`, { ...declared, id: idFor(owner) })),
    update: (client, id, declared) =>
      requireAnswer(client.call(`PUT ${pathOf(client)}/${encodeURIComponent(id)}`, declared)),
    delete: async (client, id) => void (await client.call(`DELETE ${pathOf(client)}/${encodeURIComponent(id)}`)),
    idOf: ({ id }) => String(id),
    ownerOf: ({ tags }) => uidInTags(tags),
    markedIn: ['tags'],
    unordered: ['tags', 'paths', 'hosts', 'methods', 'protocols'],
    createsOncePerToken: true,
  }
}

/** The entity's tags: first those that say whose it is, since the first of a name counts, then the object's own. */
export function tagsFor(tags: readonly string[] | undefined, owner: Owner): Json[] {
  return asSet([...ownerTags(owner), ...(tags ?? [])])
}

/** A list that Kong keeps as a set: what is said twice would be a difference for ever. */
export function asSet(list: readonly string[]): string[] {
  return [...new Set(list)]
}

function showInside(_: JsonObject, { serverURL, controlPlaneID, organizationID }: KonnectClient) {
  return { serverURL, ...(controlPlaneID && { controlPlaneID }), ...(organizationID && { organizationID }) }
}

/** A UUID made of the token (RFC 9562, version 8: of our own making). */
function idFor({ token }: Owner): string {
  const hex = createHash('sha256').update(`konnect ${token}`).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`
}
