import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostReply, HostTask } from './host-messages.ts'

/** It did not answer within its time, or ended. */
export type Silence = 'hung' | 'ended'

export interface Limits {
  /** Of the processor: what waits for another process on a loaded machine is not cut off by it. */
  readonly processorMs: number
  readonly wallMs: number
}

export interface HostOptions {
  readonly directory: string
  /** How many there are. */
  readonly mutants: number
  /** Switched on before anything is loaded. */
  readonly mutant?: number
}

/** With so much it is another one's turn: a process keeps each test file that it loaded, and what modules remember. */
export const memoryMax = 1.5e9

/** One process that runs tests. */
export class HostProcess {
  readonly #child: ChildProcess
  /** How many tasks it has had. */
  tasks = 0

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start({ directory, mutants, mutant }: HostOptions): Promise<HostProcess> {
    const env: NodeJS.ProcessEnv = { ...process.env, SETPOINT_TESTS: 'short', SETPOINT_MUTANTS: String(mutants) }
    if (mutant !== undefined) env['SETPOINT_MUTANT'] = String(mutant)
    const path = join(directory, 'test/mutants/host.ts')
    const execArgv = ['--no-warnings', '--max-old-space-size=3000']
    const child = fork(path, { cwd: directory, env, execArgv, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    // One that runs in circles does not hear that its parent has ended.
    const end = (): boolean => child.kill('SIGKILL')
    process.once('exit', end)
    child.once('exit', () => process.off('exit', end))
    await Promise.race([once(child, 'message'), once(child, 'exit')])
    return new HostProcess(child)
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#child.connected
  }

  /** What it holds, in bytes. */
  get memory(): number {
    return statOf(this.#child.pid, 23) * 4096
  }

  async ask(task: HostTask, limits: Limits): Promise<HostReply | Silence> {
    if (!this.isAlive) return 'ended'
    this.tasks++
    const startMs = performance.now()
    const usedMs = this.#processorMs()
    using watch = new AbortTimer(() => {
      const isOver = this.#processorMs() - usedMs > limits.processorMs || performance.now() - startMs > limits.wallMs
      return isOver
    })
    const { signal } = watch
    const answered = once(this.#child, 'message', { signal }).then(([reply]) => reply as HostReply)
    const ended = once(this.#child, 'exit', { signal }).then(() => 'ended' as const)
    this.#child.send(task, () => {})
    const reply = await Promise.race([answered, ended]).catch(() =>
      signal.aborted ? ('hung' as const) : ('ended' as const),
    )
    answered.catch(() => {})
    ended.catch(() => {})
    if (typeof reply === 'string') this.stop()
    return reply
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  /** Used by it so far. */
  #processorMs(): number {
    return (statOf(this.#child.pid, 13) + statOf(this.#child.pid, 14)) * 10
  }
}

/** Asks again and again whether it is time to give up. */
class AbortTimer {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(isOver: () => boolean) {
    this.#timer = setInterval(() => {
      if (isOver()) this.#controller.abort()
    }, 200)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#controller.abort()
  }
}

/** A field of Linux' /proc/PID/stat, in its units; 0 elsewhere. */
function statOf(pid: number | undefined, field: number): number {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    return Number(rest.split(' ')[field - 2] ?? 0)
  } catch {
    return 0
  }
}
