import type { LocalWorkQueue } from '../../adapters/local/queue/local-work-queue.ts'
import type { Page } from '../../api/call.ts'
import { humanDuration } from '../../model/human-duration.ts'
import { formatTable } from '../text-table.ts'

/** So many keys of one queue are told; a page is for people. */
const keysMax = 200

/** What stands in the queues of a process: which objects run, which can run, and which wait in the queue. */
export function queuePage(queues: ReadonlyMap<string, LocalWorkQueue>): Page {
  return {
    type: 'text/plain; charset=utf-8',
    text: () => {
      const rows = [...queues].flatMap(([name, queue]) => rowsOf(name, queue))
      return rows.length === 0 ? 'no object is in a queue\n' : formatTable([header, ...rows])
    },
  }
}

const header = ['CONTROLLER', 'OBJECT', 'STATE', 'TIME', 'LANE', 'BECAUSE']

function rowsOf(name: string, queue: LocalWorkQueue): readonly (readonly string[])[] {
  const keys = queue.list(keysMax + 1)
  const rows = keys.slice(0, keysMax).map(({ key, state, ms, lane, reason }) => {
    const isAhead = state === 'held' || state === 'delayed'
    const object = key.namespace === '' ? key.name : `${key.namespace}/${key.name}`
    return [name, object, state, isAhead ? `in ${humanDuration(ms)}` : humanDuration(ms), lane, reason]
  })
  return keys.length > keysMax ? [...rows, [name, '…', '', '', '', `more than ${keysMax}`]] : rows
}
