import { readFile, readlink, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PostgresFailure } from '../failure.ts'
import { runCommand } from './command.ts'
import { exists, isSystemError, readIfPresent, unlessAbsent } from './files.ts'
import type { Home, Server } from './home.ts'

const pollMs = 25

/** A running server process, as its lock file `postmaster.pid` and the process table say. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly startedAtMs: number
  /** What the server says of itself: `starting`, `ready`, `stopping`, `standby`. */
  readonly phase: string
}

/**
 * The server that runs on this data directory, whoever started it. A lock file left by a server that is gone counts as
 * nothing, even when its process id belongs to another program by now.
 */
export async function findPostmaster(home: Home, signal: AbortSignal): Promise<Postmaster | undefined> {
  const claimed = parseLockFile(await readIfPresent(lockFile(home)))
  return claimed !== undefined && (await isServing(claimed.pid, home, signal)) ? claimed : undefined
}

/**
 * Removes a lock file that would keep the server from starting though no server runs: one whose process id has been
 * given to another program, as happens after a reboot, and one that a crash left empty. A lock file of a process that
 * is gone stays, because the server knows best what to make of it.
 */
export async function clearStaleLock(home: Home, signal: AbortSignal): Promise<void> {
  const text = await readIfPresent(lockFile(home))
  if (text === undefined) return
  const pid = lockHolderOf(text)
  if (pid !== undefined && (!isAlive(pid) || (await isServing(pid, home, signal)))) return
  await rm(lockFile(home), { force: true })
}

/** The program that the server was started with; `undefined` where that is not known. */
export async function findRunningProgram(home: Home): Promise<string | undefined> {
  // The server writes it at its start: the program, and each argument in quotes.
  const [program] = (await readIfPresent(join(home.data, 'postmaster.opts')))?.split(' "') ?? []
  return program === undefined || program === '' ? undefined : program.trim()
}

/** Waits until the process is gone that was found to be the server. */
export async function untilGone(home: Home, pid: number, signal: AbortSignal): Promise<void> {
  while (await isServing(pid, home, signal)) await pause(signal)
}

/** Whether a server left its lock file, which one does that was killed or lost its machine. */
export async function hasCrashed(home: Home, signal: AbortSignal): Promise<boolean> {
  return (await exists(lockFile(home))) && (await findPostmaster(home, signal)) === undefined
}

/** Waits, for ten seconds at most, until the program that holds the lock of a data directory has ended. */
export async function untilUnlocked(data: string, signal: AbortSignal): Promise<void> {
  const patience = AbortSignal.timeout(10_000)
  for (;;) {
    const pid = lockHolderOf(await readIfPresent(join(data, 'postmaster.pid')))
    if (pid === undefined || !isAlive(pid) || patience.aborted) return
    await pause(signal)
  }
}

/** The time between two looks at something that will change soon. Throws the signal's reason when it fires. */
export async function pause(signal: AbortSignal): Promise<void> {
  await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/** Sends a signal to the server. Nothing happens when it has gone meanwhile. */
export async function signalPostmaster(
  { host }: Server,
  name: 'SIGHUP' | 'SIGINT' | 'SIGQUIT',
  { pid, signal }: { readonly pid: number; readonly signal: AbortSignal },
): Promise<void> {
  // Windows has no signals; the server listens on a named pipe that pg_ctl knows.
  if (process.platform === 'win32') {
    await runCommand(host.binaries.pgCtl, ['kill', name.slice(3), String(pid)], { signal })
    return
  }
  try {
    process.kill(pid, name)
  } catch (cause) {
    if (isSystemError(cause, 'ESRCH')) return
    throw new PostgresFailure('terminal', 'AccountUnusable', 'the server runs as an account we may not signal', {
      cause,
    })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return isSystemError(error, 'EPERM')
  }
}

function lockFile(home: Home): string {
  return join(home.data, 'postmaster.pid')
}

// A server in single-user mode, as initdb runs it too, writes its process id with a minus.
function lockHolderOf(text: string | undefined): number | undefined {
  const pid = Math.abs(Number.parseInt(text ?? '', 10))
  return pid > 0 ? pid : undefined
}

// Lines: process id, data directory, start time in seconds, port, socket directory, listen address, memory key, phase.
function parseLockFile(text: string | undefined): Postmaster | undefined {
  const [pid, , startSeconds, port, , , , phase] = (text ?? '').split('\n')
  if (!/^[1-9]\d*$/.test(pid ?? '') || port === undefined) return undefined
  return {
    pid: Number(pid),
    port: Number(port),
    startedAtMs: Number(startSeconds) * 1000,
    phase: phase?.trim() || 'starting',
  }
}

/** Whether the process is a server of this data directory: alive, and started with it or standing in it. */
async function isServing(pid: number, home: Home, signal: AbortSignal): Promise<boolean> {
  if (process.platform === 'linux') return (await namesLinux(pid, home.data)) || (await standsLinux(pid, home.data))
  if (process.platform === 'win32') {
    const { stdout } = await runCommand('tasklist', ['/NH', '/FI', `PID eq ${pid}`], { signal })
    return stdout.includes('postgres')
  }
  const { stdout } = await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { signal })
  return stdout.includes(home.data)
}

async function namesLinux(pid: number, data: string): Promise<boolean> {
  const words = (await ofProcess(readFile(`/proc/${pid}/cmdline`, 'utf8')))?.split('\0') ?? []
  return words[words.indexOf('-D') + 1] === data
}

// A server started by hand may have been given a relative path. Root without the right to trace (the default in a
// container) cannot see this; it need not for the servers we start.
async function standsLinux(pid: number, data: string): Promise<boolean> {
  const [stands, real] = await Promise.all([ofProcess(readlink(`/proc/${pid}/cwd`)), unlessAbsent(realpath(data))])
  return stands !== undefined && stands === real
}

async function ofProcess(answer: Promise<string>): Promise<string | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined
    throw error
  }
}
