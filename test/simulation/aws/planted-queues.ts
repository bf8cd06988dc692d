import type { PlantedBug } from '../planted-bugs.ts'

const plan = 'shared/engine/wake/queue-plan.ts'
const spread = 'shared/runtime/aws/spread-queue.ts'
const plans = 'shared/runtime/aws/queue-plans.ts'
const part = 'queues'

/** What somebody could do wrong with several queues of a controller, whose number changes. */
export const plantedInQueues: readonly PlantedBug[] = [
  {
    bug: 'what comes out of the old queue of its key runs',
    file: plan,
    find: "if (home !== queue) return { kind: 'forward' }",
    replace: "if (home !== queue) return { kind: 'run' }",
    part,
  },
  {
    bug: 'what comes out of a new queue does not wait for runs of the old one',
    file: plan,
    find: 'const ms = fromMs + longestRunMs + slackMs - nowMs',
    replace: 'const ms = longestRunMs < 0 ? fromMs : 0',
    part,
  },
  {
    bug: 'fewer queues are used as soon as that is noted',
    file: plan,
    find: 'nowMs + (count < last[0] ? knownMs : noticeMs)]',
    replace: 'nowMs + (count < last[0] ? 0 : noticeMs)]',
    part,
  },
  {
    bug: 'a plan of queues is read once by a process',
    file: plans,
    find: 'maxAgeMs: planStaleMs',
    replace: 'maxAgeMs: planStaleMs * 1e6',
    part,
  },
  {
    bug: 'the handles of all queues are handles of the first',
    file: spread,
    find: 'return queue === 0 ? handle : `${queue}!${handle}`',
    replace: 'return queue < Infinity ? handle : `${queue}!${handle}`',
    part,
  },
  {
    bug: 'only a hold in the first of several queues is ended',
    file: spread,
    find: 'await queues[queue]?.wake(handle)',
    replace: 'if (queue === 0) await queues[queue]?.wake(handle)',
    part,
  },
]
