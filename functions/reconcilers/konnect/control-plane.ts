import {
  defineExternal,
  requires,
  Secret,
  type Controller,
  type ExternalApi,
  type JsonObject,
  type ObjectOf,
} from '../../../shared/index.ts'
import { requireAnswer, requireList, createKonnectClient, type KonnectClient } from './client.ts'
import type { Konnect } from './konnect.ts'
import { KonnectControlPlane } from './kinds.ts'
import { ownerLabels, uidInLabels, uidTag } from './owner-marks.ts'

type ControlPlane = ObjectOf<typeof KonnectControlPlane>

const path = '/v2/control-planes'

/** Control planes: made by POST, found by a label, changed by PATCH. */
export function controlPlanes({ fetch, budgetOf, organizationOf, placeOf, syncPeriodOf }: Konnect): Controller {
  /**
   * With what Konnect nests, and whose it is. Asked before anything is made, so that no answer is lost for its sake.
   */
  const completeEntity = async (
    client: KonnectClient,
    call: () => Promise<JsonObject | undefined>,
  ): Promise<JsonObject> => {
    const organizationID = await organizationOf(client)
    const { config, ...entity } = await requireAnswer(call())
    return { ...(config as JsonObject | undefined), ...entity, organizationID }
  }

  const api: ExternalApi<KonnectClient> = {
    get: (client, id) => completeEntity(client, () => client.call(`GET ${path}/${encodeURIComponent(id)}`)),
    find: async (client, owner) => {
      const [first] = await requireList(client.call(`GET ${path}?labels=${encodeURIComponent(uidTag(owner))}`))
      return first && completeEntity(client, async () => first)
    },
    create: (client, declared) => completeEntity(client, () => client.call(`POST ${path}`, declared)),
    update: (client, id, { cluster_type: _, ...declared }) => {
      // PATCH leaves what it is not told: a description that has gone from the spec would stay.
      const body = { ...declared, description: declared['description'] ?? '' }
      return completeEntity(client, () => client.call(`PATCH ${path}/${encodeURIComponent(id)}`, body))
    },
    delete: async (client, id) => void (await client.call(`DELETE ${path}/${encodeURIComponent(id)}`)),
    idOf: ({ id }) => String(id),
    ownerOf: ({ labels }) => uidInLabels(labels),
    markedIn: ['labels'],
    immutable: ['cluster_type'],
  }

  return defineExternal(KonnectControlPlane, {
    grants: [],
    references: { AuthRef: requires(Secret, ({ spec }: ControlPlane) => spec.authRef) },
    connect: async ({ spec }, { refs, ctx }) =>
      createKonnectClient({ serverURL: spec.serverURL, secret: refs.AuthRef, ctx, fetch }),
    declared: ({ metadata, spec }, { owner }) => ({
      name: spec.name ?? metadata.name,
      description: spec.description,
      cluster_type: spec.clusterType,
      auth_type: spec.authType,
      labels: { ...spec.labels, ...ownerLabels(owner) },
    }),
    api,
    place: placeOf,
    syncPeriod: syncPeriodOf(KonnectControlPlane),
    shown: (entity, { serverURL }) => ({
      organizationID: String(entity['organizationID']),
      serverURL,
      controlPlaneEndpoint: String(entity['control_plane_endpoint']),
      telemetryEndpoint: String(entity['telemetry_endpoint']),
    }),
    condition: 'Programmed',
    budget: budgetOf,
  })
}
