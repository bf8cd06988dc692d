import { OperatingError } from '../../model/errors.ts'
import { microTimestamp } from '../../model/time.ts'
import type { PastRun, RunLine } from '../../ports/run-history.ts'
import { placeOf, type ApiServices, type VerbHandler } from '../call.ts'
import { json } from '../reply.ts'

/** `GET` of an object's `runs`: its last runs, oldest first, with what they said. */
export function createRunsVerb({ resources, history }: ApiServices): VerbHandler {
  return async (call) => {
    const { object } = await resources.get(call.kind, placeOf(call))
    if (history === undefined) throw new OperatingError('NOT_FOUND', elsewhere)
    const runs = await history.read(object.metadata.uid)
    return json(200, { kind: 'ObjectRunList', apiVersion: 'setpoint.dev/v1', items: runs.map(itemOf) })
  }
}

const elsewhere = 'this control plane keeps no runs: on AWS `runHistory` says so, on one machine the log has the reason'

/** A run as it is served. */
export interface ServedRun extends Omit<PastRun, 'atMs' | 'ms' | 'log'> {
  readonly startTime: string
  readonly durationMs: number
  readonly log?: readonly ServedLine[]
}

export interface ServedLine extends Omit<RunLine, 'atMs'> {
  readonly time: string
}

function itemOf({ atMs, ms, log, ...run }: PastRun): ServedRun {
  const lines = log?.map(({ atMs: saidMs, ...line }) => ({ time: microTimestamp(saidMs), ...line }))
  return { startTime: microTimestamp(atMs), durationMs: ms, ...run, ...(lines === undefined ? {} : { log: lines }) }
}
