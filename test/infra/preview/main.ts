/**
 * `npm run preview -- --log FILE`: the dashboards as pictures, `docs/images/*.svg`, with what the functions of the
 * stack of the project wrote in a run (`npm run deployed -- --keep FILE`). Without a file: what the bundles write in
 * a minute of work on this machine. Layout and texts are those that are deployed; what AWS itself measures is left
 * empty.
 */
import { Template } from 'aws-cdk-lib/assertions'
import type { CfnDashboard } from 'aws-cdk-lib/aws-cloudwatch'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { SetpointStack } from '../../../infra/setpoint-stack.ts'
import { optionsOf, wholeNumber } from '../../support/command-line.ts'
import { plainClient } from '../lambda/runtime-clients.ts'
import { applyFirstShelf, shelf } from '../lambda/script.ts'
import { openStage, tickEvent, type Stage } from '../lambda/stage.ts'
import { functionNames } from '../lambda/synthesized-code.ts'
import { deployed, unbundledApp, widgetsOf } from '../synthesized.ts'
import { pointsOf, type Point } from './recorded.ts'
import { drawn, type Widget } from './svg.ts'

const { values, positionals } = optionsOf('npm run preview -- [--log FILE] [seconds]', {
  allowPositionals: true,
  options: { log: { type: 'string', default: '' } },
})
const [given = '60'] = positionals
const seconds = wholeNumber('seconds', given, 1)
const objects = '/apis/example.dev/v1/namespaces/default'

/** What was recorded, and what it is drawn in. */
interface Recording {
  readonly points: readonly Point[]
  readonly widgets: Readonly<Record<'overview' | 'controller', readonly Widget[]>>
}

const { points, widgets } = values.log === '' ? await recordHere() : readRun(values.log)
const times = points.map(({ atMs }) => atMs)
const span = { fromMs: Math.min(...times), toMs: Math.max(...times) + 1, buckets: 30 }
mkdirSync('docs/images', { recursive: true })
for (const name of ['overview', 'controller'] as const)
  writeFileSync(`docs/images/${name}.svg`, drawn(widgets[name], points, span))

async function recordHere(): Promise<Recording> {
  await using stage = await openStage(plainClient)
  await applyFirstShelf(stage)
  const fromMs = Date.now()
  for (let round = 0; Date.now() < fromMs + seconds * 1_000; round++) await workOn(stage, round)
  const recorded = functionNames.flatMap((name) => pointsOf(stage.functions[name].log))
  const all = deployed()
  return {
    points: recorded.filter(({ atMs }) => atMs >= fromMs),
    widgets: dashboardsOf(all, all.controlPlane, 'shelf'),
  }
}

/** The lines of the stack of the project: the stack of the own app writes into a namespace of its own. */
function readRun(file: string): Recording {
  const name = 'Setpoint-deployed'
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.slice(Math.max(0, line.indexOf('{"_aws"'))))
    .filter((line) => line.includes(`"Namespace":"Setpoint/${name}"`))
  const stack = new SetpointStack(unbundledApp(), name, { adminPrincipals: [], issuers: [], disposable: true })
  const all = { stack, template: () => Template.fromStack(stack) }
  return { points: pointsOf(lines.join('\n')), widgets: dashboardsOf(all, stack.controlPlane, 'konnectservice') }
}

function dashboardsOf(
  all: Parameters<typeof widgetsOf>[0],
  plane: { readonly dashboard: CfnDashboard; readonly controllerDashboard: CfnDashboard },
  chosen: string,
): Recording['widgets'] {
  return {
    overview: widgetsOf(all, plane.dashboard, chosen),
    controller: widgetsOf(all, plane.controllerDashboard, chosen),
  }
}

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
