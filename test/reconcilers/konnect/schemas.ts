/**
 * The part of Konnect's public API that our calls touch, as schemas, in our words: what the document says of these
 * fields and no others. `document.test.ts` holds each of them against the document itself where that is at hand; see
 * README.md of the reconcilers for where it comes from.
 */

export interface Schema {
  readonly [keyword: string]: unknown
}

export interface Operation {
  /** Its id in the public document. */
  readonly operationId: string
  readonly request?: Schema
  /** By status. A status that is not here is one that the document does not describe. */
  readonly responses: Readonly<Record<number, Schema | undefined>>
}

const text = { type: 'string' }
const label = { type: 'string', minLength: 1, maxLength: 63, pattern: '^[a-z0-9A-Z]{1}([a-z0-9A-Z-._]*[a-z0-9A-Z]+)?$' }
const labels = { type: 'object', additionalProperties: label, maxProperties: 50 }
const authType = { type: 'string', enum: ['pinned_client_certs', 'pki_client_certs'] }
const clusterType = {
  type: 'string',
  enum: [
    'CLUSTER_TYPE_CONTROL_PLANE',
    'CLUSTER_TYPE_K8S_INGRESS_CONTROLLER',
    'CLUSTER_TYPE_CONTROL_PLANE_GROUP',
    'CLUSTER_TYPE_SERVERLESS',
    'CLUSTER_TYPE_KAFKA_NATIVE_EVENT_PROXY',
    'CLUSTER_TYPE_SERVERLESS_V1',
  ],
}
const name = { type: 'string', minLength: 2, maxLength: 256 }
const description = { type: 'string', maxLength: 2_048 }

const controlPlane: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'name', 'config', 'created_at', 'updated_at', 'description', 'labels'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    name: text,
    description: text,
    labels,
    config: {
      type: 'object',
      additionalProperties: false,
      required: [
        'control_plane_endpoint',
        'telemetry_endpoint',
        'cluster_type',
        'auth_type',
        'cloud_gateway',
        'proxy_urls',
      ],
      properties: {
        control_plane_endpoint: text,
        telemetry_endpoint: text,
        cluster_type: clusterType,
        auth_type: authType,
        cloud_gateway: { type: 'boolean' },
        proxy_urls: { type: 'array', maxItems: 5 },
      },
    },
    created_at: { type: 'string', format: 'date-time' },
    updated_at: { type: 'string', format: 'date-time' },
  },
}

const createControlPlane: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name, description, cluster_type: clusterType, auth_type: authType, labels },
}

const updateControlPlane: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: { name, description, auth_type: authType, labels },
}

const controlPlaneList: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['meta', 'data'],
  properties: {
    meta: {
      type: 'object',
      required: ['page'],
      properties: {
        page: {
          type: 'object',
          required: ['number', 'size', 'total'],
          properties: { number: { type: 'number' }, size: { type: 'number' }, total: { type: 'number' } },
        },
      },
    },
    data: { type: 'array', items: controlPlane },
  },
}

/** Of control planes: problem details. */
const problem: Schema = {
  type: 'object',
  required: ['status', 'title', 'instance', 'detail'],
  properties: { status: { type: 'integer' }, title: text, instance: text, detail: text, type: text },
}

const unauthorizedByGateway: Schema = {
  type: 'object',
  required: ['message', 'status'],
  properties: { message: text, status: { type: 'integer' } },
}

const nullable = { nullable: true }
const list = { type: 'array', items: text, ...nullable }
const stamp = { type: 'integer', ...nullable }
const protocol = {
  type: 'string',
  enum: ['grpc', 'grpcs', 'http', 'https', 'tcp', 'tls', 'tls_passthrough', 'udp', 'ws', 'wss'],
}
const milliseconds = { type: 'integer', minimum: 1, maximum: 2_147_483_646, ...nullable }
const optionalText = { type: 'string', ...nullable }

const service: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['host'],
  properties: {
    id: { type: 'string', minLength: 1, ...nullable },
    name: optionalText,
    host: text,
    port: { type: 'integer', minimum: 0, maximum: 65_535, ...nullable },
    protocol: { ...protocol, ...nullable },
    path: optionalText,
    enabled: { type: 'boolean', ...nullable },
    retries: { type: 'integer', minimum: 0, maximum: 32_767, ...nullable },
    connect_timeout: milliseconds,
    read_timeout: milliseconds,
    write_timeout: milliseconds,
    tags: list,
    created_at: stamp,
    updated_at: stamp,
  },
}

const route: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    id: optionalText,
    name: optionalText,
    paths: list,
    hosts: list,
    methods: list,
    protocols: { type: 'array', items: protocol, ...nullable },
    strip_path: { type: 'boolean', ...nullable },
    preserve_host: { type: 'boolean', ...nullable },
    service: { type: 'object', properties: { id: text }, ...nullable },
    tags: list,
    created_at: stamp,
    updated_at: stamp,
  },
}

const consumer: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    id: optionalText,
    username: optionalText,
    custom_id: optionalText,
    tags: list,
    created_at: stamp,
    updated_at: stamp,
  },
}

const organization: Schema = { type: 'object', properties: { id: { type: 'string', format: 'uuid' }, name: text } }

/** Of writes of control planes. */
const serverFault: Schema = {
  ...problem,
  required: ['status', 'title', 'instance'],
  properties: { title: text, instance: text },
}

const refusals = { 400: problem, 401: problem, 403: problem }

function coreOperations(one: string, schema: Schema): Readonly<Record<string, Operation>> {
  const path = `/v2/control-planes/{controlPlaneId}/core-entities/${one}s`
  const onePath = `${path}/{${one[0]?.toUpperCase()}${one.slice(1)}Id}`
  const unauthorized = { 401: unauthorizedByGateway }
  return {
    [`POST ${path}`]: {
      operationId: `create-${one}`,
      request: schema,
      responses: { 201: schema, ...unauthorized },
    },
    [`GET ${onePath}`]: { operationId: `get-${one}`, responses: { 200: schema, ...unauthorized } },
    [`PUT ${onePath}`]: {
      operationId: `upsert-${one}`,
      request: schema,
      responses: { 200: schema, ...unauthorized },
    },
    [`DELETE ${onePath}`]: { operationId: `delete-${one}`, responses: { ...unauthorized } },
  }
}

/** By method and path. */
export const operations: Readonly<Record<string, Operation>> = {
  'GET /v2/control-planes': { operationId: 'list-control-planes', responses: { 200: controlPlaneList, ...refusals } },
  'POST /v2/control-planes': {
    operationId: 'create-control-plane',
    request: createControlPlane,
    responses: { 201: controlPlane, 409: problem, 500: serverFault, ...refusals },
  },
  'GET /v2/control-planes/{controlPlaneId}': {
    operationId: 'get-control-plane',
    responses: { 200: controlPlane, 404: problem, ...refusals },
  },
  'PATCH /v2/control-planes/{controlPlaneId}': {
    operationId: 'update-control-plane',
    request: updateControlPlane,
    responses: { 200: controlPlane, 404: problem, 500: serverFault, ...refusals },
  },
  'DELETE /v2/control-planes/{controlPlaneId}': {
    operationId: 'delete-control-plane',
    responses: { 404: problem, 500: serverFault, ...refusals },
  },
  ...coreOperations('service', service),
  ...coreOperations('route', route),
  ...coreOperations('consumer', consumer),
  'GET /v3/organizations/me': { operationId: 'get-organizations-me', responses: { 200: organization, 401: problem } },
}
