import { watch, type FSWatcher } from 'node:fs'
import { registerHooks } from 'node:module'
import { basename, dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Controller } from '../../shared/index.ts'
import { loadReconcilers } from './entry.ts'

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

  const follow = (file: string): void => {
    files.add(file)
    const directory = dirname(file)
    if (watchers.has(directory)) return
    const watcher = watch(directory, (_, name) => {
      const changed = [...files].find((one) => dirname(one) === directory && basename(one) === name)
      if (changed === undefined) return
      clearTimeout(timer)
      timer = setTimeout(() => tellChange(relative(process.cwd(), changed)), burstMs)
    })
    // A directory that is gone is told by the load that misses its files.
    watcher.on('error', () => watchers.delete(directory))
    watchers.set(directory, watcher)
  }

  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      const mark = context.parentURL === undefined ? undefined : markIn(context.parentURL)
      if (mark === undefined || !isOwn(specifier, found.url)) return found
      follow(fileURLToPath(found.url))
      return { ...found, url: `${found.url}?${mark}` }
    },
  })
  follow(entry)
  return {
    load: () => {
      version++
      return loadReconcilers(entry, `?${markName}=${version}`)
    },
    onChange: (tell) => (tellChange = tell),
  }
}

const markName = 'setpoint'

/** Of a module that a load has reached: which load it was. */
function markIn(url: string): string | undefined {
  return new RegExp(`\\?(${markName}=\\d+)$`).exec(url)?.[1]
}

function isOwn(specifier: string, url: string): boolean {
  return /^(\.{0,2}\/|#|file:)/.test(specifier) && url.startsWith('file:') && !url.includes('/node_modules/')
}
