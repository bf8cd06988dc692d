import { spawnSync } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { bundleText } from './bundle.ts'

/** What a deployment needs to know of a reconciler, as its module says it. */
export interface ReconcilerDescription {
  readonly name: string
  readonly group: string
  readonly kind: string
  readonly timeoutMs: number
  /** How many objects may run at once. */
  readonly concurrency: number
  readonly finalizer?: string
  /** Of secrets of AWS, by the beginnings of names. */
  readonly vault?: { readonly reads?: readonly SecretPrefix[]; readonly writes?: readonly SecretPrefix[] }
  /** The export of the module that is it, or a list that has it. */
  readonly exportedAs: string
  readonly inList: boolean
}

/** As `VaultPrefix` of `shared/reconciler/vault.ts`. */
export type SecretPrefix = { readonly secretsManager: string } | { readonly parameter: string }

/**
 * Every reconciler that a module exports, by itself or in a list. The module is bundled as for Lambda and run, in a
 * process of its own: so its defaults are those of the framework, and a module that cannot be loaded fails here and not
 * when it is deployed.
 */
export function describeReconcilers(entry: string): readonly ReconcilerDescription[] {
  const file = resolve(entry)
  const known = described.get(file) ?? describe(file)
  described.set(file, known)
  return known
}

/** By file: an app is synthesized from one state of its modules. */
const described = new Map<string, readonly ReconcilerDescription[]>()

function describe(file: string): readonly ReconcilerDescription[] {
  const script = bundleText(`import * as module from ${JSON.stringify(file)}\n${describing}`, dirname(file))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', saying, '--input-type=module', '-'], {
    input: script,
    encoding: 'utf8',
    maxBuffer: 2 ** 24,
  })
  if (status !== 0) throw new Error(`cannot load ${file}: ${stderr.trim()}`)
  const { found, mixed } = JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1)) as Described
  if (mixed !== undefined)
    throw new Error(
      `${file}: the list ${mixed} has an entry that is no reconciler: is a \`...\` missing ahead of a list?`,
    )
  if (found.length === 0) throw new Error(`${file} exports no reconciler, and no list of them`)
  const each = [...new Map(found.map((one) => [one.id, one])).values()]
  refuseRivals(file, each)
  refuseSameNames(file, each)
  return found.map(({ id: _, fansOut: __, ...one }) => one)
}

interface Described {
  readonly found: readonly Found[]
  /** The name of a list that holds something else, too. */
  readonly mixed?: string
}

interface Found extends ReconcilerDescription {
  /** The same of one that is exported twice. */
  readonly id: number
  /** Whether other objects wake its own: that has a loop of its own. */
  readonly fansOut: boolean
}

/** Every function throws where two are for one kind (`allControllers`): it would fail at each event. */
function refuseRivals(file: string, each: readonly Found[]): void {
  const all = [...each.map(({ name, group, kind }) => ({ name, of: `${kind}.${group}` })), ...ownControllers]
  for (const [of, same] of Map.groupBy(all, (one) => one.of))
    if (same.length > 1)
      throw new Error(
        `${file}: ${same.map(({ name }) => name).join(' and ')} are both for ${of}: a kind has one controller`,
      )
}

/** A queue is known by the name of its loop: of two each would take the keys of the other, and drop them. */
function refuseSameNames(file: string, each: readonly Found[]): void {
  const taken = new Set([...ownLoops, ...each.filter(({ fansOut }) => fansOut).map(({ name }) => `${name}-fan-out`)])
  for (const [name, same] of Map.groupBy(each, (one) => one.name)) {
    const kinds = same.map(({ group, kind }) => `${kind}.${group}`)
    if (kinds.length > 1)
      throw new Error(
        `${file}: the reconcilers of ${kinds.join(' and ')} are all called ${name}: give each a name of its own`,
      )
    if (taken.has(name))
      throw new Error(
        `${file}: the reconciler of ${kinds.join()} is called ${name}, as a loop of the control plane itself is: give it another name`,
      )
  }
}

/** The engine's own controllers, and the names of all its loops (shared/engine/loops/control-loops.ts). */
const ownControllers = [
  { name: 'namespace-lifecycle', of: 'Namespace.' },
  { name: 'customresourcedefinition-lifecycle', of: 'CustomResourceDefinition.apiextensions.k8s.io' },
]
export const ownLoops: readonly string[] = [
  ...ownControllers.map(({ name }) => name),
  'garbage-collector',
  'event-expiry',
  'quota-usage',
]

/**
 * Node itself begins with the line that an error comes from, which is the whole bundle, and loses what it says behind
 * that if nobody reads it at once.
 */
const saying = `data:text/javascript,${encodeURIComponent(`
import { writeSync } from 'node:fs'
import { inspect } from 'node:util'
process.setUncaughtExceptionCaptureCallback((error) => {
  writeSync(2, inspect(error).slice(0, 10_000))
  process.exit(1)
})`)}`

const whatIsReconciler = `
const isReconciler = (value) => typeof value?.reconcile === 'function' && typeof value.kind?.kind === 'string'`

// The last line is the answer: a module may print what it likes. A timer that it starts does not hold us up.
const describing = `${whatIsReconciler}
const known = []
const idOf = (one) => known.includes(one) ? known.indexOf(one) : known.push(one) - 1
const describe = (exportedAs, inList) => (one) => {
  const { name, kind: { group, kind }, timeoutMs, concurrency, finalizer, vault, references = [], maps = [] } = one
  const fansOut = references.length + maps.length > 0
  return { name, group, kind, timeoutMs, concurrency, finalizer, vault, exportedAs, inList, fansOut, id: idOf(one) }
}
const found = Object.entries(module).flatMap(([name, value]) => Array.isArray(value)
  ? value.filter(isReconciler).map(describe(name, true))
  : [value].filter(isReconciler).map(describe(name, false)))
const isMixed = ([, value]) => Array.isArray(value) && value.some(isReconciler) && value.some((one) => one && !isReconciler(one))
const [mixed] = Object.entries(module).find(isMixed) ?? []
process.stdout.write('\\n' + JSON.stringify({ found, mixed }), () => process.exit(0))
`

/** The module `#reconcilers` with all that a module exports, by themselves or in lists: each once. */
export function allReconcilers(entry: string): string {
  return `import * as module from ${JSON.stringify(resolve(entry))}${whatIsReconciler}
export const reconcilers = [...new Set(Object.values(module).flat().filter(isReconciler))]
`
}

/**
 * The module `#reconcilers` with one of those that a module exports, and, as far as the bundler can tell, nothing else.
 */
export function oneReconciler(entry: string, { name, exportedAs, inList }: ReconcilerDescription): string {
  const file = JSON.stringify(resolve(entry))
  const one = inList ? `given.filter(({ name }) => name === ${JSON.stringify(name)})` : '[given]'
  return `import { ${exportedAs} as given } from ${file}\nexport const reconcilers = ${one}\n`
}
