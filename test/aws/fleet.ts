import { again, defineKind, defineReconciler, done, type Controller, type Duration } from '../../shared/index.ts'
import type { RateLimit } from '../../shared/reconciler/rate-limit.ts'
import * as z from 'zod'
import { currentLife, type Life } from '../support/lambda-life.ts'
import type { WholePath } from './whole-path.ts'

/** Many objects under change, and what must hold of their runs. */
export const Ship = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Ship',
  spec: z.object({ heading: z.number().int(), anchored: z.boolean().optional() }),
  status: z.object({ heading: z.number().int() }).partial(),
})

export const ships = '/apis/test.setpoint.dev/v1/namespaces/default/ships'

export interface ShipLog {
  runs: number
  /** Runs that began while another of the same object went on in a process that was alive. */
  overlaps: number
  readonly atMs: number[]
}

export interface ShipOptions {
  readonly runMs?: () => number
  /** Whether this run fails. */
  readonly fails?: () => boolean
  /** Done at the beginning of each run. */
  readonly first?: (name: string) => Promise<void> | void
  readonly resync?: Duration
  readonly rateLimit?: RateLimit
}

/** Brings each ship on its heading; notes runs of one ship that overlap. */
export function shipReconciler(
  log: ShipLog,
  { runMs = () => 0, fails = () => false, first = () => {}, resync = '0s', rateLimit }: ShipOptions = {},
): Controller {
  const running = new Map<string, Life | undefined>()
  return defineReconciler(Ship, {
    timeout: '20s',
    resync,
    ...(rateLimit && { rateLimit }),
    async reconcile({ metadata: { name }, spec }) {
      const other = running.get(name)
      if (running.has(name) && other?.isDead() !== true) log.overlaps++
      running.set(name, currentLife())
      log.runs++
      log.atMs.push(Date.now())
      try {
        await first(name)
        await new Promise((resolve) => setTimeout(resolve, runMs()))
        if (fails()) throw new Error('the wind is against us')
        return spec.anchored === true
          ? again('60s', { status: { heading: spec.heading } })
          : done({ status: { heading: spec.heading } })
      } finally {
        if (running.get(name) === currentLife()) running.delete(name)
      }
    },
  })
}

export function newShipLog(): ShipLog {
  return { runs: 0, overlaps: 0, atMs: [] }
}

/** A merge patch that is sent until somebody says that it was done. */
export async function steer(plane: WholePath, name: string, heading: number): Promise<void> {
  await answered(plane, `PATCH ${ships}/${name}`, { spec: { heading } }, 'application/merge-patch+json')
}

export async function launch(
  plane: WholePath,
  name: string,
  spec: { heading: number; anchored?: boolean },
): Promise<void> {
  await answered(plane, `POST ${ships}`, { metadata: { name }, spec })
}

/** Of a create whose answer was lost, the second says that there is one already. */
async function answered(plane: WholePath, line: string, body: unknown, type?: string): Promise<void> {
  for (;;) {
    const { status, body: said } = await plane.request(line, body, type)
    if (status < 300 || (status === 409 && said.reason === 'AlreadyExists')) return
    if (status < 500 && status !== 429 && status !== 409) throw new Error(`${line}: ${status} ${JSON.stringify(said)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Headings as the status has them, by name; those whose newest generation was not observed are left out. */
export async function headings(plane: WholePath): Promise<Readonly<Record<string, number>>> {
  const { body } = await plane.request(`GET ${ships}`)
  const items = (body?.items ?? []) as readonly ShipBody[]
  const observed = items.filter(({ metadata, status }) => status?.observedGeneration === metadata.generation)
  return Object.fromEntries(observed.map(({ metadata, status }) => [metadata.name, status?.heading ?? -1]))
}

interface ShipBody {
  readonly metadata: { readonly name: string; readonly generation: number }
  readonly status?: { readonly heading?: number; readonly observedGeneration?: number }
}
