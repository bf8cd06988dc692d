import { join } from 'node:path'
import { callCommand } from '../../functions/command/commands.ts'
import { findEntry, loadReconcilers } from '../../functions/command/entry.ts'
import { readCommandLine } from '../../shared/runtime/local/command-line.ts'
import { startLocalControlPlane } from '../../shared/runtime/local/control-plane.ts'
import { readyText } from '../../shared/runtime/local/process.ts'
import { root } from './control-plane-process.ts'
import { createKubectlDouble } from './kubectl-double.ts'
import { runProgram, startProgram, type Ended } from './program.ts'
import { isLong } from './strength.ts'

/** A control plane that `setpoint start` started. */
export interface StartedPlane extends AsyncDisposable {
  /** What it has said so far; its log is in `stderr`. */
  readonly stdout: string
  readonly stderr: string
  /** In the long form the signal is sent. In the short one the plane stops, without grace for SIGKILL, and says 0. */
  stop(signal?: NodeJS.Signals): Promise<Pick<Ended, 'code'>>
}

/** The command `setpoint` as it is called in one directory. */
export interface SetpointCommand {
  call(...words: readonly string[]): Promise<Pick<Ended, 'code' | 'stdout' | 'stderr'>>
  /** `start` with a port that is free. Rejects with the line of a refusal. */
  start(entry: string, ...flags: readonly string[]): Promise<StartedPlane>
}

/**
 * In the long form each call is a process, and asks with the kubectl of this machine. In the short form all of it runs
 * in this process, which costs a fiftieth; a double of kubectl asks there.
 */
export function setpointIn(cwd: string): SetpointCommand {
  return isLong ? inProcesses(cwd) : inThisProcess(cwd)
}

/** A process for each call, in both forms of the tests. */
export function inProcesses(cwd: string): SetpointCommand {
  const main = join(root, 'functions/command/main.ts')
  return {
    call: (...words) => runProgram(process.execPath, [main, ...words], { cwd }),
    start: async (entry, ...flags) => {
      const program = await startProgram(process.execPath, [main, 'start', entry, '--port', '0', ...flags], { cwd })
      await program.says(/ready at/)
      return program
    },
  }
}

function inThisProcess(cwd: string): SetpointCommand {
  return {
    call: async (...words) => {
      using said = listen()
      const { code } = await inDirectory(cwd, () => callCommand(words, createKubectlDouble(cwd)))
      return { code, stdout: said.stdout, stderr: said.stderr }
    },
    start: async (entry, ...flags) => {
      const said = listen()
      const { value: plane } = await inDirectory(cwd, () => {
        const program = { name: 'setpoint start', args: ['--port', '0', ...flags], toTry: [] }
        const controllers = () => loadReconcilers(findEntry(entry))
        return startLocalControlPlane({ ...readCommandLine(program), controllers })
      })
      if (plane === undefined) throw new Error(said.stderr)
      let stopped: Promise<void> | undefined
      const stop: StartedPlane['stop'] = async (signal) => {
        stopped ??= plane.stop(signal === 'SIGKILL' ? 0 : 4_000)
        await stopped
        said[Symbol.dispose]()
        return { code: 0 }
      }
      const text = readyText(plane, { toTry: [] })
      return {
        stdout: text,
        get stderr() {
          return said.log
        },
        stop,
        [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
      }
    },
  }
}

/** Thrown where a process would end. */
class Exited extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

interface Called<Value> {
  readonly code: number
  readonly value?: Value
}

/** Calls with this process standing in the directory; what ends the process is an exit code, as of `main.ts`. */
async function inDirectory<Value>(cwd: string, call: () => Promise<Value>): Promise<Called<Value>> {
  const before = { cwd: process.cwd(), exit: process.exit, exitCode: process.exitCode }
  process.chdir(cwd)
  process.exitCode = 0
  process.exit = (code) => {
    throw new Exited(Number(code ?? 0))
  }
  try {
    const value = await call()
    return { code: Number(exitCode() ?? 0), value }
  } catch (error) {
    if (error instanceof Exited) return { code: error.code }
    throw error
  } finally {
    process.chdir(before.cwd)
    process.exit = before.exit
    process.exitCode = before.exitCode
  }
}

/** As the call left it: the compiler knows only of the assignment above. */
function exitCode(): typeof process.exitCode {
  return process.exitCode
}

interface Said extends Disposable {
  stdout: string
  stderr: string
  /** Lines of the control plane's log, which it writes as JSON. */
  log: string
}

const listeners = new Set<Said>()
const write = { stdout: process.stdout.write, stderr: process.stderr.write }

/** Collects what this process says, and keeps it from the terminal. */
function listen(): Said {
  const said: Said = {
    stdout: '',
    stderr: '',
    log: '',
    [Symbol.dispose]: () => {
      listeners.delete(said)
      if (listeners.size > 0) return
      process.stdout.write = write.stdout
      process.stderr.write = write.stderr
    },
  }
  listeners.add(said)
  process.stdout.write = hear('stdout')
  process.stderr.write = hear('stderr')
  return said
}

function hear(stream: 'stdout' | 'stderr'): typeof process.stdout.write {
  return (text: string | Uint8Array) => {
    const line = String(text)
    const to = stream === 'stderr' && line.startsWith('{"time"') ? 'log' : stream
    for (const said of listeners) said[to] += line
    return true
  }
}
