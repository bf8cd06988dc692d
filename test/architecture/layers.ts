/**
 * Who may import whom, as one table. `layer-rules.ts` turns it into rules for the linter; `layers.test.ts` proves that
 * the linter keeps them and that the tree does. A folder that is not in the table may be imported by nobody in it.
 */
import { posix } from 'node:path'

export interface Layer {
  /** The other layers it may import. A layer may always import itself. */
  readonly mayImport: readonly string[]
  /**
   * The packages it may import: a name stands for its subpaths too, `@scope/` for a scope, `node:` for Node's modules.
   */
  readonly packages: readonly string[]
  /** Time, chance and I/O are arguments: no clock, no timers, no randomness, no network, no process, no locale. */
  readonly pure?: true
}

const core = ['shared/model', 'shared/ports', 'shared/resources']

/** The rooms of the engine, in order: each may import those before it. */
const rooms = ['state', 'limits', 'insight', 'turn', 'wake', 'loops'].map((name) => `shared/engine/${name}`)

const pureLayers = [...core, 'shared/reconciler', ...rooms, 'shared/api']

const packagesOfRooms: Readonly<Record<string, readonly string[]>> = { 'shared/engine/insight': ['yaml'] }

function engineRooms(): Readonly<Record<string, Layer>> {
  const layerOfRoom = (room: string, i: number): Layer => ({
    mayImport: [...core, 'shared/reconciler', ...rooms.slice(0, i)],
    packages: packagesOfRooms[room] ?? [],
    pure: true,
  })
  return Object.fromEntries(rooms.map((room, i) => [room, layerOfRoom(room, i)]))
}

/** A folder inside a layer that is a layer of its own follows it, and a name that is no folder is a single file. */
export const layers: Readonly<Record<string, Layer>> = {
  'shared/model': { mayImport: [], packages: ['re2js'], pure: true },
  'shared/ports': { mayImport: ['shared/model'], packages: [], pure: true },
  'shared/resources': { mayImport: ['shared/model', 'shared/ports'], packages: [], pure: true },
  'shared/reconciler': { mayImport: ['shared/model', 'shared/ports'], packages: ['zod'], pure: true },
  ...engineRooms(),
  'shared/api': { mayImport: ['shared/model', 'shared/ports', 'shared/resources'], packages: ['yaml'], pure: true },
  'shared/adapters/aws': {
    mayImport: ['shared/model', 'shared/ports', 'shared/adapters/node'],
    packages: ['@aws-sdk/', 'aws-lambda', 'node:'],
  },
  'shared/adapters/node': { mayImport: ['shared/model', 'shared/ports'], packages: ['jose', 'node:'] },
  'shared/adapters/local': {
    mayImport: ['shared/model', 'shared/ports', 'shared/adapters/node'],
    packages: ['node:'],
  },
  'shared/adapters/tracing': { mayImport: ['shared/model', 'shared/ports'], packages: ['@opentelemetry/'] },
  'shared/runtime': {
    mayImport: [
      ...pureLayers,
      'shared/adapters/aws',
      'shared/adapters/local',
      'shared/adapters/node',
      'shared/adapters/tracing',
    ],
    packages: ['aws-lambda', 'node:'],
  },
  'shared/testing': {
    mayImport: [...pureLayers, 'shared/adapters/local', 'shared/adapters/node', 'shared/runtime'],
    packages: ['node:'],
  },
  'shared/testing-aws': {
    mayImport: [...pureLayers, 'shared/adapters/aws', 'shared/adapters/local', 'shared/runtime', 'shared/testing'],
    packages: ['@aws-sdk/', 'node:'],
  },
  'shared/index.ts': { mayImport: ['shared/model', 'shared/reconciler'], packages: [] },
  functions: {
    mayImport: ['shared/runtime', 'functions/reconcilers'],
    packages: ['#reconcilers', '#tracing', '#vault', '@middy/', 'aws-lambda'],
  },
  // What the functions get as `#reconcilers`, unless a bundle has something else in its place.
  'functions/reconcilers.ts': { mayImport: ['shared/index.ts', 'functions/reconcilers'], packages: [] },
  'functions/command': {
    mayImport: ['shared/index.ts', 'shared/runtime', 'functions/reconcilers'],
    packages: ['node:'],
  },
  'functions/reconcilers': {
    mayImport: ['shared/index.ts'],
    packages: ['@aws-sdk/', 'croner', 'node:', 'pg', 'zod'],
  },
  infra: {
    mayImport: [],
    packages: ['aws-cdk-lib', 'constructs', 'esbuild', 'node:'],
  },
  // As a user's own code: through the package's front doors only.
  examples: { mayImport: [], packages: ['aws-cdk-lib', 'setpoint', 'vitest', 'zod'] },
}

/** Folders may nest so deep inside a layer: the linter's rules are written out per depth. */
export const depthMax = 3

/** The layer of a file, `undefined` if it is in none. Paths are relative to the root of the repository. */
export function layerOf(file: string): string | undefined {
  const around = Object.keys(layers).filter((layer) => file === layer || file.startsWith(`${layer}/`))
  return around.toSorted((a, b) => b.length - a.length)[0]
}

/** The file a relative import names, `undefined` for a package. */
export function importedFile(file: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined
}

/**
 * What the table says about one import of one file. Files outside all layers, such as tests, may import anything. No
 * file imports itself.
 */
export function mayImport(file: string, specifier: string): boolean {
  const from = layerOf(file)
  const layer = from === undefined ? undefined : layers[from]
  if (layer === undefined) return true
  const target = importedFile(file, specifier)
  if (target === undefined) return layer.packages.some((name) => isOfPackage(specifier, name))
  const to = layerOf(target)
  return to !== undefined && target !== file && (to === from || layer.mayImport.includes(to))
}

/** Whether a specifier means the package, or one of the scope, that the table names. */
export function isOfPackage(specifier: string, name: string): boolean {
  const isPrefix = name.endsWith('/') || name.endsWith(':')
  return isPrefix ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`)
}
