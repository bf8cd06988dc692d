import type { Climate } from '../climate.ts'
import { createLife, type Life } from '../life.ts'
import type { End, Scenario } from '../scenario.ts'
import { below, oneOf, type World } from '../world.ts'
import type { Disk } from './disk.ts'

/**
 * The machine of the local engine: one process after the other, with one clock and one disk. Whenever the process is to
 * go on, after whatever it waited for, it may die or stand still instead: so it can end at every await that something
 * outside could see.
 */
export interface Machine {
  /** A new process. The one before is dead. */
  birth(): Life
  /** Ends the process, as `kill -9` does. */
  kill(where: string): void
  /** Ends a process that has stopped. */
  end(where: string): void
  /** The process has this database open. */
  opened(isSynced: () => boolean): void
  /** Whether the process stands still, with what it has begun. */
  isStill(): boolean
  /** Whether what the process commits just now may be lost with the power. */
  isCommitDoubtful(): boolean
  calmDown(): void
}

export interface MachineOptions {
  readonly world: World
  readonly scenario: Scenario
  readonly disk: Disk
  /** What was committed in the step that has just ended is on disk. */
  readonly onCommitted: () => void
}

export function createMachine({ world, scenario, disk, onCommitted }: MachineOptions): Machine {
  const { climate, local } = scenario
  const random = world.random.fork('machine')
  const clock = createClock(world, climate)
  let isCalm = false
  let life: Life | undefined
  let born = 0
  let stepsLeft = Infinity
  let end: End = 'killed'
  let stillLife: Life | undefined
  let isDoubtful = false
  let openedBytes = 0
  let isSynced = (): boolean => true

  const drawEnd = (): void => {
    const isLost = random.next() < (local?.powerLoss ?? 0)
    end = isLost ? oneOf(random, ['power lost', 'power lost in a commit']) : 'killed'
    stepsLeft = climate.crash === 0 || isCalm ? Infinity : Math.ceil(-Math.log(1 - random.next()) / climate.crash)
    if (born === 1 && local?.firstEnd !== undefined) ({ step: stepsLeft, end } = local.firstEnd)
  }

  const die = (how: End, logBytes?: number): void => {
    world.fault(how)
    disk.crash(logBytes)
    life?.kill(`(${how})`)
  }

  const step = (): void => {
    if (isCalm) return
    if (--stepsLeft === 0 && end === 'killed') return die('killed')
    if (stepsLeft === 0 && end === 'power lost') return die(end, isSynced() ? undefined : openedBytes)
    if (climate.pause === 0 || random.next() >= climate.pause) return
    const still = life
    world.fault('pause')
    still?.freeze()
    stillLife = still
    world.after(1_000 + random.next() * climate.pauseMsMax, () => {
      still?.thaw()
      if (stillLife === still) stillLife = undefined
    })
  }

  /** The power goes while a commit is written: of what it added to the log some is there, and nobody was told. */
  const commitInDoubt = (act: () => void): void => {
    const before = disk.logBytes()
    const pages = disk.pages()
    isDoubtful = true
    act()
    isDoubtful = false
    const added = disk.logBytes() - before
    if (added <= 0) return onCommitted()
    const torn = isSynced() ? before + below(random, added + 1) : openedBytes
    // A checkpoint comes after the fsync of the log: where one has written, the log is whole (seed 5000721).
    die('power lost in a commit', pages.equals(disk.pages()) ? torn : undefined)
  }

  world.takeTurns((act) => {
    const caller = life
    world.after(0, () =>
      caller?.goOn(() => {
        if (stepsLeft <= 0 && end === 'power lost in a commit' && !isCalm) commitInDoubt(act)
        else act()
      }),
    )
  })

  return {
    birth: () => {
      const version = climate.deploying && random.next() < 0.5 ? 2 : 1
      const made = createLife({ world, name: `local#${++born}`, version, skewMs: clock.skewMs, onStep: step })
      drawEnd()
      // Time that only passes goes on in a process that stands still.
      const nowMs = (): number => Math.floor(made.clock.nowMs())
      life = { ...made, clock: { ...made.clock, nowMs, steadyMs: () => Math.floor(world.nowMs()) } }
      return life
    },
    kill: (where) => {
      if (life?.isDead() === false) disk.crash()
      life?.kill(where)
    },
    end: (where) => life?.kill(where),
    opened: (isNowSynced) => {
      openedBytes = disk.logBytes()
      isSynced = isNowSynced
    },
    isStill: () => stillLife !== undefined && stillLife === life && !stillLife.isDead(),
    isCommitDoubtful: () => isDoubtful,
    calmDown: () => {
      isCalm = true
      clock.putRight()
    },
  }
}

/** A clock that is wrong, and differently after each jump. */
function createClock(world: World, { skewMsMax, jumpMinutes }: Climate) {
  const random = world.random.fork('clock')
  const draw = (): number => Math.round((2 * random.next() - 1) * skewMsMax)
  let skewMs = skewMsMax === 0 ? 0 : draw()
  let jumped = 0
  let isRight = skewMsMax === 0
  return {
    skewMs: (): number => {
      if (isRight) return 0
      const period = jumpMinutes === 0 ? 0 : Math.floor(world.nowMs() / (jumpMinutes * 60_000))
      if (period !== jumped && jumped > 0) {
        world.fault('clock jump')
        skewMs = draw()
      }
      jumped = period
      return skewMs
    },
    putRight: (): void => {
      isRight = true
    },
  }
}
