import { spawn } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile, rename, rm, stat, truncate } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { hasReason, PostgresFailure } from '../failure.ts'
import { processOptions } from './command.ts'
import { findPendingChange, recordApplied } from './configure.ts'
import { exists, unlessAbsent } from './files.ts'
import { findHome, type Home, accountOf, requireHome, requireVersion, type Server } from './home.ts'
import { answersOn, portInUse } from './port.ts'
import { putProvenBack, recordProven, recordRefused, refusedSettings } from './proven.ts'
import { clearStaleLock, findPostmaster, pause, type Postmaster, signalPostmaster, untilGone } from './postmaster.ts'

/** A server that was killed leaves its sessions behind for a moment; they notice and end. */
const startAttemptsMax = 100
const logBytesMax = 1_000_000

/**
 * Starts the server unless it runs, and waits until it takes connections. The server is nobody's child: it outlives
 * this process, and the next call finds it. A server that recovers goes on recovering after `signal` fires. A server
 * that does not come up with its settings runs with those with which it last did, and what is wanted is refused
 * terminally.
 */
export async function start(server: Server, signal: AbortSignal): Promise<Postmaster> {
  const home = await requireHome(server)
  await requireVersion(server, home)
  try {
    return await startConfigured(server, home, signal)
  } catch (error) {
    if (!hasReason(error, 'StartFailed')) throw error
    throw await startAsBefore(server, home, { failure: error, signal })
  }
}

/** What to throw for the failure of a start: it may be the fault of settings that are new. */
async function startAsBefore(
  server: Server,
  home: Home,
  { failure, signal }: { readonly failure: PostgresFailure; readonly signal: AbortSignal },
): Promise<PostgresFailure> {
  const refused = await putProvenBack(home)
  if (refused === undefined) return failure
  try {
    await startConfigured(server, home, signal)
  } catch {
    signal.throwIfAborted()
    return failure
  }
  const message = `${failure.message}; it runs with the settings with which it last came up`
  await recordRefused(home, refused, message)
  return refusedSettings(message)
}

async function startConfigured(server: Server, home: Home, signal: AbortSignal): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(server, home, signal)
    } catch (error) {
      if (!hasReason(error, 'ServerEnding') || attempt === startAttemptsMax) throw error
      await pause(signal)
    }
  }
}

async function startOnce(server: Server, home: Home, signal: AbortSignal): Promise<Postmaster> {
  signal.throwIfAborted()
  if ((await findPostmaster(home, signal)) !== undefined) return adopt(server, home, signal)
  await clearStaleLock(home, signal)
  await recordApplied(home)
  const logged = await rotateLog(home)
  const exited = await launch(server, home)
  for (;;) {
    const ready = await findReady(home, signal)
    if (ready !== undefined) {
      await recordProven(home)
      return ready
    }
    if (exited.done) throw startFailure(await readLog(home, logged))
    await pause(signal)
  }
}

/** Waits for a server that somebody else started, and perhaps somebody is stopping. */
async function adopt(server: Server, home: Home, signal: AbortSignal): Promise<Postmaster> {
  while ((await findPostmaster(home, signal)) !== undefined) {
    const ready = await findReady(home, signal)
    if (ready !== undefined) {
      // One that an earlier version of Setpoint has started.
      if (!(await exists(home.proven)) && (await findPendingChange(server, home, signal)) === 'none')
        await recordProven(home)
      return ready
    }
    await pause(signal)
  }
  throw endFailure('the server that was running has ended')
}

/** Makes the running server read its files again. Nothing happens when none runs; a pending restart stays pending. */
export async function reload(server: Server, signal: AbortSignal): Promise<void> {
  const home = await requireHome(server)
  const running = await findPostmaster(home, signal)
  if (running === undefined) return
  const pending = await findPendingChange(server, home, signal)
  await signalPostmaster(server, 'SIGHUP', { pid: running.pid, signal })
  if (pending !== 'reload') return
  await recordApplied(home)
  // It has run with it for long when a start fails by chance.
  await recordProven(home)
}

/** `fast` ends sessions and writes everything down; `immediate` leaves recovery to the next start. */
export type StopMode = 'fast' | 'immediate'

/** Stops the server, if one runs, and waits until it is gone. */
export async function stopServer(server: Server, signal: AbortSignal, mode: StopMode = 'fast'): Promise<void> {
  const home = await findHome(server)
  if (home === undefined) return
  const running = await findPostmaster(home, signal)
  if (running === undefined) return
  const { pid } = running
  await signalPostmaster(server, mode === 'fast' ? 'SIGINT' : 'SIGQUIT', { pid, signal })
  await untilGone(home, pid, signal)
}

/** Whether the server of this data directory takes connections now. */
export async function isReady(server: Server, signal: AbortSignal): Promise<boolean> {
  const home = await findHome(server)
  return home !== undefined && (await findReady(home, signal)) !== undefined
}

async function findReady(home: Home, signal: AbortSignal): Promise<Postmaster | undefined> {
  const running = await findPostmaster(home, signal)
  return running?.phase === 'ready' && (await answersOn(running.port, signal)) ? running : undefined
}

/** Starts the process and answers whether it has ended, kept up to date. */
async function launch(server: Server, home: Home): Promise<{ done: boolean }> {
  const { postgres } = server.host.binaries
  const args = ['-D', home.data, '-c', `config_file=${home.config}`, '-c', `hba_file=${home.access}`]
  const options = processOptions(postgres, await accountOf(server, home))
  const log = await open(home.log, 'a', 0o600)
  try {
    const child = spawn(postgres, args, { ...options, detached: true, stdio: ['ignore', log.fd, log.fd] })
    const exited = { done: false }
    for (const event of ['exit', 'error']) child.once(event, () => (exited.done = true))
    child.unref()
    return exited
  } finally {
    await log.close()
  }
}

/** Keeps one older log, and answers how long the current one is. */
async function rotateLog(home: Home): Promise<number> {
  const size = (await unlessAbsent(stat(home.log)))?.size ?? 0
  if (size < logBytesMax) return size
  await rename(home.log, `${home.log}.old`)
  return 0
}

/** Of the log of a server that runs: as much may stand in the older one beside it. */
const runningLogBytesMax = 64 * 1024 * 1024

/**
 * Cuts the log of a running server once it is long, and keeps its end as the older one. The server goes on at the
 * beginning, because it writes at the end of the file, wherever that is. What it writes in the moment between is lost.
 */
export async function cutLog(server: Server, bytesMax: number = runningLogBytesMax): Promise<void> {
  const { log } = await requireHome(server)
  const size = (await unlessAbsent(stat(log)))?.size ?? 0
  if (size < bytesMax) return
  const older = `${log}.old`
  await rm(older, { force: true })
  try {
    await pipeline(createReadStream(log, { start: size - bytesMax }), createWriteStream(older, { mode: 0o600 }))
  } finally {
    // On a full disk above all.
    await truncate(log)
  }
}

async function readLog(home: Home, from: number): Promise<string> {
  return (await readFile(home.log)).subarray(from).toString('utf8')
}

function endFailure(message: string): PostgresFailure {
  return new PostgresFailure('retryable', 'ServerEnding', message)
}

function startFailure(log: string): PostgresFailure {
  if (/pre-existing shared memory block/.test(log)) return endFailure('sessions of a server that was killed go on')
  // Of settings that contradict each other it says so by its name, before it has a log.
  const complaint =
    [...log.matchAll(/(?:FATAL|PANIC|ERROR|^postgres): *(.*)/gm)].at(-1)?.[1] ?? 'it ended without a word'
  if (/Address already in use/.test(log))
    return portInUse(/on port (\d+)/.exec(log)?.[1] ?? 'its own', 'cannot start the server')
  return new PostgresFailure('retryable', 'StartFailed', `cannot start the server: ${complaint}`)
}
