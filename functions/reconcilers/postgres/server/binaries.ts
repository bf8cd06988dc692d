import { randomUUID } from 'node:crypto'
import { chmod, copyFile, link, lstat, readdir, readlink, rename, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { PostgresFailure } from '../failure.ts'
import { type Account, runCommand } from './command.ts'
import { exists, isSystemError, makeOpenDirectory, readIfPresent, removeTree } from './files.ts'
import { programOf, type Installation } from './installations.ts'

/** The programs of one PostgreSQL installation. */
export interface Binaries {
  /** Where they are from, for people: `in /usr/lib/postgresql/17`. */
  readonly name: string
  /** `18.6` */
  readonly release: string
  /** As of the installation. */
  readonly advice?: string
  readonly initdb: string
  readonly postgres: string
  readonly pgCtl: string
  /** The major version, which a data directory is bound to: `18`. */
  readonly version: string
}

/** For whom binaries are looked for, and where a copy may go. */
export interface BinarySearch {
  readonly installation: Installation
  readonly account: Account | undefined
  /** Names the directory for copies, making it if need be; asked only when a copy is needed. */
  cache(): Promise<string>
}

/**
 * The binaries of an installation, proven to run as the account. Where npm's do not run from where npm put them (in a
 * private home such as /root, or installed without its scripts, which make symbolic links), a copy in the cache does;
 * it is made once per package version, and a crash in between leaves no half copy in use.
 */
export async function findBinaries(
  { installation, account, cache }: BinarySearch,
  signal: AbortSignal,
): Promise<Binaries> {
  const { name, advice } = installation
  const known = advice === undefined ? { name } : { name, advice }
  const direct = await tryBinaries(installation.root, account, signal)
  if (typeof direct !== 'string') return { ...direct, ...known }
  if (!installation.mayBeCopied) throw unusable(installation, direct)
  const copy = await copyInstallation(installation, await cache(), signal)
  const copied = await tryBinaries(copy, account, signal)
  if (typeof copied !== 'string') return { ...copied, ...known }
  throw unusable(installation, copied)
}

function unusable({ name }: Installation, complaint: string): PostgresFailure {
  return new PostgresFailure('terminal', 'BinariesUnusable', `cannot run PostgreSQL ${name}: ${complaint}`)
}

/** The binaries below `root`, or why they do not run. */
async function tryBinaries(
  root: string,
  account: Account | undefined,
  signal: AbortSignal,
): Promise<Omit<Binaries, 'name' | 'advice'> | string> {
  const postgres = programOf(root, 'postgres')
  const result = await runCommand(postgres, ['--version'], { account, signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    return { code: null, stdout: '', stderr: String(error) }
  })
  const [, release, version] = /\(PostgreSQL\) ((\d+)[^\s)]*)/.exec(result.stdout) ?? []
  if (release === undefined || version === undefined) return result.stderr.trim()
  return { initdb: programOf(root, 'initdb'), postgres, pgCtl: programOf(root, 'pg_ctl'), version, release }
}

async function copyInstallation({ root, label }: Installation, cache: string, signal: AbortSignal): Promise<string> {
  const copy = join(cache, label)
  if (await exists(copy)) return copy
  const staging = join(cache, `${label}.${randomUUID()}`)
  await makeOpenDirectory(cache)
  await sweepStaging(cache)
  try {
    await copyTree(root, staging, signal)
    await restoreLinks(staging)
    await rename(staging, copy)
  } catch (error) {
    // Another process may have put the same copy there first.
    if (!isSystemError(error, 'ENOTEMPTY', 'EEXIST', 'EPERM') || !(await exists(copy))) throw error
  } finally {
    await removeTree(staging)
  }
  return copy
}

// A copy that was interrupted more than an hour ago is nobody's; a younger one may still be at work in another process.
async function sweepStaging(cache: string): Promise<void> {
  const oldestMs = Date.now() - 3_600_000
  for (const entry of await readdir(cache)) {
    if (!/\.[0-9a-f-]{36}$/.test(entry)) continue
    const path = join(cache, entry)
    if ((await lstat(path)).mtimeMs < oldestMs) await removeTree(path)
  }
}

/** What the package's install script does: npm cannot ship symbolic links, so it ships a list of them. */
async function restoreLinks(root: string): Promise<void> {
  const list = (await readIfPresent(join(root, 'pg-symlinks.json'))) ?? '[]'
  const links = JSON.parse(list) as readonly { readonly source: string; readonly target: string }[]
  for (const { source, target } of links) {
    const path = join(root, relative('native', target))
    if (await exists(path)) continue
    await symlink(relative(dirname(target), source), path)
  }
}

/**
 * Makes a copy that everybody can read. Files are hard links where they can be, since writing 60 MB to disk takes
 * longer than all else on the way to a running server.
 */
async function copyTree(from: string, to: string, signal: AbortSignal): Promise<void> {
  await makeOpenDirectory(to)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    signal.throwIfAborted()
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyTree(source, target, signal)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else await copyProgram(source, target)
  }
}

async function copyProgram(source: string, target: string): Promise<void> {
  const mode = basename(dirname(source)) === 'bin' ? 0o755 : 0o644
  // A link shares the mode, so only what is readable already may be one.
  if (((await lstat(source)).mode & mode) === mode && (await tryLink(source, target))) return
  await copyFile(source, target)
  await chmod(target, mode)
}

async function tryLink(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target)
    return true
  } catch (error) {
    if (isSystemError(error, 'EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP')) return false
    throw error
  }
}
