import { plantedInWatches } from './aws/planted-bugs.ts'
import { plantedInQueues } from './aws/planted-queues.ts'
import { plantedLocally } from './local/planted-bugs.ts'
import { plantedBugs, type PlantedBug } from './planted-bugs.ts'
import { plantedInLastRuns } from './planted-last-runs.ts'
import { plantedInMeddling } from './planted-meddling.ts'
import { plantedInOwners } from './planted-owners.ts'
import { plantedInRules } from './planted-rules.ts'
import { plantedInRuns } from './planted-runs.ts'

/** Every bug that can be planted. */
export const allPlanted: readonly PlantedBug[] = [
  ...plantedBugs,
  ...plantedInRules,
  ...plantedInLastRuns,
  ...plantedInMeddling,
  ...plantedInOwners,
  ...plantedInRuns,
  ...plantedInWatches,
  ...plantedInQueues,
  ...plantedLocally,
]
