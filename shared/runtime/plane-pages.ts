import type { Page } from '../api/call.ts'
import { humanDuration } from '../model/human-duration.ts'
import type { Rate } from '../model/reservations.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { DueTimer, ObjectIndex } from '../ports/object-index.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Controller } from '../reconciler/controller.ts'
import { formatTable } from './text-table.ts'

const type = 'text/plain; charset=utf-8'

/** So many timers are told, the soonest first; a page is for people. */
const timersMax = 100

export interface TimersSource {
  readonly controllers: readonly Controller[]
  readonly index: Pick<ObjectIndex, 'due'>
  readonly store: Pick<ObjectStore, 'get'>
  readonly clock: Clock
}

/** Which objects a timer will run, and what each of them waits for. */
export function timersPage({ controllers, index, store, clock }: TimersSource): Page {
  const listTimers = async (controller: Controller): Promise<readonly Timer[]> =>
    (await index.due(controller.kind, Number.MAX_SAFE_INTEGER, timersMax)).map((timer) => ({ controller, timer }))
  return {
    type,
    text: async () => {
      const all = (await Promise.all(controllers.map(listTimers))).flat()
      const soonest = all.toSorted((a, b) => a.timer.dueAtMs - b.timer.dueAtMs).slice(0, timersMax)
      if (soonest.length === 0) return 'no object waits for a timer\n'
      const rows = await Promise.all(
        soonest.map(async (one) => timerRow(one, { stored: await store.get(one.timer.key), nowMs: clock.nowMs() })),
      )
      const more = all.length > timersMax ? [['…', '', '', '', `more than ${timersMax}`]] : []
      return formatTable([['CONTROLLER', 'OBJECT', 'DUE', 'WAITING', 'BECAUSE'], ...rows, ...more])
    },
  }
}

interface Timer {
  readonly controller: Controller
  readonly timer: DueTimer
}

interface Seen {
  readonly stored: StoredObject | undefined
  readonly nowMs: number
}

function timerRow({ controller, timer }: Timer, { stored, nowMs }: Seen): readonly string[] {
  const { key, dueAtMs } = timer
  const leftMs = dueAtMs - nowMs
  const due = leftMs < 0 ? `${humanDuration(-leftMs)} ago` : `in ${humanDuration(leftMs)}`
  const { wait } = stored?.engine ?? {}
  const because = wait !== undefined && 'failure' in wait ? cut(wait.failure?.error ?? '') : ''
  const object = key.namespace === '' ? key.name : `${key.namespace}/${key.name}`
  return [controller.name, object, due, wait?.kind ?? 'change', because]
}

function cut(text: string): string {
  return text.length > wordsMax ? `${text.slice(0, wordsMax)}…` : text
}

const wordsMax = 80

export interface BudgetsSource {
  readonly controllers: readonly Controller[]
  /** What all controllers together may spend on retries. */
  readonly retryBudget: Rate | undefined
  /** How much of it is there, in words. */
  readonly retriesLeft: () => string
}

/** What bounds the runs: of all retries together, of each controller, and of each of its objects. */
export function budgetsPage({ controllers, retryBudget, retriesLeft }: BudgetsSource): Page {
  return {
    type,
    text: () => {
      const retries =
        retryBudget === undefined ? ['all retries', 'none', ''] : ['all retries', perSecond(retryBudget), retriesLeft()]
      const rows = controllers.flatMap(({ name, controllerLimit, objectLimit, concurrency }) => [
        [`runs of ${name} at once`, String(concurrency), ''],
        ...(controllerLimit === undefined ? [] : [[`runs of ${name}`, perSecond(controllerLimit), '']]),
        ...(objectLimit === undefined
          ? []
          : [[`runs of each ${name}`, `${objectLimit.runs} in ${humanDuration(objectLimit.withinMs)}`, '']]),
      ])
      return formatTable([['BUDGET', 'ALLOWS', 'LEFT'], retries, ...rows])
    },
  }
}

function perSecond({ perSecond: rate, burst }: Rate): string {
  return `${rate}/s, ${burst} at once`
}
