import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** Given as standard input. */
  readonly input?: string
}

/** What a program left behind. */
export interface Ended {
  /** Null if a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A program that runs. It never outlives this process. */
export interface Program extends AsyncDisposable {
  readonly pid: number
  /** What it has said so far. */
  readonly stdout: string
  readonly stderr: string
  readonly ended: Promise<Ended>
  /**
   * Waits until its standard output matches. Rejects when it ends before that, or after `timeoutMs` (100 s), with what
   * it did say.
   */
  says(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>
  /** Closes what it speaks into: nobody hears it any more. */
  turnAway(): void
  /** Sends a signal, SIGTERM if none is named, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

const running = new Set<ChildProcess>()

function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

process.once('exit', killAll)
// A signal ends a process without that event, and by a signal vitest ends its workers.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.once(signal, () => {
    killAll()
    process.kill(process.pid, signal)
  })
}

/** Starts a program. Rejects if there is no such file. */
export async function startProgram(
  file: string,
  args: readonly string[],
  { env = {}, cwd, input }: ProgramOptions = {},
): Promise<Program> {
  const child = spawn(file, args, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' })
  running.add(child)
  const said = { stdout: '', stderr: '' }
  const heard = collect(child, said)
  const ended = endOf(child, said)
  // Where there is no such file both are rejected, and the caller hears of it once.
  ended.catch(() => {})
  await once(child, 'spawn')
  // A program that ends before it has read everything closes the pipe.
  child.stdin.on('error', () => {})
  child.stdin.end(input)

  const stop: Program['stop'] = (signal = 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  return {
    pid: child.pid as number,
    get stdout() {
      return said.stdout
    },
    get stderr() {
      return said.stderr
    },
    ended,
    says: (pattern, timeoutMs = 100_000) => untilMatch({ pattern, timeoutMs, said, heard, ended }),
    turnAway: () => {
      for (const stream of [child.stdout, child.stderr]) stream.destroy()
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  }
}

/** Runs a program to its end. */
export async function runProgram(file: string, args: readonly string[], options?: ProgramOptions): Promise<Ended> {
  return (await startProgram(file, args, options)).ended
}

type Said = Record<'stdout' | 'stderr', string>

/** Notes what the child says, and tells listeners. */
function collect(child: ChildProcess, said: Said): Set<() => void> {
  const heard = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text
      for (const tell of heard) tell()
    })
  }
  return heard
}

function endOf(child: ChildProcess, said: Said): Promise<Ended> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code: number | null, signal: NodeJS.Signals | null) => {
      running.delete(child)
      resolve({ code, signal, ...said })
    })
  })
}

interface Listening {
  readonly pattern: RegExp
  readonly timeoutMs: number
  readonly said: Said
  readonly heard: Set<() => void>
  readonly ended: Promise<Ended>
}

async function untilMatch({ pattern, timeoutMs, said, heard, ended }: Listening): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
  const look = (): void => {
    const match = pattern.exec(said.stdout)
    if (match !== null) resolve(match)
  }
  const giveUp = (why: string): void =>
    reject(new Error(`${why} without saying ${pattern}: ${said.stdout}${said.stderr}`))
  const timer = setTimeout(() => giveUp(`it ran for ${timeoutMs} ms`), timeoutMs)
  heard.add(look)
  void ended.then(({ code, signal }) => giveUp(`it ended (${code ?? signal})`), reject)
  look()
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    heard.delete(look)
  }
}
