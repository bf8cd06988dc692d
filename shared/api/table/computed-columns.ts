import { isObject, textOf, type Json } from '../../model/json.ts'
import { humanDuration } from '../../model/human-duration.ts'
import type { ApiObject } from '../../model/object.ts'
import { shorten } from '../../model/shorten.ts'
import { parseTimestamp } from '../../model/time.ts'
import { since, type Column } from './column.ts'

/** Columns of what the control plane tells of itself and its work. */
export const computedColumns: Readonly<Record<string, readonly Column[]>> = {
  'setpoint.dev/v1/QueuedKey': [
    shortName(),
    column('Object', aboutCell),
    column('State', ({ status }) => status?.['state'] ?? null),
    column('Time', timeInQueue),
    column('Lane', ({ status }) => status?.['lane'] ?? null),
    column('Because', ({ status }) => cut(status?.['reason'])),
  ],
  'setpoint.dev/v1/Queue': [
    shortName(),
    {
      ...column('Waiting', ({ status }) => status?.['waiting'] ?? null),
      type: 'integer',
    },
    column('Oldest', ({ status }) => {
      const seconds = status?.['oldestSeconds']
      return typeof seconds === 'number' ? humanDuration(seconds * 1_000) : null
    }),
    column('Of', controllersCell),
  ],
  'setpoint.dev/v1/Timer': [
    shortName(),
    column('Object', aboutCell),
    column('Due', ({ status }, nowMs) => dueCell(status?.['dueTime'], nowMs)),
    column('Waiting', ({ status }) => status?.['waiting'] ?? null),
    column('Because', ({ status }) => cut(status?.['error'])),
  ],
  'setpoint.dev/v1/Budget': [
    shortName(),
    column('Bounds', ({ status }) => status?.['bounds'] ?? null),
    column('Allows', allowsCell),
    column('Left', leftCell),
  ],
  'apiregistration.k8s.io/v1/APIService': [
    shortName(),
    column('Service', () => 'Local'),
    column('Available', () => 'True'),
  ],
}

function shortName(): Column {
  return { name: 'Name', type: 'string', format: 'name', cell: ({ metadata }) => metadata.name }
}

function column(name: string, cell: Column['cell']): Column {
  return { name, type: 'string', cell }
}

/** The kind and the name, as kubectl takes them. */
function aboutCell({ status }: ApiObject): string {
  const about = status?.['object']
  return isObject(about) ? `${String(about['kind']).toLowerCase()}/${String(about['name'])}` : ''
}

/** For how long it has been so, or until when it will be. */
function timeInQueue({ status }: ApiObject, nowMs: number): string {
  const until = status?.['until']
  return until === undefined ? since(status?.['since'], nowMs) : dueCell(until, nowMs)
}

function dueCell(value: Json | undefined, nowMs: number): string {
  const atMs = typeof value === 'string' ? parseTimestamp(value) : undefined
  if (atMs === undefined) return '<unknown>'
  return atMs < nowMs ? `${humanDuration(nowMs - atMs)} ago` : `in ${humanDuration(atMs - nowMs)}`
}

function controllersCell({ status }: ApiObject): string {
  const controllers = status?.['controllers']
  if (!Array.isArray(controllers)) return ''
  return controllers.length > 3 ? `${controllers.length} controllers` : controllers.join(', ')
}

function allowsCell({ status = {} }: ApiObject): string {
  const { perSecond, burst, max, withinSeconds } = status
  if (typeof perSecond === 'number') return `${round(perSecond)}/s, ${round(Number(burst))} at once`
  if (typeof withinSeconds === 'number') return `${String(max)} in ${humanDuration(withinSeconds * 1_000)}`
  return max === undefined ? '' : `${String(max)} at a time`
}

function leftCell({ status = {} }: ApiObject, nowMs: number): string {
  const { left, closedUntil, message } = status
  if (closedUntil !== undefined) return `closed, opens ${dueCell(closedUntil, nowMs)}`
  return left === undefined ? cut(message) : String(left)
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100)
}

/** What fits beside other columns; the object has all of it. */
function cut(value: Json | undefined): string {
  return shorten(textOf(value), wordsMax)
}

const wordsMax = 80
