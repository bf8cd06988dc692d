import type { JsonObject } from '../../shared/index.ts'
import { isObject } from '../../shared/model/json.ts'
import type { HttpHandler, HttpResponse } from '../../shared/ports/http-handler.ts'
import { createTestEnv } from '../../shared/testing/test-env.ts'
import { httpRequest } from './http-request.ts'
import { startAwsPlane } from './aws/plane.ts'
import { clearOutside, clearSky } from './climate.ts'
import type { Life } from './life.ts'
import { createOutside, type OutsideClient } from './outside.ts'
import { controllersFor } from './reconcilers.ts'
import { createRunWatcher } from './runs.ts'
import { runKinds, type Scenario, type Step } from './scenario.ts'
import { contentOf, manifestOf, pathOf, remarkOf } from './addresses.ts'
import { createWorld } from './world.ts'

/**
 * Promise 12: both engines behave the same. One script, on the adapters of one machine and on the simulated AWS, each
 * under a clear sky, must end in the same state: all that people see but for times, ids and versions. (With another
 * script for one machine: that the difference is seen.)
 */
export async function differencesOf(scenario: Scenario, ofLocal = scenario): Promise<readonly string[]> {
  const [aws, local] = [await endOnAws(plain(scenario)), await endLocally(plain(ofLocal))]
  const paths = [...new Set([...aws.keys(), ...local.keys()])].sort()
  return paths
    .filter((path) => aws.get(path) !== local.get(path))
    .map((path) => `promise 12, engines agree: ${path} is ${aws.get(path)} on AWS, locally ${local.get(path)}`)
}

function plain({ misfit: _, relics: __, deeds: ___, tenants: ____, ...scenario }: Scenario): Scenario {
  return { ...scenario, climate: clearSky, herd: 0, resyncMinutes: 0, steps: scenario.steps.flatMap(plainStep) }
}

/** What ends in the same state however long it takes: nothing that never rests, or that only checkers see. */
function plainStep(step: Step): readonly Step[] {
  if (step.act === 'tamper' || step.act === 'intrude' || unlike.includes(step.kind)) return []
  return [{ ...step, mood: step.mood === 'stop' || step.mood === 'nap' ? step.mood : 'plain' }]
}

/** What has something of its own on each engine. */
const unlike: readonly Step['kind'][] = ['Deed', 'Tenant']

/** The API of a control plane, and the time that passes there. */
interface Twin {
  readonly request: (line: string, body?: unknown) => Promise<HttpResponse | undefined>
  readonly advance: (ms: number) => Promise<void>
  readonly entities: ReadonlyMap<string, number>
}

const restMs = 1_200_000

/** No object of a script has a mood to which it matters. */
const isCalm = (): boolean => false

async function play(
  { request, advance, entities }: Twin,
  steps: readonly Step[],
): Promise<ReadonlyMap<string, string>> {
  for (const step of steps) {
    await advance(step.afterMs + 1_000)
    await act(step)
    // Who deletes waits until it is gone.
    if (step.act === 'delete') await advance(60_000)
  }
  await advance(restMs)
  return snapshot()

  async function act(step: Step): Promise<void> {
    const path = pathOf(step)
    const child = pathOf({ ...step, kind: 'ConfigMap' })
    if (step.act === 'apply') await request(`PATCH ${path}?fieldManager=user&force=true`, manifestOf(step))
    if (step.act === 'delete') await request(`DELETE ${path}`)
    if (step.act === 'poke') await request(`PATCH ${path}`, poke(step))
    if (step.act === 'pause') await request(`PATCH ${path}`, paused('true'))
    if (step.act === 'resume') await request(`PATCH ${path}`, paused(null))
    if (step.act === 'spoil') await request(`PATCH ${child}`, { data: { value: 'spoilt' } })
    if (step.act === 'strip') await request(`DELETE ${child}`)
    if (step.act === 'remark') await request(`PATCH ${path}`, remarkOf(step))
    if (step.act === 'edit') await edit(path, step)
  }

  async function edit(path: string, step: Step): Promise<void> {
    const found = await request(`GET ${path}`)
    if (found?.status === 200) await request(`PUT ${path}`, { ...bodyOf(found), ...contentOf(step) })
  }

  async function snapshot(): Promise<ReadonlyMap<string, string>> {
    const state = new Map<string, string>()
    for (const kind of [...runKinds, 'ConfigMap'] as const) {
      const list = await request(`GET ${pathOf({ kind, name: '' }).slice(0, -1)}`)
      if (list?.status !== 200) continue
      for (const object of bodyOf(list)['items'] as JsonObject[]) {
        const { name, uid } = object['metadata'] as { readonly name: string; readonly uid: string }
        state.set(`${kind} ${name}`, JSON.stringify({ ...(timeless(object) as object), outside: entities.get(uid) }))
      }
    }
    state.set('entities outside', String(entities.size))
    return state
  }
}

function paused(value: 'true' | null): JsonObject {
  return { metadata: { annotations: { 'setpoint.dev/paused': value } } }
}

function poke({ value }: Step): JsonObject {
  return { metadata: { annotations: { 'setpoint.dev/reconcile-requested-at': String(value) } } }
}

function bodyOf({ body }: HttpResponse): JsonObject {
  return JSON.parse(String(body)) as JsonObject
}

/** Without what differs from run to run: times, ids, versions. */
function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => !passing.has(name))
  return Object.fromEntries(
    kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, part]) => [nameless(name), timeless(part)]),
  )
}

/** Owners are listed by their uid in managedFields. */
function nameless(name: string): string {
  return name.replace(/"uid":"[^"]*"/, '"uid"')
}

const passing: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  // What a far side calls a thing, and when it was last looked at.
  'id',
  'lastSyncTime',
  'creationTimestamp',
  'lastTransitionTime',
  'time',
  'nextRunAt',
  // Until when an Errand waits.
  'Answered',
  'at',
])

const unheard = {
  runBegins: () => {},
  runEnds: () => {},
  once: () => {},
  notes: () => {},
  tenant: () => {},
  called: () => {},
}

async function endOnAws(scenario: Scenario): Promise<ReadonlyMap<string, string>> {
  const world = createWorld(scenario.seed)
  const watcher = createRunWatcher(world, unheard)
  const outside = createOutside({ world, climate: clearOutside, clear: clearOutside, onEffect: () => {} })
  const plane = startAwsPlane({
    world,
    scenario,
    controllers: (life, network) =>
      controllersFor(scenario, { life, watcher, outside: outside.reach(life, network), isCalm }),
    onWrite: () => {},
    report: () => {},
  })
  await plane.begin()
  const inTime = async (asked: Promise<HttpResponse | undefined>): Promise<HttpResponse | undefined> => {
    await world.runUntil(world.nowMs() + 5_000)
    return asked
  }
  return play(
    {
      request: (line, body) => inTime(plane.request(line, body)),
      advance: (ms) => world.runUntil(world.nowMs() + ms),
      entities: outside.entities,
    },
    scenario.steps,
  )
}

async function endLocally(scenario: Scenario): Promise<ReadonlyMap<string, string>> {
  const entities = new Map<string, number>()
  const outside: OutsideClient = {
    observe: async (name) => entities.get(name),
    put: async (name, value) => void entities.set(name, value),
    remove: async (name) => void entities.delete(name),
  }
  const watcher = createRunWatcher(createWorld(1), unheard)
  const life = { name: 'local', version: 1 } as Life
  await using env = await createTestEnv({
    reconcilers: controllersFor(scenario, { life, watcher, outside, isCalm }),
    seed: scenario.seed,
    tickMs: 60_000,
  })
  const api: HttpHandler = env.api
  return await play(
    {
      request: async (line, body) => {
        const reply = await api(httpRequest(line, body, ''))
        await env.advance('5s')
        return reply
      },
      advance: (ms) => env.advance(`${ms}ms`),
      entities,
    },
    scenario.steps,
  )
}
