import { existsSync, watch, type FSWatcher } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatingError, type Controller } from '../../shared/index.ts'
import { loadReconcilers } from './entry.ts'
import { leaveMarksOut, markName } from './reloading.ts'

/** A person's modules, which are loaded anew when one of their files changes. */
export interface ReloadedModules {
  load(): Promise<readonly Controller[]>
  /** Calls with the path of a file that was loaded and has changed, once for changes that come together. */
  onChange(tell: (file: string) => void): void
}

/** Changes come in bursts: an editor writes a file in several steps. */
const burstMs = 50

/**
 * The modules that the entry reaches by paths of files, not by names of packages. Each load gives all of them another
 * URL, so that Node, which keeps a module as long as the process lives, reads them again. What was loaded before stays
 * in memory: a process that is edited for a day grows by what was loaded in it.
 */
export function openReloadedModules(entry: string): ReloadedModules {
  const files = new Set([entry])
  const watchers = new Map<string, FSWatcher>()
  let version = 0
  let tellChange: (file: string) => void = () => {}
  let timer: NodeJS.Timeout | undefined

  const findChanged = (directory: string, name: string | null): string | undefined => {
    const path = join(directory, name ?? '')
    const isGone = !existsSync(directory)
    return [...files].find(
      (file) => file === path || file.startsWith(`${path}${sep}`) || (isGone && dirname(file) === directory),
    )
  }

  /** Where a directory is not there, the one above it tells that it comes. */
  const watchFor = (directory: string): void => {
    if (!existsSync(directory)) return watchFor(dirname(directory))
    if (watchers.has(directory)) return
    const watcher = watch(directory, (_, name) => {
      const changed = findChanged(directory, name)
      if (changed === undefined) return
      clearTimeout(timer)
      timer = setTimeout(() => tellChange(relative(process.cwd(), changed)), burstMs)
    })
    watcher.on('error', () => watchers.delete(directory))
    watchers.set(directory, watcher)
  }

  const follow = (file: string): void => {
    files.add(file)
    watchFor(dirname(file))
  }

  /** A directory that was removed and made again has its name, and is another one. */
  const watchAnew = (): void => {
    const before = [...watchers.values()]
    watchers.clear()
    for (const file of files) watchFor(dirname(file))
    for (const watcher of before) watcher.close()
  }

  registerHooks({
    resolve: (specifier, context, next) => {
      const mark = context.parentURL === undefined ? undefined : markIn(context.parentURL)
      const found = orMissing(
        () => next(specifier, context),
        (url) => mark !== undefined && isOwn(specifier, url) && follow(fileURLToPath(url)),
      )
      if (mark === undefined || !isOwn(specifier, found.url)) return found
      follow(fileURLToPath(found.url))
      return { ...found, url: `${found.url}?${mark}` }
    },
  })
  follow(entry)
  return {
    load: async () => {
      version++
      watchAnew()
      try {
        return await loadReconcilers(entry, `?${markName}=${version}`)
      } catch (error) {
        throw inTheirWords(error, entry)
      }
    },
    onChange: (tell) => (tellChange = tell),
  }
}

/** An error of a person's modules, with the places that are theirs. What they have mistyped is no bug of ours. */
function inTheirWords(error: unknown, entry: string): unknown {
  if (!(error instanceof Error) || error instanceof OperatingError || error.stack === undefined) return error
  const isTyping = error instanceof SyntaxError
  const frame = isTyping ? /^ +at / : /^ +at .*\bnode:/
  const lines = leaveMarksOut(error.stack).split('\n')
  error.stack = lines.filter((line) => !frame.test(line)).join('\n')
  if (!isTyping) return error
  const message = `${relative(process.cwd(), entry)} cannot be loaded: ${error.stack}`
  return new OperatingError('BAD_REQUEST', message, { cause: error })
}

/** Tells of the file that is looked for and not there: it may be written in the next moment. */
function orMissing<Found>(find: () => Found, tell: (url: string) => void): Found {
  try {
    return find()
  } catch (error) {
    const { url } = error as { readonly url?: unknown }
    if (typeof url === 'string') tell(url)
    throw error
  }
}

/** Of a module that a load has reached: which load it was. */
function markIn(url: string): string | undefined {
  return new RegExp(`\\?(${markName}=\\d+)$`).exec(url)?.[1]
}

function isOwn(specifier: string, url: string): boolean {
  return /^(\.{0,2}\/|#|file:)/.test(specifier) && url.startsWith('file:') && !url.includes('/node_modules/')
}
