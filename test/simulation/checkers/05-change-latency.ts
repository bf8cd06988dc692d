import { isDeleting } from '../../../shared/model/object.ts'
import { textOf, type AcceptedWrite } from '../users.ts'
import { isClear, isFenceTried, type Checker, type Scene } from './checker.ts'

/**
 * Promise 5: a user's change never waits behind a backoff, whatever the object waits for. Promise 10: nor behind objects that
 * take their workers down. Told where nothing goes wrong but those, and where there is room for all.
 */
export function createChangeLatency({ world, scenario, table, report }: Scene): Checker {
  const { climate, steps } = scenario
  const isPoisoned = steps.some(({ mood }) => mood === 'crash' || mood === 'hang' || mood === 'spin')
  const hasRoom = climate.scanMax > 1_000 && climate.inFlightMax > 1_000 && climate.maxReceiveCount > 5
  // A poisoned key holds one of the workers, and with it what came in one batch with it.
  const isTold = isClear(scenario) && !isFenceTried(scenario) && hasRoom && climate.concurrency >= 3
  const mayWait = isPoisoned && (climate.queueBatch > 1 || climate.concurrency < 10)
  const begun = new Map<string, number>()
  const promise = isPoisoned ? 'promise 10, isolation' : 'promise 5, change latency'

  async function expectRun({ kind, name, uid, generation }: AcceptedWrite): Promise<void> {
    await world.sleep(boundMs(scenario))
    const live = table.items.get(textOf(kind, name))?.object
    const isGoing = live?.metadata.uid !== uid || isDeleting(live)
    const isPoison = ['crash', 'hang', 'spin'].includes(String(live?.spec?.['mood']))
    if ((begun.get(uid) ?? 0) < generation && !isGoing && !isPoison)
      report(`${promise}: generation ${generation} of ${kind} ${name} has not begun to run`)
  }

  return {
    runBegins: ({ uid, generation }) => void begun.set(uid, Math.max(begun.get(uid) ?? 0, generation)),
    accepted: (change) => {
      const isRun = change.kind === 'Gadget' || change.kind === 'Witness'
      const wasPoisoned = isPoisoned && steps.some(({ name, mood }) => name === change.name && poison.includes(mood))
      if (isTold && isRun && !mayWait && !wasPoisoned) void expectRun(change)
    },
  }
}

const poison: readonly string[] = ['crash', 'hang', 'spin']

/** The stream's lag, a run that is under way (three calls outside, ten to the table), and its own start. */
function boundMs({
  climate: { streamLagMsMax, streamBatch, latencyMsMax, outside, concurrency },
  steps,
}: Scene['scenario']): number {
  const runMs = 6 * outside.latencyMsMax + 40 * latencyMsMax
  // Where batches or workers are few, others are served first.
  const turns = concurrency >= 10 ? 2 : 2 + steps.length / concurrency
  const relayMs = streamBatch >= 100 ? 2 * streamLagMsMax : (2 + steps.length) * (streamLagMsMax + 500)
  return 2_000 + relayMs + turns * runMs
}
