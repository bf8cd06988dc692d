/**
 * `npm run fleet -- --ships 1000 --changes 100 --faults 0.05 --seed 1`: a fleet under change on the whole path, with
 * faults in every so many requests. Prints what happened; exits 1 unless every ship is on its last heading in the end
 * and no ship was steered twice at once.
 */
import { createSeededRandom } from '../../shared/testing/seeded-random.ts'
import { optionsOf, refuse, wholeNumber } from '../support/command-line.ts'
import { calm, stormy } from '../support/lambda-life.ts'
import { pause } from '../support/lambda-driver.ts'
import { headings, launch, newShipLog, shipReconciler, steer } from './fleet.ts'
import { startWholePath } from './whole-path.ts'

const { values } = optionsOf('npm run fleet --', {
  options: {
    ships: { type: 'string', default: '1000' },
    changes: { type: 'string', default: '100' },
    faults: { type: 'string', default: '0.05' },
    seed: { type: 'string', default: '1' },
  },
})
const shipCount = wholeNumber('--ships', values.ships, 1)
const changes = wholeNumber('--changes', values.changes)
const faults = Number(values.faults)
if (values.faults === '' || !(faults >= 0 && faults <= 1))
  refuse(`--faults: "${values.faults}" is no number from 0 to 1`)
const { next } = createSeededRandom(wholeNumber('--seed', values.seed))
const log = newShipLog()
const startMs = performance.now()
const ended: Record<string, number> = {}
const plane = await startWholePath({
  controllers: [shipReconciler(log, { runMs: () => next() * 5, fails: () => next() < faults })],
  chance: next,
  visibilitySeconds: 5,
  maxReceiveCount: 1_000,
  queue: { concurrency: 8, onInvocation: (kind) => (ended[kind] = (ended[kind] ?? 0) + 1) },
})
const names = Array.from({ length: shipCount }, (_, i) => `ship-${i}`)

plane.weather = stormy(
  { throttle: faults * 0.4, lost: faults * 0.4, crashBefore: faults * 0.1, crashAfter: faults * 0.1 },
  next,
)
const todo = [...names]
await Promise.all(Array.from({ length: 50 }, sail))
console.log(`${shipCount} ships, ${changes} changes each, accepted in ${seconds()} s; ${log.runs} runs so far`)

plane.weather = calm
let arrived = 0
for (let i = 0; i < 600 && arrived < shipCount; i++) {
  if (i % 60 === 59) await plane.tick()
  await pause(1_000)
  arrived = Object.values(await headings(plane)).filter((heading) => heading === changes).length
}
console.log(`${arrived} of ${shipCount} are on their last heading after ${seconds()} s`)
console.log(`${log.runs} runs, ${log.overlaps} of them overlapping; invocations: ${JSON.stringify(ended)}`)
console.log(`requests: ${JSON.stringify(Object.fromEntries(plane.requests))}`)
// What crashed functions had begun sleeps on in this process.
process.exit(arrived === shipCount && log.overlaps === 0 ? 0 : 1)

async function sail(): Promise<void> {
  for (let name = todo.shift(); name !== undefined; name = todo.shift()) {
    await launch(plane, name, { heading: 0 })
    for (let heading = 1; heading <= changes; heading++) await steer(plane, name, heading)
  }
}

function seconds(): string {
  return ((performance.now() - startMs) / 1_000).toFixed(0)
}
