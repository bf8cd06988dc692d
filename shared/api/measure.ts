import { metrics, type Labels } from '../model/metrics.ts'
import type { Clock } from '../ports/clock.ts'
import type { HttpResponse } from '../ports/http-handler.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Call, VerbHandler } from './call.ts'
import { answerOf, toOperatingError } from './failure.ts'
import type { Verb } from './request-info.ts'

/**
 * Counts and times the calls of verb handlers. Only requests for kinds that are served come here, so that nobody can
 * make series by asking for what does not exist.
 */
export function createMeasure(services: { readonly telemetry: Telemetry; readonly clock: Clock }) {
  const seriesOf = createSeries(services.telemetry)
  const { clock } = services

  const noteOpen = ({ request: { signal } }: Call, { open }: Series): void => {
    if (signal.aborted) return
    open.watches++
    signal.addEventListener('abort', () => open.watches--, { once: true })
  }

  const noteAnswer = (call: Call, { verb, status, startMs }: Answered): void => {
    const series = seriesOf(verb, call)
    series.count(status)
    if (verb !== 'WATCH') series.time(Math.max(0, clock.nowMs() - startMs) / 1_000)
    else if (status === 200 || status === 101) noteOpen(call, series)
  }

  return (verb: Verb, handle: VerbHandler): VerbHandler => {
    const word = words[verb]
    return (call) => {
      const startMs = clock.nowMs()
      const note = (status: number): void => noteAnswer(call, { verb: wordOf(word, call), status, startMs })
      return handle(call).then(
        (response: HttpResponse) => {
          note(response.status)
          return response
        },
        (error: unknown) => {
          note(answerOf(toOperatingError(error)).status)
          throw error
        },
      )
    }
  }
}

interface Answered {
  readonly verb: string
  readonly status: number
  readonly startMs: number
}

/** As the apiserver's metrics name the verbs. */
const words: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

function wordOf(word: string, { request }: Call): string {
  return word === 'PATCH' && request.header('content-type')?.startsWith('application/apply-patch') === true
    ? 'APPLY'
    : word
}

interface Series {
  count(status: number): void
  time(seconds: number): void
  readonly open: { watches: number }
}

/** The series of a verb on a resource, made when first asked for. */
function createSeries(telemetry: Telemetry): (verb: string, call: Call) => Series {
  const known = new Map<string, Series>()
  return (verb, { info: { subresource }, kind: { group, plural: resource } }) => {
    const name = `${verb} ${group} ${resource} ${subresource}`
    let series = known.get(name)
    if (series === undefined) known.set(name, (series = makeSeries(telemetry, { verb, group, resource, subresource })))
    return series
  }
}

type RequestLabel = (typeof metrics.requestSeconds.labels)[number]

function makeSeries(telemetry: Telemetry, labels: Labels<RequestLabel>): Series {
  const counters = new Map<number, (by?: number) => void>()
  const open = { watches: 0 }
  if (labels.verb === 'WATCH') telemetry.read(metrics.openWatches, labels, () => open.watches)
  return {
    open,
    count: (status) => {
      const add = counters.get(status) ?? telemetry.counter(metrics.requests, { ...labels, code: String(status) })
      counters.set(status, add)
      add()
    },
    time: labels.verb === 'WATCH' ? () => {} : telemetry.histogram(metrics.requestSeconds, labels),
  }
}
