import { errorCatalogue, OperatingError, type ErrorDetails } from '../model/errors.ts'
import type { JsonObject } from '../model/json.ts'
import { apiVersionOf } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { HttpResponse } from '../ports/http-handler.ts'
import { json, withHeader } from './reply.ts'
import type { ResourceRequest } from './request-info.ts'

/** A failure as clients are told it: `metav1.Status`, in a response or in the ERROR event of a watch. */
export function failureStatus(error: OperatingError): JsonObject {
  const { status, reason } = answerOf(error)
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: error.message,
    ...(reason === '' ? {} : { reason }),
    details: statusDetails(error.details, retryAfterSeconds(error)),
    code: status,
  }
}

/** What the client is told as a status, and why. */
export function answerOf({ code, details }: OperatingError): { readonly status: number; readonly reason: string } {
  return details.answer ?? errorCatalogue[code]
}

function statusDetails({ causes, answer: _, ...details }: ErrorDetails, retryAfter: number | undefined): JsonObject {
  return {
    ...details,
    ...(causes === undefined
      ? {}
      : {
          causes: causes.map(({ reason, message, field }) => ({
            ...(reason === '' ? {} : { reason }),
            message,
            ...(field === undefined ? {} : { field }),
          })),
        }),
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
  }
}

/** The response to a failure. With Retry-After kubectl tries again by itself, so it goes with those that pass. */
export function failure(error: OperatingError): HttpResponse {
  const { status } = answerOf(error)
  const response = json(status, failureStatus(error))
  const retryAfter = retryAfterSeconds(error)
  if (status === 401) return withHeader(response, 'www-authenticate', 'Bearer')
  if (status === 426) return withHeader(response, 'sec-websocket-version', '13')
  return retryAfter === undefined ? response : withHeader(response, 'retry-after', String(retryAfter))
}

function retryAfterSeconds({ code, details }: OperatingError): number | undefined {
  return details.retryAfterSeconds ?? (code === 'THROTTLED' || code === 'UNAVAILABLE' ? 1 : undefined)
}

/** Any thrown value as an expected failure. What nobody expected says nothing of the inside. */
export function toOperatingError(error: unknown): OperatingError {
  if (error instanceof OperatingError) return error
  if (isTooLong(error)) return new OperatingError('TOO_LARGE', tooLong, { cause: error })
  return new OperatingError('INTERNAL', 'Internal error occurred: see the log of the control plane', { cause: error })
}

/** V8 makes no text of more than half a gigabyte: lists of very much, and objects that their kind's defaults fill. */
function isTooLong(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Invalid string length'
}

const tooLong = 'it would be longer than any text can be, 512 MiB: ask for pages of a list (limit), or for less'

/** Whether the failure is the control plane's and not the client's, so that whoever runs it should know. */
export function isOurs({ code }: OperatingError): boolean {
  return errorCatalogue[code].status >= 500 && code !== 'VERSION_TOO_NEW'
}

/** NOT_FOUND for a path that names nothing served, in kubectl's words. */
export function noSuchPath(): OperatingError {
  return new OperatingError('NOT_FOUND', 'the server could not find the requested resource')
}

/** NOT_FOUND that says what is missing: `kubectl create deployment` and the like end here. */
export function noSuchResource({ group, version, resource }: ResourceRequest): OperatingError {
  return notFoundBecause(`${apiVersionOf(group, version)} has no resource ${JSON.stringify(resource)}`)
}

/** The same for one that is there, but in a namespace or in none. */
export function notThere({ plural, namespaced }: ServedKind): OperatingError {
  return notFoundBecause(`${plural} are in ${namespaced ? 'namespaces' : 'no namespace'}`)
}

/** The same for a subresource: `kubectl scale` ends here. */
export function noSuchSubresource({ group, resource, subresource }: ResourceRequest): OperatingError {
  const plural = group === '' ? resource : `${resource}.${group}`
  return notFoundBecause(`${plural} have no subresource ${JSON.stringify(subresource)}`)
}

function notFoundBecause(why: string): OperatingError {
  return new OperatingError('NOT_FOUND', `${noSuchPath().message}: ${why}`)
}

/** What the log says about an error and its causes; clients are not told it. */
export function errorFields(error: unknown): JsonObject {
  if (!(error instanceof Error)) return { error: String(error) }
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) }
  return { error: error.stack ?? error.message, ...cause }
}
