import { isDeleting } from '../../../shared/model/object.ts'
import { textOf, type AcceptedWrite } from '../users.ts'
import { isPoisoned, isRoomy, promptMs, type Checker, type Scene } from './checker.ts'

/**
 * Promise 5: a user's change never waits behind a backoff, whatever the object waits for. Promise 10: nor behind objects that
 * take their workers down. Told where nothing goes wrong but those, and where there is room for all.
 */
export function createChangeLatency({ world, scenario, table, report }: Scene): Checker {
  const { climate, steps } = scenario
  const hasPoison = isPoisoned(scenario)
  // A poisoned key holds one of the workers, and with it what came in one batch with it.
  const mayWait = hasPoison && (climate.queueBatch > 1 || climate.concurrency < 10)
  const isTold = isRoomy(scenario) && !mayWait
  const begun = new Map<string, number>()
  const promise = hasPoison ? 'promise 10, isolation' : 'promise 5, change latency'

  /** Those of its name that are gone are run ahead of it. */
  const isSeenOff = ({ kind, name }: AcceptedWrite): boolean =>
    kind === 'Witness' && steps.some((step) => step.kind === kind && step.name === name && step.act === 'delete')

  async function expectRun({ kind, name, uid, generation }: AcceptedWrite): Promise<void> {
    await world.sleep(promptMs(scenario))
    const { object: live, engine } = table.items.get(textOf(kind, name)) ?? {}
    const isGoing = live?.metadata.uid !== uid || isDeleting(live)
    const isPoison = ['crash', 'hang', 'spin'].includes(String(live?.spec?.['mood']))
    // That it runs when its turn has come, promise 6 looks at.
    const isInLine = engine?.reservedMs !== undefined
    if ((begun.get(uid) ?? 0) < generation && !isGoing && !isPoison && !isInLine)
      report(`${promise}: generation ${generation} of ${kind} ${name} has not begun to run`)
  }

  return {
    runBegins: ({ uid, generation }) => void begun.set(uid, Math.max(begun.get(uid) ?? 0, generation)),
    accepted: (change) => {
      const isRun = change.kind !== 'ConfigMap' && change.kind !== 'Crate'
      const wasPoisoned = hasPoison && steps.some(({ name, mood }) => name === change.name && poison.includes(mood))
      if (isTold && isRun && !wasPoisoned && !isSeenOff(change)) void expectRun(change)
    },
  }
}

const poison: readonly string[] = ['crash', 'hang', 'spin']
