import { realpath } from 'node:fs/promises'
import { PostgresFailure } from '../failure.ts'
import { runCommand } from './command.ts'
import { exists, readIfPresent, replaceFile, unlessAbsent } from './files.ts'
import { type Home, accountOf, findDataVersion, requireHome, requireVersion, type Server } from './home.ts'
import { choosePort, isPortFree, portInUse } from './port.ts'
import { findPostmaster, findRunningProgram } from './postmaster.ts'
import { requireUnrefused } from './proven.ts'
import { accessFile, findChangedNames, portIn, renderConfig, type Settings } from './settings.ts'

/** What the running server needs before the files on disk are in force. */
export type Pending = 'none' | 'reload' | 'restart'

/** What a declaration says about the configuration. */
export interface WantedConfiguration {
  /** Without one, a port that is free when it is chosen, and is kept from then on. */
  readonly port?: number | undefined
  readonly settings?: Settings | undefined
}

/** What `configure` found and did. */
export interface Configured {
  readonly port: number
  /** Whether a file had to be written. */
  readonly written: boolean
  readonly pending: Pending
}

/**
 * Brings the configuration files to what is wanted, and says what the running server has yet to do about them; it says
 * so again on every call until `reload` or a restart did it. Before any file is touched it refuses settings that are
 * none, and those with which the running server did not come up before, terminally; data of another version than the
 * programs, too; and a port that another has, until that has gone.
 */
export async function configure(server: Server, wanted: WantedConfiguration, signal: AbortSignal): Promise<Configured> {
  const home = await requireHome(server)
  await requireVersion(server, home)
  const port = wanted.port ?? (await keepOrChoosePort(home, signal))
  await requirePort(port, home, signal)
  const text = renderConfig(wanted.settings ?? {}, { port, version: server.host.binaries.version })
  const stale = (await readIfPresent(home.config)) !== text
  await requireUnrefused(home, text, signal)
  if (stale) {
    const prove = (draft: string) => proveConfig(server, home, { draft, signal })
    await replaceFile(home.config, { text, mode: 0o644, prove })
  }
  const open = (await readIfPresent(home.access)) !== accessFile
  if (open) await replaceFile(home.access, { text: accessFile, mode: 0o644 })
  return { port, written: stale || open, pending: await findPendingChange(server, home, signal) }
}

/** What the files on disk ask of the running server; `none` when no server runs, since its start reads them. */
export async function findPendingChange(server: Server, home: Home, signal: AbortSignal): Promise<Pending> {
  if ((await findPostmaster(home, signal)) === undefined) return 'none'
  if (await isToRunByOthers(server, home)) return 'restart'
  const [fresh, applied] = await Promise.all([readFiles(home), readIfPresent(home.applied)])
  if (fresh === applied) return 'none'
  if (applied === undefined) return 'restart'
  return (await restartNeeded(server, { changed: findChangedNames(applied, fresh), signal })) ? 'restart' : 'reload'
}

/**
 * Whether the running server is to be restarted by the programs that a start would take now: somebody has installed a
 * PostgreSQL that goes first, or a newer release. Not where the programs are of another version than the data, because
 * no start would succeed; nor for programs that something speaks against, while those that run are there: a search that
 * missed some on a busy machine is no reason.
 */
async function isToRunByOthers({ host: { binaries } }: Server, home: Home): Promise<boolean> {
  const program = await findOtherProgram(binaries.postgres, home)
  if (program === undefined || (await findDataVersion(home.path)) !== binaries.version) return false
  return binaries.advice === undefined || !(await exists(program))
}

/** The program that runs the server, if it is another than this one. */
export async function findOtherProgram(postgres: string, home: Home): Promise<string | undefined> {
  const program = await findRunningProgram(home)
  if (program === undefined || (await realpathIfPresent(program)) === (await realpathIfPresent(postgres)))
    return undefined
  return program
}

/** Of programs that have gone, the name. */
async function realpathIfPresent(path: string): Promise<string> {
  return (await unlessAbsent(realpath(path))) ?? path
}

/** Records that the server about to start, or told to reload, reads the files as they are now. */
export async function recordApplied(home: Home): Promise<void> {
  await replaceFile(home.applied, { text: await readFiles(home), mode: 0o600 })
}

async function readFiles(home: Home): Promise<string> {
  const [config, access] = await Promise.all([readIfPresent(home.config), readIfPresent(home.access)])
  if (config !== undefined && access !== undefined) return config + access
  throw new PostgresFailure('retryable', 'NotConfigured', 'the server has no configuration')
}

// While the server is down somebody else may have taken its port. Its own port counts as taken, so it is kept then.
async function keepOrChoosePort(home: Home, signal: AbortSignal): Promise<number> {
  const running = await findPostmaster(home, signal)
  const kept = portIn(await readIfPresent(home.config)) ?? running?.port
  if (kept === undefined) return choosePort(home.path)
  return running !== undefined || (await isPortFree(kept)) ? kept : choosePort(home.path)
}

/** A server that runs is not stopped for a port that it would not get. */
async function requirePort(port: number, home: Home, signal: AbortSignal): Promise<void> {
  const running = await findPostmaster(home, signal)
  if (running === undefined || running.port === port || (await isPortFree(port))) return
  throw portInUse(port, `the server stays at ${running.port}`)
}

// The server reads the draft and is asked for one value: it exits before it opens the data, running server or not.
async function proveConfig(server: Server, home: Home, { draft, signal }: Proof): Promise<void> {
  const args = ['-D', home.data, '-c', `config_file=${draft}`, '-C', 'port']
  const account = await accountOf(server, home)
  const { code, stderr } = await runCommand(server.host.binaries.postgres, args, { account, signal })
  if (code === 0) return
  const complaint = /(?:LOG|ERROR|FATAL): *(.*)/.exec(stderr)?.[1] ?? `exit code ${code}`
  throw new PostgresFailure('terminal', 'ConfigurationInvalid', complaint.replace(/ in file ".*/, ''))
}

interface Proof {
  readonly draft: string
  readonly signal: AbortSignal
}

// Asked of the binaries, which know. Parameters they do not list belong to preloaded libraries; a restart is safe
// there.
async function restartNeeded(
  { host }: Server,
  { changed, signal }: { readonly changed: readonly string[]; readonly signal: AbortSignal },
): Promise<boolean> {
  const { stdout } = await runCommand(host.binaries.postgres, ['--describe-config'], { signal })
  const contexts = new Map(stdout.split('\n').map((line) => line.split('\t', 2) as [string, string]))
  return changed.some((name) => (contexts.get(name) ?? 'postmaster') === 'postmaster')
}
