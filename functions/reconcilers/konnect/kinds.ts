import * as z from 'zod'
import { defineKind, externalStatus, type PrinterColumn } from '../../../shared/index.ts'
import { markNames } from './owner-marks.ts'

/**
 * Konnect's entities as kinds. Fields, limits and defaults are those of Konnect's public API; what is left out is
 * Konnect's to choose.
 */

const ref = z.object({ name: z.string().min(1) })
const controlPlaneRef = ref.describe('The KonnectControlPlane it is in, in the same namespace.')
const milliseconds = z.number().int().min(1).max(2_147_483_646).optional()
const protocol = z.enum(['grpc', 'grpcs', 'http', 'https', 'tcp', 'tls', 'tls_passthrough', 'udp', 'ws', 'wss'])

const ownTag = {
  rule: `!self.matches('^(${markNames.join('|')}):')`,
  message: `tags that begin with ${markNames.map((mark) => `${mark}:`).join(', ')} are Setpoint's own: they say whose the entity is`,
}
const tag = z
  .string()
  .max(128)
  .meta({ 'x-kubernetes-validations': [ownTag] })
const tags = z.array(tag).max(15).optional().describe('Beside those that say whose it is.')

const common = { group: 'konnect.setpoint.dev', version: 'v1alpha1', categories: ['all', 'konnect'] } as const

const columns: readonly PrinterColumn[] = [
  { name: 'Programmed', type: 'string', jsonPath: '.status.conditions[?(@.type=="Programmed")].status' },
  { name: 'ID', type: 'string', jsonPath: '.status.id' },
  { name: 'OrgID', type: 'string', jsonPath: '.status.organizationID', priority: 1 },
  { name: 'Last Sync', type: 'date', jsonPath: '.status.reconcile.lastSyncTime', priority: 1 },
]

// With a ? or # the paths of the API would be no paths any more, and before an @ stands a user and no host.
const secure = /^(https:\/\/[^?#@]+|http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/[^?#@]*)?)$/

export const KonnectControlPlane = defineKind({
  ...common,
  kind: 'KonnectControlPlane',
  shortNames: ['kcp'],
  description: 'A control plane in Kong Konnect.',
  spec: z.object({
    authRef: ref.describe('A Secret with an access token, as `token`, in the same namespace.'),
    serverURL: z
      .url()
      .max(256)
      .regex(secure)
      .default('https://us.api.konghq.com')
      .describe(
        'The API of the region, such as https://eu.api.konghq.com, without ?, # and @. Without TLS only on this machine: a token goes there.',
      ),
    name: z.string().min(2).max(256).optional().describe('Default: the name of the object.'),
    description: z.string().max(2_048).optional(),
    clusterType: z
      .enum(['CLUSTER_TYPE_CONTROL_PLANE', 'CLUSTER_TYPE_K8S_INGRESS_CONTROLLER', 'CLUSTER_TYPE_CONTROL_PLANE_GROUP'])
      .optional()
      .describe('Cannot be changed once it is made.'),
    authType: z.enum(['pinned_client_certs', 'pki_client_certs']).optional(),
    labels: z.record(z.string(), z.string().max(63)).optional().describe('Beside those that say whose it is.'),
  }),
  status: externalStatus.extend({
    controlPlaneEndpoint: z.string().optional(),
    telemetryEndpoint: z.string().optional(),
  }),
  columns,
})

export const KonnectService = defineKind({
  ...common,
  kind: 'KonnectService',
  shortNames: ['ksvc'],
  description: 'An upstream service in a control plane of Konnect.',
  spec: z.object({
    controlPlaneRef,
    name: z.string().optional().describe('Default: the name of the object.'),
    host: z.string().min(1),
    port: z.number().int().min(0).max(65_535).optional(),
    protocol: protocol.optional(),
    path: z.string().optional(),
    enabled: z.boolean().optional(),
    retries: z.number().int().min(0).max(32_767).optional(),
    connectTimeout: milliseconds,
    readTimeout: milliseconds,
    writeTimeout: milliseconds,
    tags,
  }),
  status: externalStatus.extend({ controlPlaneID: z.string().optional() }),
  columns,
})

export const KonnectRoute = defineKind({
  ...common,
  kind: 'KonnectRoute',
  shortNames: ['krt'],
  description: 'A route to a service in a control plane of Konnect.',
  spec: z.object({
    controlPlaneRef,
    serviceRef: ref.optional().describe('The KonnectService it leads to.'),
    name: z.string().optional().describe('Default: the name of the object.'),
    // Konnect takes a route by what tells it from a route by expression: it needs one of these.
    paths: z.array(z.string()).min(1).describe('At least one.'),
    hosts: z.array(z.string()).optional(),
    methods: z.array(z.string()).optional(),
    protocols: z.array(protocol).min(1).optional(),
    stripPath: z.boolean().optional(),
    preserveHost: z.boolean().optional(),
    tags,
  }),
  status: externalStatus.extend({ controlPlaneID: z.string().optional() }),
  columns,
})

export const KonnectConsumer = defineKind({
  ...common,
  kind: 'KonnectConsumer',
  shortNames: ['kcons'],
  description: 'A consumer of the services in a control plane of Konnect.',
  spec: z.object({
    controlPlaneRef,
    username: z.string().optional().describe('Default: the name of the object.'),
    customID: z.string().optional(),
    tags,
  }),
  status: externalStatus.extend({ controlPlaneID: z.string().optional() }),
  columns,
})
