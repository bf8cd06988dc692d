import { Ajv, type ValidateFunction } from 'ajv'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { applyPatch, type Operation as PatchOperation } from 'rfc6902'

/**
 * The Cloud Control API for `AWS::RDS::DBInstance` and its parameter group, by HTTP. Requests are held against the API
 * reference and against the public schema of the type; what breaks a rule is refused and noted. They take a few looks
 * to come to their end, as they take minutes at AWS.
 */
export interface FakeCloudControl extends AsyncDisposable {
  readonly endpoint: string
  readonly instances: Map<string, Properties>
  readonly groups: Map<string, Properties>
  readonly calls: readonly Call[]
  /** Rules that requests have broken. */
  readonly violations: readonly string[]
  /** Whether a call is under way. */
  isBusy(): boolean
  /** The next call of this name is refused. */
  refuse(name: CallName, error: string, message?: string): void
  /** Something happens just before the next call of this name. */
  before(name: CallName, act: () => void): void
  /** The next call of this name is done, and its answer lost. */
  loseAnswerOf(name: CallName): void
  /** The next request of this kind fails in the end. */
  fail(operation: Operation, code: string, message?: string): void
  /** How often one can look at a request, or at its instance, before it has ended. */
  looksUntilDone: number
  /** So many requests of others to create something are under way, and listed ahead of ours. */
  strangers: number
  /** What a request in progress says of when to come back, in seconds of time given by the test. */
  retryAfterSeconds: number | undefined
}

export type Properties = Record<string, unknown>
type Operation = 'CREATE' | 'UPDATE' | 'DELETE'
type CallName =
  | 'CreateResource'
  | 'UpdateResource'
  | 'DeleteResource'
  | 'GetResource'
  | 'GetResourceRequestStatus'
  | 'ListResourceRequests'

interface Call {
  readonly name: CallName
  readonly input: Readonly<Record<string, string>>
}

interface Request {
  readonly typeName: string
  readonly operation: Operation
  readonly identifier: string
  readonly token: string
  readonly content: string
  looksLeft: number
  state: 'IN_PROGRESS' | 'SUCCESS' | 'FAILED'
  failure: { readonly code: string; readonly message: string } | undefined
  /** What is so once it has succeeded. */
  readonly succeed: () => void
}

interface ResourceSchema {
  readonly typeName: string
  readonly createOnlyProperties: readonly string[]
  readonly readOnlyProperties?: readonly string[]
  readonly writeOnlyProperties?: readonly string[]
}

/** What is particular to a type. */
interface ResourceType {
  readonly schema: ResourceSchema
  readonly validate: ValidateFunction
  readonly resources: Map<string, Properties>
  identifierIn(desired: Properties): unknown
  /** What it is while it is made, and when it is. */
  made(identifier: string, desired: Properties): { readonly first: Properties; readonly last: Properties }
  /** Why it cannot be deleted. */
  hindrance(resource: Properties): string | undefined
}

class Refused extends Error {
  readonly type: string
  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}

function typeOf(
  schemaFile: string,
  particular: Omit<ResourceType, 'schema' | 'validate' | 'resources'>,
): ResourceType & { readonly resources: Map<string, Properties> } {
  const schema = JSON.parse(readFileSync(new URL(schemaFile, import.meta.url), 'utf8')) as ResourceSchema
  // What is required is so of a whole resource, not of a patch.
  const { required: _, ...parts } = schema as ResourceSchema & { readonly required?: unknown }
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(parts)
  return { schema, validate, resources: new Map(), ...particular }
}

function instanceType(): ResourceType {
  return typeOf('db-instance-schema.json', {
    identifierIn: ({ DBInstanceIdentifier: identifier }) => identifier,
    made: (identifier, desired) => {
      const Address = `${identifier}.abc.eu-central-1.rds.amazonaws.com`
      const first = { ...desired, DBInstanceIdentifier: identifier, DBInstanceStatus: 'creating' }
      const EngineVersion = `${String(desired['EngineVersion'])}.4`
      const Endpoint = { Address, Port: desired['Port'] ?? '5432' }
      return { first, last: { ...first, DBInstanceStatus: 'available', Endpoint, EngineVersion } }
    },
    hindrance: ({ DeletionProtection: isProtected }) =>
      isProtected === true
        ? 'Cannot delete protected DB Instance, please disable deletion protection and try again.'
        : undefined,
  })
}

function groupType(instances: ReadonlyMap<string, Properties>): ResourceType {
  return typeOf('db-parameter-group-schema.json', {
    identifierIn: ({ DBParameterGroupName: name }) => name,
    made: (name, desired) => {
      const group = { ...desired, DBParameterGroupName: name }
      return { first: group, last: group }
    },
    hindrance: ({ DBParameterGroupName: name }) =>
      [...instances.values()].some((instance) => instance['DBParameterGroupName'] === name)
        ? 'One or more database instances are still members of this parameter group'
        : undefined,
  })
}

const requiredOf: Readonly<Record<string, readonly string[]>> = {
  'AWS::RDS::DBInstance': ['Engine', 'DBInstanceClass', 'AllocatedStorage', 'MasterUsername', 'MasterUserPassword'],
  'AWS::RDS::DBParameterGroup': ['Description', 'Family'],
}

export async function startFakeCloudControl(): Promise<FakeCloudControl> {
  const instance = instanceType()
  const group = groupType(instance.resources)
  const requests = new Map<string, Request>()
  const byClientToken = new Map<string, Request>()
  const calls: Call[] = []
  const violations: string[] = []
  const refusals = new Map<CallName, Refused>()
  const ahead = new Map<CallName, () => void>()
  const lost = new Set<CallName>()
  const failures = new Map<Operation, { readonly code: string; readonly message: string }>()
  let busy = 0

  const broken = (rule: string): never => {
    violations.push(rule)
    throw new Refused('InvalidRequestException', rule)
  }
  const mustBe = (holds: boolean, rule: string): void => void (holds || broken(rule))

  const eventOf = (request: Request): Properties => ({
    TypeName: request.typeName,
    Identifier: request.identifier,
    RequestToken: request.token,
    Operation: request.operation,
    OperationStatus: request.state,
    EventTime: 1_767_225_600,
    ...(request.failure && { ErrorCode: request.failure.code, StatusMessage: request.failure.message }),
    ...(request.state === 'IN_PROGRESS' &&
      fake.retryAfterSeconds !== undefined && { RetryAfter: fake.retryAfterSeconds }),
  })

  function begin(
    operation: Operation,
    identifier: string,
    input: Call['input'],
    act: () => Pick<Request, 'succeed' | 'failure'>,
  ) {
    const { ClientToken = '' } = input
    mustBe(/^[-A-Za-z0-9+/=]{1,128}$/.test(ClientToken), `ClientToken is ${JSON.stringify(ClientToken)}`)
    const content = JSON.stringify(input)
    const known = byClientToken.get(ClientToken)
    if (known !== undefined && known.content !== content)
      throw new Refused('ClientTokenConflictException', 'the token was used for another request')
    if (known !== undefined) return { ProgressEvent: eventOf(known) }
    if ([...requests.values()].some((one) => isAbout(one, input, identifier) && one.state === 'IN_PROGRESS'))
      throw new Refused('ConcurrentOperationException', 'another operation on this resource is in progress')
    const { succeed, failure } = act()
    const token = `00000000-0000-4000-8000-${String(requests.size).padStart(12, '0')}`
    const request: Request = {
      typeName: input['TypeName'] ?? '',
      operation,
      identifier,
      token,
      content,
      succeed,
      state: 'IN_PROGRESS',
      looksLeft: fake.looksUntilDone,
      failure: failures.get(operation) ?? failure,
    }
    failures.delete(operation)
    requests.set(token, request)
    byClientToken.set(ClientToken, request)
    return { ProgressEvent: { ...eventOf(request), ErrorCode: undefined, StatusMessage: undefined } }
  }

  const none = { succeed: () => {} }
  const handlers: Readonly<Record<CallName, (input: Call['input']) => object>> = {
    CreateResource: (input) => {
      const type = typeIn(input)
      const desired = JSON.parse(input['DesiredState'] ?? '') as Properties
      checkProperties(type, desired)
      for (const name of requiredOf[type.schema.typeName] ?? [])
        mustBe(desired[name] !== undefined, `a new ${type.schema.typeName} without ${name}`)
      const identifier = String(type.identifierIn(desired)).toLowerCase()
      return begin('CREATE', identifier, input, () => {
        if (type.resources.has(identifier))
          return { ...none, failure: { code: 'AlreadyExists', message: `${identifier} already exists` } }
        const { first, last } = type.made(identifier, desired)
        if (!failures.has('CREATE')) type.resources.set(identifier, first)
        return { succeed: () => type.resources.set(identifier, last), failure: undefined }
      })
    },

    UpdateResource: (input) => {
      const type = typeIn(input)
      const identifier = input['Identifier'] ?? ''
      const patch = JSON.parse(input['PatchDocument'] ?? '') as PatchOperation[]
      mustBe(patch.length > 0, 'an empty patch')
      for (const { path } of patch)
        mustBe(!type.schema.createOnlyProperties.includes(`/properties${path}`), `${path} is create-only`)
      const next = structuredClone(resourceIn(type, identifier))
      for (const error of applyPatch(next, patch)) if (error !== null) broken(error.message)
      const given = patch.map(({ path, ...one }) => [path.slice(1), 'value' in one ? one.value : ''])
      checkProperties(type, Object.fromEntries(given))
      return begin('UPDATE', identifier, input, () => ({
        succeed: () => type.resources.set(identifier, next),
        failure: undefined,
      }))
    },

    DeleteResource: (input) => {
      const type = typeIn(input)
      const identifier = input['Identifier'] ?? ''
      const resource = resourceIn(type, identifier)
      return begin('DELETE', identifier, input, () => {
        const message = type.hindrance(resource)
        if (message !== undefined) return { ...none, failure: { code: 'InvalidRequest', message } }
        type.resources.set(identifier, { ...resource, DBInstanceStatus: 'deleting' })
        return { succeed: () => type.resources.delete(identifier), failure: undefined }
      })
    },

    GetResource: (input) => {
      const type = typeIn(input)
      const { Identifier: identifier = '' } = input
      for (const request of requests.values()) if (isAbout(request, input, identifier)) look(request)
      const { writeOnlyProperties } = type.schema
      const shown = Object.entries(resourceIn(type, identifier)).filter(
        ([name]) => !isListed(writeOnlyProperties, name),
      )
      const Properties = JSON.stringify(Object.fromEntries(shown))
      return { TypeName: type.schema.typeName, ResourceDescription: { Identifier: identifier, Properties } }
    },

    GetResourceRequestStatus: ({ RequestToken: token = '' }) => {
      const request = requests.get(token)
      if (request === undefined) throw new Refused('RequestTokenNotFoundException', 'no such request')
      look(request)
      const { ErrorCode, StatusMessage, ...event } = eventOf(request)
      return { ProgressEvent: request.state === 'FAILED' ? { ...event, ErrorCode, StatusMessage } : event }
    },

    ListResourceRequests: ({ MaxResults = '20', NextToken = '0' }) => {
      const own = [...requests.values()].filter(
        ({ operation, state }) => operation === 'CREATE' && state === 'IN_PROGRESS',
      )
      const others = Array.from({ length: fake.strangers }, (_, i) => ({ Identifier: `other-${i}` }))
      const [from, to] = [Number(NextToken), Number(NextToken) + Number(MaxResults)]
      const all = [...others, ...own.map(eventOf)]
      const more = to < all.length ? { NextToken: String(to) } : {}
      return { ResourceRequestStatusSummaries: all.slice(from, to), ...more }
    },
  }

  /** Stands for the time that a request takes. */
  function look(request: Request): void {
    if (request.state !== 'IN_PROGRESS' || --request.looksLeft >= 0) return
    request.state = request.failure === undefined ? 'SUCCESS' : 'FAILED'
    if (request.failure === undefined) request.succeed()
  }

  function isAbout(request: Request, input: Call['input'], identifier: string): boolean {
    return request.typeName === input['TypeName'] && request.identifier === identifier
  }

  function isListed(pointers: readonly string[] = [], name: string): boolean {
    return pointers.includes(`/properties/${name}`)
  }

  function checkProperties({ schema, validate }: ResourceType, given: Properties): void {
    for (const name of Object.keys(given)) mustBe(!isListed(schema.readOnlyProperties, name), `${name} is read-only`)
    mustBe(validate(given), JSON.stringify(validate.errors))
  }

  function typeIn({ TypeName: name = '' }: Call['input']): ResourceType {
    return [instance, group].find(({ schema }) => schema.typeName === name) ?? broken(`type ${name}`)
  }

  function resourceIn({ resources, schema }: ResourceType, identifier: string): Properties {
    const resource = resources.get(identifier)
    if (resource === undefined)
      throw new Refused('ResourceNotFoundException', `${schema.typeName} ${identifier} not found.`)
    return resource
  }

  function answer({ name, input }: Call): object {
    const act = ahead.get(name)
    ahead.delete(name)
    act?.()
    const refusal = refusals.get(name)
    refusals.delete(name)
    if (refusal !== undefined) throw refusal
    return handlers[name](input)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = String(request.headers['x-amz-target']).replace('CloudApiService.', '') as CallName
    const body = Buffer.concat(await request.toArray()).toString()
    const call = { name, input: JSON.parse(body) as Call['input'] }
    calls.push(call)
    const { status, reply } = attempt(() => answer(call))
    if (lost.delete(name)) return void response.destroy()
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(reply))
  }

  const server = createServer((request, response) => {
    busy++
    response.once('close', () => busy--)
    void serve(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  const fake: FakeCloudControl = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    instances: instance.resources,
    groups: group.resources,
    calls,
    violations,
    isBusy: () => busy > 0,
    refuse: (name, error, message = 'no') => void refusals.set(name, new Refused(error, message)),
    before: (name, act) => void ahead.set(name, act),
    loseAnswerOf: (name) => void lost.add(name),
    fail: (operation, code, message = 'no') => void failures.set(operation, { code, message }),
    looksUntilDone: 2,
    strangers: 0,
    retryAfterSeconds: undefined,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return fake
}

function attempt(act: () => object): { readonly status: number; readonly reply: object } {
  try {
    return { status: 200, reply: act() }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { status: 400, reply: { __type: `com.amazon.cloudapiservice#${error.type}`, Message: error.message } }
  }
}
