import { OperatingError } from '../../shared/index.ts'
import type { AskKubectl } from './ask-kubectl.ts'
import { linesForTerminal } from './terminal-text.ts'

interface Definition {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly status?: { readonly storedVersions?: readonly string[] }
}

interface Page {
  readonly version: string
  readonly objects: number
  readonly written: number
  readonly failed: readonly { readonly namespace: string; readonly name: string; readonly message: string }[]
  readonly continue?: string
}

/**
 * Has all objects of these definitions, or of all that objects were stored in several versions of, stored in the
 * version of now. Page by page: what is done stays done, so that the same command goes on after it was ended.
 */
export async function migrateStored(names: readonly string[], ask: AskKubectl): Promise<void> {
  const { items } = JSON.parse(await ask(['get', '--raw', definitions])) as { readonly items: readonly Definition[] }
  const unknown = names.find((name) => !items.some(({ metadata }) => metadata.name === name))
  if (unknown !== undefined) throw new OperatingError('NOT_FOUND', `there is no definition ${unknown}`)
  const isAsked = (one: Definition): boolean =>
    names.length === 0 ? versionsOf(one).length > 1 : names.includes(one.metadata.name)
  const chosen = items.filter(isAsked)
  if (chosen.length === 0) process.stdout.write('every kind is stored in its present version\n')
  for (const one of chosen) await migrateKind(one, ask)
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

function versionsOf({ status }: Definition): readonly string[] {
  return status?.storedVersions ?? []
}

async function migrateKind(definition: Definition, ask: AskKubectl): Promise<void> {
  const { name, resourceVersion } = definition.metadata
  const sum = { objects: 0, written: 0, failed: 0 }
  let page: Page | undefined
  do {
    page = await nextPage(name, page?.continue, ask)
    sum.objects += page.objects
    sum.written += page.written
    sum.failed += page.failed.length
    for (const one of page.failed) {
      const place = one.namespace === '' ? one.name : `${one.namespace}/${one.name}`
      process.stdout.write(`${linesForTerminal(`${name} ${place}: ${one.message}`)}\n`)
    }
  } while (page.continue !== undefined)
  const done = `${name}: ${sum.written} of ${sum.objects} objects written in ${page.version}`
  if (sum.failed > 0) {
    process.stdout.write(`${done}; ${sum.failed} stay as they are: mend them, and run this again\n`)
    process.exitCode = 1
    return
  }
  if (versionsOf(definition).length > 1) await noteStoredVersion(name, page.version, { resourceVersion, ask })
  process.stdout.write(`${done}; no other version is stored\n`)
}

async function nextPage(name: string, token: string | undefined, ask: AskKubectl): Promise<Page> {
  const query = token === undefined ? '' : `?continue=${encodeURIComponent(token)}`
  return JSON.parse(await ask(['create', '--raw', `${definitions}/${name}/migrate${query}`, '-f', '-'], '{}')) as Page
}

/** Refused if the definition has changed since: objects may be stored in another version by then. */
async function noteStoredVersion(
  name: string,
  version: string,
  { resourceVersion, ask }: { readonly resourceVersion: string; readonly ask: AskKubectl },
): Promise<void> {
  const body = { metadata: { resourceVersion }, status: { storedVersions: [version] } }
  const how = ['--subresource=status', '--type=merge', '-p', JSON.stringify(body)]
  await ask(['patch', 'customresourcedefinition', name, ...how])
}
