import type { Climate } from '../climate.ts'
import { createLife, oncePerLife, type Life } from '../life.ts'
import type { World } from '../world.ts'

/**
 * Lambda: each invocation has a process (an execution environment) to itself, one that is left from before or a new
 * one. A process whose invocation is over stands still, with all that it left undone, until the next; one that runs out
 * of time ends.
 */
export interface Functions {
  /** What the work says; `undefined` if it failed, died, or ran out of time. */
  invoke<Result>(name: string, timeoutMs: number, work: (life: Life) => Promise<Result>): Promise<Result | undefined>
  birth(name: string): Life
  /** Makes something once per process. */
  sharing<Made>(make: (life: Life) => Made): (life: Life) => Made
  /** Deployments are over, clocks are right. */
  calmDown(): void
}

export interface FunctionsOptions {
  readonly world: World
  readonly climate: () => Climate
  /** The one that new processes are of: those of an earlier one are given no more work. */
  readonly deployment: (name: string) => number
}

export function createFunctions({ world, climate, deployment }: FunctionsOptions): Functions {
  const random = world.random.fork('functions')
  const idle = new Map<string, Life[]>()
  let born = 0
  let isCalm = false

  /** A process whose clock goes wrong, and differently after each jump. */
  const birth = (name: string, known: number = deployment(name)): Life => {
    const { skewMsMax, jumpMinutes, deploying } = climate()
    const skews = skewMsMax > 0 ? world.random.fork(`skew ${born}`) : undefined
    let jumped = 0
    let skewMs = skews === undefined ? 0 : (2 * skews.next() - 1) * skewMsMax
    const skewNow = (): number => {
      if (isCalm || skews === undefined) return 0
      const period = jumpMinutes === 0 ? 0 : Math.floor(world.nowMs() / (jumpMinutes * 60_000))
      if (period !== jumped && jumpMinutes > 0) {
        if (jumped > 0) world.fault('clock jump')
        jumped = period
        skewMs = (2 * skews.next() - 1) * skewMsMax
      }
      return Math.round(skewMs)
    }
    const version = isCalm || (deploying && random.next() < 0.5) ? 2 : 1
    if (skews !== undefined) world.fault('clock skew')
    return createLife({ world, name: `${name}#${++born}`, version, skewMs: skewNow, deployment: known })
  }

  const take = (name: string): Life => {
    const pool = idle.get(name) ?? []
    // Any process may be let go while it stands still, though not so often that what it remembers is worth nothing.
    const isLetGo = random.next() < 0.02 && !isCalm
    const known = deployment(name)
    const left = isLetGo ? undefined : pool.findLast((life) => life.deployment === known)
    if (left !== undefined) pool.splice(pool.lastIndexOf(left), 1)
    const isOld = left !== undefined && isCalm && left.version === 1
    return left === undefined || isOld ? birth(name, known) : left
  }

  const giveBack = (name: string, life: Life): void => {
    if (life.isRetired()) life.kill('as it wished')
    if (life.isDead()) return
    life.freeze()
    const pool = idle.get(name)
    if (pool === undefined) idle.set(name, [life])
    else pool.push(life)
  }

  async function invoke<Result>(
    name: string,
    timeoutMs: number,
    work: (life: Life) => Promise<Result>,
  ): Promise<Result | undefined> {
    const life = take(name)
    life.thaw()
    let isOver = false
    const timedOut = Promise.withResolvers<'late'>()
    const cancel = world.after(timeoutMs, () => {
      isOver = true
      world.fault('timeout')
      if (climate().zombies && name.startsWith('reconcile')) life.becomeZombie()
      else life.kill('because its time is over')
      timedOut.resolve('late')
    })
    const worked = work(life).then(
      (value) => ({ value }),
      () => 'failed' as const,
    )
    const ended = await life.live(Promise.race([worked, timedOut.promise]))
    cancel()
    if (!isOver) giveBack(name, life)
    return typeof ended === 'object' ? ended.value : undefined
  }

  return {
    invoke,
    birth,
    sharing: oncePerLife,
    calmDown: () => {
      isCalm = true
    },
  }
}
