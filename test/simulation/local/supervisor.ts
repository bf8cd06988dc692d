import { OperatingError } from '../../../shared/model/errors.ts'
import type { WorkQueue } from '../../../shared/ports/work-queue.ts'
import type { SeededRandom } from '../../../shared/testing/seeded-random.ts'
import { startLocalCore, type LocalCoreOptions } from '../../../shared/runtime/local/core.ts'
import { startReplaceableCore, type ReplaceableCore } from '../../../shared/runtime/local/replaceable-core.ts'
import type { Life, Network } from '../life.ts'
import { simToken, type PlaneOptions } from '../plane.ts'
import { silent } from '../silent.ts'
import { beginMs, below } from '../world.ts'
import type { Disk } from './disk.ts'
import type { Machine } from './machine.ts'
import { openPorts, type OpenPorts } from './open-ports.ts'
import type { CommitRecord } from './record.ts'
import { createUnendedFile, type UnendedRunsOfLife } from './unended-file.ts'

/** A process that has started. */
export interface RunningProcess {
  readonly life: Life
  readonly core: ReplaceableCore
}

export interface SupervisorOptions extends PlaneOptions {
  readonly random: SeededRandom
  readonly network: Network
  readonly machine: Machine
  readonly disk: Disk
  readonly record: CommitRecord
  /** Whether nobody replaces the process any more. */
  readonly isCalm: () => boolean
}

/** What starts one process after the other. */
export interface Supervisor {
  begin(): void
  end(): void
  findRunning(): RunningProcess | undefined
  /** Messages in the queues of the process, and whether it stands still with what it has begun. */
  backlog(): number
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { world, scenario, report, machine, record, random } = options
  const { climate, absent } = scenario
  const queues = new Map<string, WorkQueue>()
  const openUnended = createUnendedFile(world)
  let running: RunningProcess | undefined
  let isOver = false

  /** Starts a process again whenever it has ended. */
  async function supervise(): Promise<void> {
    while (!isOver) {
      const life = machine.birth()
      const opened = tryOpen(life)
      if (opened === undefined) return
      try {
        await life.live(record.compare(opened.bare.store))
        const unended = openUnended(life, machine.kill)
        await live(life, opened, { ...options, unended, queues, noteRunning: (started) => (running = started) })
      } catch (error) {
        if (!(error instanceof OperatingError)) report(`local engine: ${life.name} broke: ${String(error)}`)
        machine.kill('as it could not go on')
      }
      running = undefined
      opened.close()
      await world.sleep(below(random, restartMsMax))
    }
  }

  /** What cannot be opened does not heal: SQLite is asked about every page. */
  function tryOpen(life: Life): OpenPorts | undefined {
    try {
      return openPorts({ ...options, life, local: scenario.local })
    } catch (error) {
      report(`promise 1, durability: ${life.name} cannot open its file: ${String(error)}`)
      machine.kill('as it could not open its file')
      return undefined
    }
  }

  /** Another version takes its place: half of them are stopped, and half of them killed. */
  async function replace(): Promise<void> {
    const { life, core } = running ?? {}
    if (life === undefined || core === undefined || random.next() < 0.5) return machine.kill('to be replaced')
    running = undefined
    world.fault('stopped')
    await life.live(core.stop(below(random, 10_000)))
    machine.end('since it has stopped')
  }

  async function takeAway(fromMs: number, untilMs: number): Promise<void> {
    await world.sleep(fromMs)
    world.fault('controller taken away')
    await replace()
    await world.sleep(beginMs + untilMs - world.nowMs())
    await replace()
  }

  async function deploy(): Promise<void> {
    while (!options.isCalm()) {
      await world.sleep(60_000 + below(random, 600_000))
      if (!options.isCalm()) await replace()
    }
  }

  /** As `setpoint dev` does when a file has changed: the process goes on with the code of now. */
  async function reload(): Promise<void> {
    while (!options.isCalm()) {
      await world.sleep(5_000 + below(random, 200_000))
      const { life, core } = running ?? {}
      if (life === undefined || core === undefined || options.isCalm()) continue
      world.fault('reloaded')
      // What cannot start leaves those of before.
      const replaced = core.replace(below(random, 5_000)).then(
        () => true,
        () => false,
      )
      if ((await life.live(replaced)) === true) options.onReloaded?.()
    }
  }

  return {
    begin: () => {
      world.after(0, () => void supervise())
      if (scenario.local?.reloads === true) void reload()
      if (absent !== undefined) void takeAway(absent.fromMs, absent.untilMs)
      if (climate.deploying) void deploy()
    },
    end: () => {
      isOver = true
      machine.end('as all is over')
    },
    findRunning: () => running,
    backlog: () => [...queues.values()].reduce((sum, queue) => sum + depthOf(queue), 0) + (machine.isStill() ? 1 : 0),
  }
}

interface LiveOptions extends SupervisorOptions {
  readonly unended: UnendedRunsOfLife
  readonly queues: Map<string, WorkQueue>
  readonly noteRunning: (running: RunningProcess) => void
}

/** Runs one process to its end. Throws if it cannot start. */
async function live(life: Life, opened: OpenPorts, options: LiveOptions): Promise<void> {
  const beside = coreOptionsOf(life, opened, options)
  const core = await life.live(
    startReplaceableCore({
      load: async () =>
        options
          .controllers(options.unended.life, options.network)
          .filter(({ kind: { kind } }) => !isAway(options, kind)),
      start: (controllers, overruns) =>
        startLocalCore({
          ...beside,
          overruns,
          controllers: options.unended.follow(controllers),
          unended: options.unended.takeGivenUp(),
        }),
      introduceAgain: () => opened.ports.introduced.save('[]'),
    }),
  )
  if (core === 'dead') return
  options.noteRunning({ life, core })
  await life.live(core.ended)
  // Whoever is stopped ends by itself.
  await life.live(new Promise(() => {}))
}

/** What each core of a process stands on. */
function coreOptionsOf(
  life: Life,
  opened: OpenPorts,
  { world, scenario, queues, webhooks }: LiveOptions,
): Omit<LocalCoreOptions, 'controllers'> {
  return {
    ports: opened.ports,
    authenticate: (token) => (token === simToken ? { name: 'user', groups: ['system:masters'] } : undefined),
    clock: life.clock,
    ...(webhooks && { webhooks: webhooks(life) }),
    random: world.random.fork(`chance ${life.name}`),
    logger: silent,
    tickMs: scenario.local?.tickMs ?? 1_000,
    retryBudget: scenario.retryBudget,
    wrapQueue: (queue, name) => {
      queues.set(name, queue)
      return queue
    },
  }
}

function isAway({ world, scenario: { absent } }: LiveOptions, kind: string): boolean {
  const sinceMs = world.nowMs() - beginMs
  return kind === absent?.kind && sinceMs >= absent.fromMs && sinceMs < absent.untilMs
}

/** Until who supervises starts the next process. */
const restartMsMax = 20_000

function depthOf(queue: WorkQueue): number {
  return (queue as Partial<{ depth(): number }>).depth?.() ?? 0
}
