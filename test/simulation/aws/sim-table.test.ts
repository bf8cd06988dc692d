import type { Clock } from '../../../shared/ports/clock.ts'
import { objectIndexContract } from '../../contract/object-index.contract.ts'
import { objectStoreContract } from '../../contract/object-store.contract.ts'
import { reservationsContract } from '../../contract/reservations.contract.ts'
import { clearSky } from '../climate.ts'
import { createLife, type Life } from '../life.ts'
import { createWorld } from '../world.ts'
import { createSimTable } from './sim-table.ts'

/** What the seeds are run on keeps the promises of the ports that it stands for, but for what is named here. */

/** A table of its own, over which a millisecond passes with each write, as on any real one. */
function open() {
  const world = createWorld(1)
  let writes = 0
  const table = createSimTable({ world, climate: clearSky, onWrite: () => void writes++ })
  const life = createLife({ world, name: 'writer', version: 1, skewMs: () => 0 })
  const lifeBy = (clock: Clock): Life => ({ ...life, clock })
  const store = table.storeOf(lifeBy({ ...world, nowMs: () => world.nowMs() + writes }))
  const caughtUp = (): Promise<void> => world.runUntil(world.nowMs() + clearSky.indexLagMsMax + 1)
  return { table, lifeBy, store, index: table.index, caughtUp, close: () => {} }
}

const byText =
  'it orders places as texts: no name that is drawn has a mark that comes before a slash, or is beyond ASCII'

objectStoreContract('the simulated table', open, {
  'gives out states as their text says, whatever else the writer put there': 'it keeps values, and no texts',
  'ends a page early that has a limit, where its objects are large, and says that more follow':
    'it counts the objects of a page, and not their bytes',
  'goes by namespace, then by name': byText,
  'orders letters by their UTF-8 bytes, page by page': byText,
})
objectIndexContract('the simulated table', open)
reservationsContract('the simulated table', () => {
  const { table, lifeBy, close } = open()
  return { process: (clock) => table.reserveBy(lifeBy(clock)), close }
})
