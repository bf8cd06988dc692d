import { OperatingError } from '../../model/errors.ts'
import { forbidden, type FieldError } from '../../model/schema/field-error.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'
import { count, flag, refuseOptions, text } from '../query.ts'

/** What a watch was asked for. */
export interface WatchOptions {
  /** Follow from behind this resourceVersion; `undefined` starts from the present. */
  readonly after: string | undefined
  /** Tell the objects there are as ADDED before what happens to them. */
  readonly tellsInitial: boolean
  /** Say by a bookmark where the initial objects end. */
  readonly marksInitialEnd: boolean
  readonly bookmarks: boolean
  /** The server ends the watch after so long. */
  readonly timeoutMs: number | undefined
}

/** Reads the parameters of a watch. Throws BAD_REQUEST, or INVALID for parameters that do not go together. */
export function watchOptions({ query }: HttpRequest): WatchOptions {
  const version = resourceVersion(query)
  const sendsInitial = query.has('sendInitialEvents') ? flag(query, 'sendInitialEvents') : undefined
  refuseOptions('ListOptions', checkMatch(text(query, 'resourceVersionMatch'), sendsInitial !== undefined))
  const bookmarks = flag(query, 'allowWatchBookmarks')
  const timeoutSeconds = count(query, 'timeoutSeconds')
  const tellsInitial = sendsInitial ?? version === undefined
  return {
    after: tellsInitial ? undefined : version,
    tellsInitial,
    marksInitialEnd: sendsInitial === true && bookmarks,
    bookmarks,
    timeoutMs: timeoutSeconds === undefined || timeoutSeconds === 0 ? undefined : timeoutSeconds * 1_000,
  }
}

/** 0 asks for any version, and the present is one. */
function resourceVersion(query: URLSearchParams): string | undefined {
  const version = text(query, 'resourceVersion')
  if (version === undefined || version === '0') return undefined
  if (/^[1-9]\d{0,38}$/.test(version)) return version
  throw new OperatingError(
    'BAD_REQUEST',
    `Invalid value: ${JSON.stringify(version)}: resourceVersion must be a decimal integer`,
  )
}

function checkMatch(match: string | undefined, isWatchList: boolean): readonly FieldError[] {
  if (!isWatchList)
    return match === undefined
      ? []
      : [
          forbidden(
            'resourceVersionMatch',
            'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
          ),
        ]
  if (match === 'NotOlderThan') return []
  return [forbidden('sendInitialEvents', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')]
}
