import { createSeededRandom } from '../../../shared/testing/seeded-random.ts'
import type { QueueDeployment, QueueTrouble } from '../scenario.ts'
import { beginMs, type World } from '../world.ts'

/** How many of the deployments a function knows that is invoked now. */
export type StageOf = (name: string) => number

/** Functions learn of a deployment one after the other; in a gradual one, each runs both versions for a while. */
export function createStages(world: World, seed: number, { deployments }: QueueTrouble): StageOf {
  const random = world.random.fork('gradual deployments')
  return (name) => {
    const sinceMs = world.nowMs() - beginMs
    const isKnown = (one: QueueDeployment, i: number): boolean => {
      if (one.isGradual !== true) return sinceMs >= learnsAtMs(seed, i + 1, one, name)
      return sinceMs >= endsAtMs(one) || (sinceMs >= one.atMs && random.next() < 1 / 2)
    }
    return deployments.findLastIndex(isKnown) + 1
  }
}

/** When a function gets the variables of this deployment, the first, the second and so on. */
export function learnsAtMs(seed: number, stage: number, deployment: QueueDeployment, name: string): number {
  const { atMs, takesMs, isGradual } = deployment
  if (isGradual === true) return endsAtMs(deployment)
  return atMs + Math.floor(takesMs * createSeededRandom(seed).fork(`deployment ${stage} of ${name}`).next())
}

export function endsAtMs({ atMs, takesMs }: QueueDeployment): number {
  return atMs + takesMs
}
