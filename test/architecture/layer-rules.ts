/**
 * Writes the layer table as rules for oxlint: `npm run layers` after a change of the table.
 *
 * Each rule forbids everything and then allows by name. A pattern sees the specifier as written and knows nothing of
 * the file it stands in, and `../../` leaves the layer or does not by how deep that file is: so one rule per layer and
 * depth.
 */
import { writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { depthMax, type Layer, layers } from './layers.ts'

/** Extended by `.oxlintrc.json`. */
export const layerRulesFile = new URL('layers.oxlintrc.json', import.meta.url)

/** What `layerRulesFile` must hold: one line per rule. */
export function layerRules(): string {
  const overrides = [...Object.entries(layers).flatMap(importRules), purityRule()]
  return `{"overrides":[\n${overrides.map((override) => JSON.stringify(override)).join(',\n')}\n]}\n`
}

function importRules([name, layer]: readonly [string, Layer]) {
  const message = `${name} may import only: ${[...layer.mayImport, ...layer.packages].join(', ') || 'itself'}`
  const rule = (depth: number) => ({
    'no-restricted-imports': ['error', { patterns: [{ group: patterns(name, layer, depth), message }] }],
  })
  if (isFile(name)) return [{ files: [name], rules: rule(0) }]
  const depths = Array.from({ length: depthMax + 1 }, (_, depth) => depth)
  return depths.map((depth) => ({ files: [`${name}${'/*'.repeat(depth + 1)}`], rules: rule(depth) }))
}

function patterns(name: string, layer: Layer, depth: number): readonly string[] {
  const folder = isFile(name) ? posix.dirname(name) : name + '/x'.repeat(depth)
  const own = isFile(name) ? [] : ['!./**', ...(depth > 0 ? ['!../**', `${'../'.repeat(depth + 1)}**`] : [])]
  const mayImport = layer.mayImport.map((to) => `!${relative(folder, to)}`)
  return ['**', ...own, ...innerLayers(name, layer, folder), ...mayImport, ...layer.packages.map(allowed)]
}

/** What is inside the folder and a layer of its own. */
function innerLayers(name: string, { mayImport }: Layer, folder: string): readonly string[] {
  const inside = Object.keys(layers).filter((other) => other.startsWith(`${name}/`))
  return inside.filter((other) => !mayImport.includes(other)).map((other) => relative(folder, other))
}

function relative(folder: string, layer: string): string {
  const path = posix.relative(folder, layer)
  return (path.startsWith('.') ? path : `./${path}`) + (isFile(layer) ? '' : '/**')
}

/** In braces, since a pattern without a slash would match the last part of any path: `zod` also allows `@types/zod`. */
function allowed(packageName: string): string {
  if (packageName.endsWith(':')) return `!{${packageName}*,${packageName}*/**}`
  return packageName.endsWith('/') ? `!${packageName}**` : `!{${packageName},${packageName}/**}`
}

function isFile(layer: string): boolean {
  return layer.endsWith('.ts')
}

function purityRule() {
  const files = Object.entries(layers).flatMap(([name, layer]) => (layer.pure ? [`${name}/**`] : []))
  const globals = Object.entries(impureGlobals).map(([name, instead]) => ({ name, message: instead }))
  return {
    files,
    rules: {
      'no-restricted-globals': ['error', { globals, checkGlobalObject: true }],
      'no-restricted-properties': ['error', ...impureProperties],
    },
  }
}

const takeClock = 'take a Clock, or milliseconds'
const takeRandom = 'take a Random'
const takePort = 'I/O goes through a port'

/**
 * `Date` is banned whole: the linter cannot tell `new Date()` from `new Date(ms)`, and half of what is left reads the
 * time zone. shared/model/time.ts, which turns milliseconds into text and back, is the one exception.
 */
const impureGlobals = {
  Date: takeClock,
  performance: takeClock,
  setTimeout: takeClock,
  setInterval: takeClock,
  setImmediate: takeClock,
  queueMicrotask: takeClock,
  crypto: takeRandom,
  process: takePort,
  fetch: takePort,
  WebSocket: takePort,
  EventSource: takePort,
  console: 'take a Logger',
  Intl: 'no locale, no time zone: the result depends on the machine',
}

const locale = { message: 'compare and format without a locale: the result depends on the machine' }

const impureProperties = [
  { object: 'JSON', property: 'parse', message: 'take parseJson: V8 misreads names with escapes' },
  { object: 'Math', property: 'random', message: takeRandom },
  { object: 'AbortSignal', property: 'timeout', message: takeClock },
  { property: 'localeCompare', ...locale },
  { property: 'toLocaleString', ...locale },
  { property: 'toLocaleLowerCase', ...locale },
  { property: 'toLocaleUpperCase', ...locale },
]

if (import.meta.main) writeFileSync(layerRulesFile, layerRules())
