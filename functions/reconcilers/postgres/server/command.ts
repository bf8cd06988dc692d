import { spawn } from 'node:child_process'
import { dirname, parse } from 'node:path'
import type { Readable } from 'node:stream'

/** The operating system's user a program runs as; absent where we run as an ordinary user and so does the program. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** How a program is run. */
export interface CommandOptions {
  readonly account?: Account | undefined
  readonly signal: AbortSignal
  readonly input?: string
  /** How the program is ended when the signal fires. */
  readonly killSignal?: 'SIGTERM' | 'SIGKILL'
}

/** What a program said and how it ended. */
export interface CommandResult {
  /** `null` when a signal ended the program. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a program to its end and hands back what it said, whatever its exit code. Ends it and throws when `signal`
 * fires, but not before it is gone and all that it started and that writes to its output. Throws the system's error
 * when it cannot be started.
 */
export async function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const { signal, account, input = '', killSignal = 'SIGTERM' } = options
  signal.throwIfAborted()
  const child = spawn(file, args, { ...processOptions(file, account), signal, killSignal, stdio: 'pipe' })
  const closed = new Promise<{ code: number | null; failure: Error | undefined }>((resolve) => {
    let failure: Error | undefined
    child.on('error', (error) => (failure = error))
    child.on('close', (code) => resolve({ code, failure }))
  })
  // A program that ends without reading its input breaks the pipe; its exit code says whether that matters.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)]
  const { code, failure } = await closed
  signal.throwIfAborted()
  if (failure !== undefined) throw failure
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

function collect(stream: Readable): readonly string[] {
  const chunks: string[] = []
  stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
  return chunks
}

/**
 * How every program of ours is started: as the account, in a directory everybody can reach, with a bare environment.
 */
export function processOptions(file: string, account?: Account) {
  const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid }
  return { ...identity, cwd: parse(dirname(file)).root || '/', env: environment(), windowsHide: true }
}

// Our own environment may hold credentials and PG* variables; the server gets neither. A known zone and locale also
// spare initdb a search through the system's files.
function environment(): Record<string, string> {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' }
}
