import type { HttpRequest } from '../../ports/http-handler.ts'
import { checkWatch, resourceVersion } from '../list-options.ts'
import { count, flag, refuseOptions } from '../query.ts'

/** What a watch was asked for. */
export interface WatchStart {
  /** Follow from behind this resourceVersion; `undefined` starts from the present. */
  readonly after: string | undefined
  /** The resourceVersion that the store must have reached. */
  readonly notOlderThan: string | undefined
  /** Tell the objects there are as ADDED before what happens to them. */
  readonly tellsInitial: boolean
  /** Say by a bookmark where the initial objects end. */
  readonly marksInitialEnd: boolean
  readonly bookmarks: boolean
  /** The server ends the watch after so long. */
  readonly timeoutMs: number | undefined
}

/** Reads the parameters of a watch. Throws BAD_REQUEST, or INVALID for parameters that do not go together. */
export function watchOptions({ query }: HttpRequest): WatchStart {
  const version = resourceVersion(query)
  const sendsInitial = query.has('sendInitialEvents') ? flag(query, 'sendInitialEvents') : undefined
  refuseOptions('ListOptions', checkWatch(query))
  const bookmarks = flag(query, 'allowWatchBookmarks')
  const timeoutSeconds = count(query, 'timeoutSeconds')
  const tellsInitial = sendsInitial ?? version === undefined
  return {
    notOlderThan: version,
    after: tellsInitial ? undefined : version,
    tellsInitial,
    marksInitialEnd: sendsInitial === true && bookmarks,
    bookmarks,
    timeoutMs: timeoutSeconds === undefined || timeoutSeconds === 0 ? undefined : timeoutSeconds * 1_000,
  }
}
