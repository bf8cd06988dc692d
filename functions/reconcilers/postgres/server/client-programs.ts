import { runCommand } from './command.ts'
import { readHostOptions } from './host.ts'
import { findInstallations, programOf, pythonPackage, type InstallationSearch } from './installations.ts'

/** A program that talks to servers, and is not one: `pg_dump`, `pg_restore`. */
export interface ClientProgram {
  readonly file: string
  readonly version: ClientVersion
}

export interface ClientVersion {
  readonly major: number
  readonly minor: number
}

/** Homebrew has the clients alone in a directory without a version, and not on the path. */
const clientRoots = ['/opt/homebrew/opt/libpq', '/usr/local/opt/libpq']

/**
 * All programs of this name that run, in the order in which servers are looked for; those of SETPOINT_POSTGRES_HOME
 * before all others, if it has them.
 */
export async function findClientPrograms(
  program: 'pg_dump' | 'pg_restore',
  signal: AbortSignal,
  { home = readHostOptions(process.env).home, ...search }: InstallationSearch = {},
): Promise<readonly ClientProgram[]> {
  const found: ClientProgram[] = []
  for (const root of home === undefined ? clientRoots : [home, ...clientRoots])
    await keepIfItRuns(programOf(root, program), found, signal)
  for await (const { root } of findInstallations({ ...search, program }, signal))
    await keepIfItRuns(programOf(root, program), found, signal)
  return found
}

async function keepIfItRuns(file: string, found: ClientProgram[], signal: AbortSignal): Promise<void> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(versionMs)])
  const { stdout } = await runCommand(file, ['--version'], { signal: limited }).catch(() => {
    // One that is not there, or does not run, is none.
    signal.throwIfAborted()
    return { stdout: '' }
  })
  const version = readVersion(stdout)
  if (version !== undefined) found.push({ file, version })
}

const versionMs = 10_000

function readVersion(text: string): ClientVersion | undefined {
  const [, major, minor] = /\(PostgreSQL\) (\d+)(?:\.(\d+))?/.exec(text) ?? []
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor ?? 0) }
}

/**
 * The one that fits a server, or a dump, of a major version: of that version, or else of the next newer one. Of two
 * with the same version the first.
 */
export function chooseClientProgram(programs: readonly ClientProgram[], majorMin: number): ClientProgram | undefined {
  return programs
    .filter(({ version }) => version.major >= majorMin)
    .toSorted((a, b) => a.version.major - b.version.major)[0]
}

/** `18.6` */
export function formatVersion({ major, minor }: ClientVersion): string {
  return `${major}.${minor}`
}

/** What to type where there is none. */
export function hintToInstall(program: string, majorMin: number): string {
  return (
    `install ${program} ${majorMin} or newer (Debian, Ubuntu: apt install postgresql-client-${majorMin}; ` +
    `macOS: brew install libpq; anywhere with Python: ${pythonPackage})`
  )
}
