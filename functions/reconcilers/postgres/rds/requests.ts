import type { CloudControl, ProgressEvent } from '@aws-sdk/client-cloudcontrol'
import { createHash } from 'node:crypto'
import type { Duration, JsonObject } from '../../../../shared/index.ts'
import type { ProviderRun, ProviderWait } from '../provider.ts'
import { codeOfError, controlFailure } from './control-failure.ts'

/**
 * Requests of the Cloud Control API, which go on for minutes after the call. One at a time for each object; it is noted
 * with the object, its client token before the call and its request token before anything waits for it, so that no
 * crash forgets one or makes a second. Source: Cloud Control API User Guide, "Managing resource operation requests".
 */
export interface RdsRequests {
  /** How the request ended that was under way, told once; `none` if there was none, or nobody knows of it any more. */
  look(): Promise<RequestState>
  /** Begins a request. Asked again with the same content after a call whose answer was lost, it is the same request. */
  begin(about: About, call: CloudCall): Promise<ProviderWait>
  /** A request to create something of that name may be under way of which there is only the client token. */
  mayBeCreated(identifier: string): Promise<boolean>
}

interface About {
  readonly operation: Operation
  readonly TypeName: string
  readonly content: JsonObject
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

export type RequestState =
  | { readonly state: 'none' | 'succeeded' }
  | { readonly state: 'waiting'; readonly wait: ProviderWait }
  | FailedLook

export interface FailedLook {
  readonly state: 'failed'
  readonly operation: Operation
  readonly code: string
  /** What to throw for it. */
  readonly error: Error
}

/** Makes the call that begins the request. */
export type CloudCall = (cloudControl: CloudControl, clientToken: string) => Promise<Answer>

/** The client is made when it is needed first: most functions only know of the reconciler. */
export type Connect = () => Promise<CloudControl>

interface Answer {
  readonly ProgressEvent?: ProgressEvent | undefined
}

/**
 * As it is noted. `count` goes up with each request that has ended, since a client token is good for one: for 36 hours
 * it gives the old answer.
 */
type Noted = {
  readonly count: number
  readonly begun?: { readonly operation: Operation; readonly clientToken: string; readonly requestToken?: string }
}

const noteKey = 'rds'
const pollSeconds = 30

export function createRdsRequests(connect: Connect, uid: string, run: ProviderRun): RdsRequests {
  return new NotedRequests(connect, uid, run)
}

class NotedRequests implements RdsRequests {
  readonly #connect: Connect
  readonly #uid: string
  readonly #run: ProviderRun

  constructor(connect: Connect, uid: string, run: ProviderRun) {
    this.#connect = connect
    this.#uid = uid
    this.#run = run
  }

  async look(): Promise<RequestState> {
    const { begun } = this.#readNote()
    if (begun?.requestToken === undefined) return { state: 'none' }
    const { operation, requestToken } = begun
    const progress = await this.#progressOf(requestToken)
    const status = progress?.OperationStatus
    if (progress !== undefined && (status === undefined || /PENDING|IN_PROGRESS/.test(status)))
      return { state: 'waiting', wait: this.#waitFor(operation, progress, requestToken) }
    await this.#noteEnd()
    if (progress === undefined) return { state: 'none' }
    if (status === 'SUCCESS') return { state: 'succeeded' }
    return failedLook(operation, progress)
  }

  async begin({ operation, TypeName, content }: About, call: CloudCall): Promise<ProviderWait> {
    const { count } = this.#readNote()
    const clientToken = `${this.#uid}-${count}-${operation}-${digestOf({ TypeName, content })}`
    await this.#note({ count, begun: { operation, clientToken } })
    const { ProgressEvent: progress = {} } = await call(await this.#connect(), clientToken).catch(
      async (error: unknown): Promise<never> => {
        const code = codeOfError(error)
        // The token is used up, by a request of other content.
        if (code === 'ClientTokenConflict') await this.#noteEnd()
        throw controlFailure(code, `${operation.toLowerCase()} ${TypeName}`, error as Error)
      },
    )
    const { RequestToken: requestToken = '' } = progress
    await this.#note({ count, begun: { operation, clientToken, requestToken } })
    return this.#waitFor(operation, progress, requestToken)
  }

  async mayBeCreated(identifier: string): Promise<boolean> {
    if (this.#readNote().begun?.operation !== 'CREATE') return false
    for await (const { Identifier } of this.#listCreates())
      if ((Identifier ?? identifier).toLowerCase() === identifier) return true
    return false
  }

  /** Of the whole account, page by page. */
  async *#listCreates(): AsyncGenerator<ProgressEvent> {
    const cloudControl = await this.#connect()
    const ResourceRequestStatusFilter = {
      Operations: ['CREATE' as const],
      OperationStatuses: ['PENDING' as const, 'IN_PROGRESS' as const],
    }
    let NextToken: string | undefined
    do {
      const page = await cloudControl
        .listResourceRequests({ ResourceRequestStatusFilter, MaxResults: 100, ...(NextToken && { NextToken }) })
        .catch((error: unknown): never => {
          throw controlFailure(codeOfError(error), 'list the requests that are under way', error as Error)
        })
      yield* page.ResourceRequestStatusSummaries ?? []
      NextToken = page.NextToken
    } while (NextToken !== undefined)
  }

  #readNote(): Noted {
    return (this.#run.notes.get(noteKey) as Noted | undefined) ?? { count: 0 }
  }

  #note(next: Noted): Promise<void> {
    const { notes } = this.#run
    notes.set(noteKey, next)
    return notes.keep()
  }

  #noteEnd(): Promise<void> {
    return this.#note({ count: this.#readNote().count + 1 })
  }

  async #progressOf(requestToken: string): Promise<ProgressEvent | undefined> {
    try {
      const cloudControl = await this.#connect()
      return (await cloudControl.getResourceRequestStatus({ RequestToken: requestToken })).ProgressEvent
    } catch (error) {
      // It is kept for a week.
      if (codeOfError(error) === 'RequestTokenNotFound') return undefined
      throw controlFailure(codeOfError(error), 'learn how a request goes on', error as Error)
    }
  }

  #waitFor(operation: Operation, { StatusMessage, RetryAfter }: ProgressEvent, requestToken: string): ProviderWait {
    const afterMs = Math.max(pollSeconds * 1_000, (RetryAfter?.getTime() ?? 0) - this.#run.now())
    const after: Duration = `${Math.min(600, Math.ceil(afterMs / 1_000))}s`
    const message = StatusMessage === undefined || StatusMessage === '' ? '' : `: ${StatusMessage}`
    return { reason: reasons[operation], message: `request ${requestToken} of RDS is in progress${message}`, after }
  }
}

function failedLook(operation: Operation, { ErrorCode, OperationStatus, TypeName, StatusMessage }: ProgressEvent) {
  const code = ErrorCode ?? (OperationStatus === 'CANCEL_COMPLETE' ? 'Canceled' : 'Unknown')
  const error = controlFailure(code, `${operation.toLowerCase()} ${TypeName ?? 'a resource'}`, {
    message: `${code}: ${StatusMessage ?? ''}`,
  })
  return { state: 'failed', operation, code, error } as const
}

const reasons = { CREATE: 'Creating', UPDATE: 'Updating', DELETE: 'Deleting' } as const

function digestOf(content: JsonObject): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)
}
