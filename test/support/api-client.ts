import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request as startRequest } from 'node:https'
import { parse, parseAllDocuments } from 'yaml'

/** The API as a small program would call it, with the kubeconfig that the control plane wrote. */
export interface ApiClient extends Disposable {
  /** One request: method and path, and a body that is sent as JSON. Rejects when the connection breaks. */
  send(line: string, options?: SendOptions): Promise<ApiReply>
  /** Sends a GET and resolves with the response as soon as it begins. */
  stream(path: string): Promise<IncomingMessage>
  /** Opens a watch and leaves it open; resolves with a function that closes it. */
  watch(path: string): Promise<() => void>
}

export interface SendOptions {
  readonly body?: unknown
  /** Default: application/json. */
  readonly contentType?: string
  /** Default: that of the kubeconfig; empty for none. */
  readonly token?: string
  /** Beside those that every request has. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface ApiReply {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests compare what they read of replies
  readonly body: any
}

export interface Access {
  readonly server: string
  readonly authority: Buffer
  readonly token: string
}

export function openApiClient(kubeconfig: string): ApiClient {
  const { server, authority, token: own } = readAccess(kubeconfig)
  const agent = new Agent({ ca: authority, keepAlive: true })

  const start = (line: string, { body, contentType = 'application/json', token = own, headers: more }: SendOptions) => {
    const [method, path = ''] = line.split(' ')
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = {
      ...more,
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(text === '' ? {} : { 'content-type': contentType }),
      // Of a DELETE, Node does not say it by itself.
      'content-length': Buffer.byteLength(text),
    }
    const started = startRequest(new URL(path, server), { method, agent, headers })
    started.end(text)
    return started
  }

  return {
    send: (line, options = {}) =>
      new Promise((resolve, reject) => {
        start(line, options)
          .once('error', reject)
          .once('response', (response) => {
            const chunks: Buffer[] = []
            response.on('data', (chunk: Buffer) => chunks.push(chunk))
            response.once('error', reject)
            response.once('end', () => {
              const text = Buffer.concat(chunks).toString()
              const isJson = response.headers['content-type']?.startsWith('application/json') === true
              resolve({ status: response.statusCode ?? 0, body: isJson ? (JSON.parse(text) as unknown) : text })
            })
          })
      }),
    stream: (path) =>
      new Promise((resolve, reject) => {
        start(`GET ${path}`, {}).once('error', reject).once('response', resolve)
      }),
    watch: (path) =>
      new Promise((resolve, reject) => {
        const started = start(`GET ${path}?watch=true`, {})
        started.once('error', reject).once('response', (response) => {
          response.on('error', () => {})
          response.once('data', () => resolve(() => void response.destroy()))
        })
      }),
    [Symbol.dispose]: () => agent.destroy(),
  }
}

export function readAccess(kubeconfig: string): Access {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly clusters: readonly [{ readonly cluster: Record<string, string> }]
    readonly users: readonly [{ readonly user: Record<string, string> }]
  }
  const { server = '', 'certificate-authority-data': authority = '' } = clusters[0].cluster
  return { server, authority: Buffer.from(authority, 'base64'), token: users[0].user['token'] ?? '' }
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** The objects in a file of YAML. */
export function readManifests(file: string): readonly Manifest[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Manifest)
}

/** Where an object of a namespaced kind stands, whose plural is as kubectl guesses it. */
export function pathOf({ apiVersion, kind, metadata }: Manifest): string {
  const root = apiVersion.includes('/') ? 'apis' : 'api'
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies').replace(/ss$/, 'ses')
  return `/${root}/${apiVersion}/namespaces/${metadata.namespace ?? 'default'}/${plural}/${metadata.name}`
}
