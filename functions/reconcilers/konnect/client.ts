import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import {
  HttpError,
  parseRetryAfter,
  stop,
  type Context,
  type Json,
  type JsonObject,
  type SecretObject,
} from '../../../shared/index.ts'
import { toHttpError } from './refusal.ts'

/** Konnect's API with the credentials of one account. */
export interface KonnectClient {
  /** Of the region; entities of a control plane are in its region. */
  readonly serverURL: string
  /** The control plane that calls are about; absent for calls about control planes themselves. */
  readonly controlPlaneID?: string
  readonly organizationID?: string
  /** Tells accounts apart, and gives nothing away. */
  readonly account: string
  /** A call of the API; undefined for an answer without a body. Throws HttpError for any answer but success. */
  call(request: string, body?: JsonObject): Promise<JsonObject | undefined>
}

/** As the global `fetch`. */
export type KonnectFetch = (url: string, init: RequestInit) => Promise<Response>

export interface KonnectClientOptions {
  readonly serverURL: string
  readonly secret: SecretObject
  readonly ctx: Context
  readonly fetch: KonnectFetch
  readonly controlPlaneID?: string | undefined
  readonly organizationID?: string | undefined
}

/** Less than the grace of an external, so that a call whose answer was lost is over when its outcome is judged. */
const timeoutMs = 15_000

/** A client with the token that the Secret has as `token`: a personal or a system account access token. */
export function createKonnectClient({ secret, ctx, fetch, ...given }: KonnectClientOptions): KonnectClient {
  const { controlPlaneID, organizationID } = given
  // Paths begin with a slash, and a path with two of them is another one.
  const serverURL = given.serverURL.replace(/\/+$/, '')
  const token = Buffer.from(secret.data?.['token'] ?? '', 'base64')
    .toString()
    .trim()
  if (token === '') throw stop('AuthRefInvalid', `Secret ${secret.metadata.name} has no token`)
  return {
    serverURL,
    ...(controlPlaneID === undefined ? {} : { controlPlaneID }),
    ...(organizationID === undefined ? {} : { organizationID }),
    account: createHash('sha256').update(`${serverURL} ${token}`).digest('hex'),
    call: async (request, body) => {
      const [method = '', path = ''] = request.split(' ')
      const response = await fetch(path.startsWith('/') ? serverURL + path : path, {
        method,
        // Konnect never redirects. Another server could redirect us to an address that only we can reach.
        redirect: 'manual',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json, application/problem+json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([ctx.signal, AbortSignal.timeout(timeoutMs)]),
      })
      if (response.status >= 300 && response.status < 400) throw await redirected(response)
      const answer = parseAnswer(await readText(response))
      if (response.ok) return answer
      const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), ctx.now())
      throw toHttpError(response.status, answer, { retryAfterMs, conceal: (text) => ctx.outside.conceal(text) })
    },
  }
}

async function redirected({ status, body }: Response): Promise<HttpError> {
  await body?.cancel()
  return new HttpError(502, `the server sends us elsewhere (${status}), which is not followed: look at serverURL`)
}

/** An entity has some kilobytes, and a page of a list some hundred of them. */
const answerBytesMax = 4 * 1024 * 1024

/** What the server says, up to a limit: it is not always Konnect, and might say something for ever. */
async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // To leave the loop cancels the rest.
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > answerBytesMax) throw new HttpError(502, 'the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parseAnswer(text: string): JsonObject | undefined {
  if (text === '') return undefined
  try {
    const value = JSON.parse(text) as Json
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The answer of a call that always has one, of what has an id. */
export async function requireAnswer(
  call: Promise<JsonObject | undefined>,
): Promise<JsonObject & { readonly id: string }> {
  const answer = await requireJson(call)
  const { id } = answer
  if (typeof id === 'string' && id !== '') return { ...answer, id }
  throw new HttpError(502, 'the answer has no id')
}

/** What a list says. */
export async function requireList(call: Promise<JsonObject | undefined>): Promise<readonly JsonObject[]> {
  const { data } = await requireJson(call)
  if (Array.isArray(data)) return data as readonly JsonObject[]
  throw new HttpError(502, 'the answer is no list')
}

async function requireJson(call: Promise<JsonObject | undefined>): Promise<JsonObject> {
  const answer = await call
  if (answer !== undefined) return answer
  // Whether it was done is as unknown as if nothing had come.
  throw new HttpError(502, 'the answer is no JSON object')
}
