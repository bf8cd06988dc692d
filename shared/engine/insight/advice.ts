import { metrics } from '../../model/metrics.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Telemetry } from '../../ports/telemetry.ts'

/**
 * What the author of a reconciler should look at: patterns that work, and cost, or will not work for long. Each is
 * counted whenever it is seen, and told in the log once an hour per controller.
 */
const texts = {
  RepeatedError:
    'the same error again and again: if something is not ready yet, return again(…) or done({ ready: waiting(…) })',
  LongRun: 'a run took more than half of its timeout: begin the work, return again(…), and check it in the next run',
  Polling:
    'runs are requested every few seconds although the controller owns or watches kinds: let their changes wake it',
  SteadyRequeue: 'runs are requested although nothing is left to do: return done(), and rely on changes and the resync',
  HotLoop: 'an object ran a hundred times without a pause; its condition HotLoop says what changes',
  FanOut: 'one change wakes very many objects: the wake-ups are spread over minutes; map the change to fewer objects',
  SecretTold:
    'a run told the value of a Secret, and it was masked: name the Secret and its key; annotate a Secret with setpoint.dev/public-keys for values that are no secrets',
  ImperativeSpec: 'a field of the spec is a command, which every run would repeat: declare the wanted state instead',
} as const

export type AdviceName = keyof typeof texts

const adviceNames = Object.keys(texts) as readonly AdviceName[]

/** Gives a controller's author a piece of advice; `about` names the object, or what else it is about. */
export type Advise = (name: AdviceName, about: string) => void

export interface AdviceOptions {
  readonly logger: Logger
  readonly telemetry: Telemetry
  readonly nowMs: () => number
}

const quietMs = 3_600_000

export function createAdvice(controller: string, { logger, telemetry, nowMs }: AdviceOptions): Advise {
  const told = new Map<AdviceName, number>()
  const count = new Map(
    adviceNames.map((advice) => [advice, telemetry.counter(metrics.advice, { controller, advice })] as const),
  )
  return (name, about) => {
    count.get(name)?.()
    if (nowMs() - (told.get(name) ?? -Infinity) < quietMs) return
    told.set(name, nowMs())
    logger.warn('advice', { controller, advice: name, about, text: texts[name] })
  }
}
