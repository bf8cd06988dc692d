import { existsSync, statSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OperatingError, type Controller } from '../../shared/index.ts'

/**
 * The module that exports a person's reconcilers: the file that they name, or of the directory that they name (without
 * a name, this one) `reconcilers.ts`, `reconcilers.js`, or the file called after the directory. Throws a BAD_REQUEST.
 */
export function findEntry(named: string | undefined): string {
  const path = resolve(named ?? '.')
  if (existsSync(path) && statSync(path).isFile()) return path
  const candidates = ['reconcilers', basename(path)].flatMap((name) =>
    ['.ts', '.js'].map((extension) => join(path, `${name}${extension}`)),
  )
  const found = candidates.find((file) => existsSync(file))
  if (found !== undefined) return found
  const what = /\.[cm]?[jt]s$/.test(path) ? 'is not there' : 'has no reconcilers.ts'
  throw new OperatingError(
    'BAD_REQUEST',
    `${named ?? 'this directory'} ${what}: name the module that exports your reconcilers, or type setpoint init`,
  )
}

/**
 * Every reconciler that the module exports, by itself or in a list. A file that cannot be loaded is an error with its
 * stack; one that exports none is a BAD_REQUEST. With another `query` the module is another one to Node.
 */
export async function loadReconcilers(entry: string, query = ''): Promise<readonly Controller[]> {
  // oxlint-disable-next-line import/no-dynamic-require -- it is the person's module, whichever they name
  const exported: readonly unknown[] = Object.values((await import(`${pathToFileURL(entry).href}${query}`)) as object)
  const found = new Set(exported.flat().filter(isReconciler))
  const file = relative(process.cwd(), entry)
  if (exported.some(isMixed))
    throw new OperatingError(
      'BAD_REQUEST',
      `${file} exports a list of reconcilers with an entry that is none: is a \`...\` missing ahead of a list?`,
    )
  if (found.size > 0) return [...found]
  throw new OperatingError(
    'BAD_REQUEST',
    `${file} exports no reconciler: export what defineReconciler returned, or a list`,
  )
}

/** One that is switched off, as by `flag && mine`, is no entry. */
function isMixed(value: unknown): boolean {
  return Array.isArray(value) && value.some(isReconciler) && value.some((one) => Boolean(one) && !isReconciler(one))
}

/** As the CDK construct sees them (infra/bundling/reconciler-modules.ts). */
function isReconciler(value: unknown): value is Controller {
  const { reconcile, kind } = (value ?? {}) as Partial<Controller>
  return typeof reconcile === 'function' && typeof kind?.kind === 'string'
}
