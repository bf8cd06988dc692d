import { readFileSync } from 'node:fs'
import { startLocalCore } from '../../../shared/runtime/local/core.ts'
import { openLocalPorts } from '../../../shared/runtime/local/ports.ts'
import { createLife } from '../life.ts'
import { placedIn } from '../placed.ts'
import { controllersFor, kindsIn } from '../reconcilers.ts'
import type { Scenario } from '../scenario.ts'
import { silent } from '../silent.ts'
import { beginMs, createWorld, type World } from '../world.ts'
import { createDisk, type Disk } from './disk.ts'

const known = new Map<string, Promise<Uint8Array>>()

/**
 * Puts there what has been there for long: the same for all seeds with the same kinds, of the same version of the code,
 * but for its own objects.
 */
export async function fillDisk(disk: Disk, scenario: Scenario): Promise<void> {
  const { parcels, climate, statusLinks } = scenario
  const name = JSON.stringify([kindsIn(scenario), parcels, climate.deploying, statusLinks])
  const file = known.get(name) ?? createFile(scenario)
  known.set(name, file)
  disk.fill(await file)
  if (placedIn(scenario).length > 0) await place(disk.file(), scenario)
}

/** How a process leaves its file that has run for a while with these kinds. */
async function createFile(scenario: Scenario): Promise<Uint8Array> {
  const world = createSetupWorld()
  const life = createLife({ world, name: 'setup', version: 1, skewMs: () => -aMinuteMs })
  const disk = createDisk()
  const ports = openLocalPorts(disk.file(), life.clock)
  await inTime(world, async () => {
    const core = await startLocalCore({
      ports,
      controllers: controllersFor({ ...scenario, limits: {}, slowed: {} }, { life, ...noWorld, isCalm: () => true }),
      authenticate: () => {},
      clock: life.clock,
      random: world.random,
      logger: silent,
    })
    await world.sleep(aMinuteMs / 2)
    await core.stop(0)
  })
  ports.close()
  const content = readFileSync(disk.file())
  disk.remove()
  return content
}

async function place(file: string, scenario: Scenario): Promise<void> {
  const world = createSetupWorld()
  const { store, index, feed, relayed, close } = openLocalPorts(file, world)
  await inTime(world, async () => {
    await Promise.all(placedIn(scenario).map(({ stored }) => store.create(stored)))
    await Promise.all(placedIn(scenario).map(({ targets }) => index.setReferences(targets[0], targets.slice(1))))
    await relayed.save(await feed.latest())
  })
  close()
}

const aMinuteMs = 60_000

/** Nothing is run there: there are no objects. */
const noWorld = {
  outside: { observe: fail, put: fail, remove: fail },
  registry: { get: fail, find: fail, create: fail, update: fail, delete: fail },
  watcher: { run: fail, once: () => {}, notes: () => {}, tenant: () => {}, called: () => {} },
}

async function fail(): Promise<never> {
  throw new TypeError('nothing is run before the beginning')
}

function createSetupWorld(): World {
  const world = createWorld(1)
  world.takeTurns((act) => void world.after(0, act))
  return world
}

async function inTime(world: World, work: () => Promise<void>): Promise<void> {
  let isDone = false
  world.after(0, () => void work().then(() => (isDone = true)))
  await world.runUntil(beginMs + aMinuteMs)
  if (!isDone) throw new Error('what was there before could not be made')
}
