/**
 * `npm run preview`: the dashboards as pictures, `docs/images/*.svg`. The layout and texts are those that are deployed;
 * the lines are what the functions' bundles wrote in a minute of work on this machine. What AWS itself measures is left
 * empty.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { optionsOf, wholeNumber } from '../../support/command-line.ts'
import { plainClient } from '../lambda/runtime-clients.ts'
import { applyFirstShelf, shelf } from '../lambda/script.ts'
import { openStage, tickEvent, type Stage } from '../lambda/stage.ts'
import { functionNames } from '../lambda/synthesized-code.ts'
import { deployed, widgetsOf } from '../synthesized.ts'
import { pointsOf } from './recorded.ts'
import { drawn } from './svg.ts'

const [given = '60'] = optionsOf('npm run preview -- [seconds]', { allowPositionals: true }).positionals
const seconds = wholeNumber('seconds', given, 1)
const objects = '/apis/example.dev/v1/namespaces/default'

await using stage = await openStage(plainClient)
await applyFirstShelf(stage)
const fromMs = Date.now()
for (let round = 0; Date.now() < fromMs + seconds * 1_000; round++) await workOn(stage, round)

const points = functionNames.flatMap((name) => pointsOf(stage.functions[name].log))
const all = deployed()
const span = { fromMs, toMs: Date.now(), buckets: 30 }
mkdirSync('docs/images', { recursive: true })
for (const [name, dashboard] of [
  ['overview', all.controlPlane.dashboard],
  ['controller', all.controlPlane.controllerDashboard],
] as const)
  writeFileSync(`docs/images/${name}.svg`, drawn(widgetsOf(all, dashboard), points, span))

/** Somebody applies, edits, reads and deletes; somebody else takes children away; a lamp is broken now and then. */
async function workOn({ request, settle, functions }: Stage, round: number): Promise<void> {
  const name = `shelf-${round % 20}`
  await request('POST', `${objects}/shelves`, shelf(name, { books: round, ms: (round * 37) % 200 }))
  await request('PATCH', `${objects}/shelves/${name}`, { spec: { books: round + 1 } })
  await request('GET', `${objects}/shelves`)
  if (round % 3 === 0) await request('DELETE', '/api/v1/namespaces/default/configmaps/first-catalog')
  if (round % 4 === 0) await request('POST', `${objects}/lamps`, lamp(round, round % 8 === 0))
  if (round % 5 === 4) await request('DELETE', `${objects}/shelves/${name}`)
  if (round % 7 === 0) await request('POST', `${objects}/shelves`, shelf('wrong', { books: 'many' }))
  if (round % 10 === 0) await functions.resync.invoke(tickEvent())
  await settle()
}

function lamp(round: number, broken: boolean): object {
  return { apiVersion: 'example.dev/v1', kind: 'Lamp', metadata: { name: `lamp-${round}` }, spec: { broken } }
}
