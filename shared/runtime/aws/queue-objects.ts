import { queueKind } from '../../api/computed/computed-kinds.ts'
import { computedObject, type ComputedObjects } from '../../api/computed/computed-objects.ts'
import { controlLoopNames } from '../../engine/loops/control-loops.ts'
import type { ApiObject } from '../../model/object.ts'
import { pageOf } from '../computed/page-of.ts'
import type { AwsQueues } from './queues.ts'
import type { QueueServices } from './services.ts'

export type AwsQueuesSource = QueueServices & Pick<AwsQueues, 'depthOf' | 'capacityOf'>

/** SQS tells how many messages there are, and not which. */
export function awsQueueObjects(source: AwsQueuesSource): ComputedObjects {
  const read = (queues: readonly UsedQueue[]): Promise<ApiObject[]> =>
    Promise.all(queues.map((queue) => describeQueue(queue, source)))
  return {
    kind: queueKind,
    list: async (query) => pageOf(await read(listQueues(source)), query),
    find: async ({ name }) => (await read(listQueues(source).filter((queue) => queue.name === name)))[0],
  }
}

interface UsedQueue {
  readonly name: string
  /** The names of the control loops whose wake-ups are in it. */
  readonly loops: readonly string[]
}

function listQueues(source: AwsQueuesSource): readonly UsedQueue[] {
  const byUrl = Map.groupBy(controlLoopNames(source), (name) => source.capacityOf({ name }).queue)
  return [...byUrl].map(([url, loops]) => ({ name: url.slice(url.lastIndexOf('/') + 1), loops }))
}

async function describeQueue({ name, loops }: UsedQueue, { depthOf }: AwsQueuesSource): Promise<ApiObject> {
  const [first = ''] = loops
  const status = { controllers: [...loops], waiting: await depthOf({ name: first }) }
  return computedObject(queueKind, { namespace: '', name }, status)
}
