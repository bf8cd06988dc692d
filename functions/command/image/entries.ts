import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { spawnSync } from 'node:child_process'
import { OperatingError } from '../../../shared/index.ts'
import { isOwnDirectory, isOwnFile } from '../../../shared/runtime/local/own-files.ts'
import type { TarEntry } from './tar.ts'

/** Nothing of these belongs into an image; what begins with a dot neither, such as data and settings. */
const leftOut = new Set(['cdk.out', 'dist', 'coverage'])

/**
 * Everything of a directory below `at`, in the order of names, but what is a control plane's own: its data, copies of
 * its keys, backups, and kubeconfigs. A link that leads out of it is what it leads to.
 */
export function* appEntries(directory: string, at: string): Iterable<TarEntry> {
  yield { path: at, type: 'directory', mode: 0o755 }
  const root = { directory: realpathSync(directory), at }
  for (const name of readdirSync(directory).toSorted())
    if (!name.startsWith('.') && !leftOut.has(name))
      yield* entriesOf({ file: join(directory, name), path: `${at}/${name}`, root, followed: new Map() })
}

interface Place {
  /** Where the links that were followed on the way here lead, and where in the image that stands. */
  readonly followed: ReadonlyMap<string, string>
  readonly file: string
  readonly path: string
  readonly root: Root
}

/** What is put into the image, and where. */
interface Root {
  readonly directory: string
  readonly at: string
}

function* entriesOf(place: Place): Iterable<TarEntry> {
  const { file, path, root } = place
  const isLink = lstatSync(file).isSymbolicLink()
  const target = isLink ? targetOf(file, root) : undefined
  const real = isLink && target === undefined ? realpathSync(file) : undefined
  const above = real === undefined ? undefined : place.followed.get(real)
  if (target !== undefined) {
    yield { path, type: 'link', mode: 0o777, target }
  } else if (above !== undefined) {
    // It leads to a directory that it is in itself.
    yield { path, type: 'link', mode: 0o777, target: `/${above}` }
  } else if (statSync(file).isDirectory()) {
    if (isOwnDirectory(file)) return
    yield { path, type: 'directory', mode: 0o755 }
    const followed = real === undefined ? place.followed : new Map([...place.followed, [real, path]])
    for (const name of readdirSync(file).toSorted())
      yield* entriesOf({ file: join(file, name), path: `${path}/${name}`, root, followed })
  } else if (statSync(file).isFile() && !isPrivate(file)) yield fileEntry(file, path)
}

function isPrivate(file: string): boolean {
  // Packages hold thousands of files, and none of a control plane.
  return file.endsWith('.kubeconfig') || (!file.includes(`${sep}node_modules${sep}`) && isOwnFile(file))
}

/** Where a link leads in the image; undefined if that is not in it. A link that leads nowhere stays as it is. */
function targetOf(link: string, { directory, at }: Root): string | undefined {
  const said = readlinkSync(link)
  if (!existsSync(link)) return said
  const inside = pathWithin(directory, realpathSync(link))
  if (inside === undefined) return undefined
  const standsInside = pathWithin(directory, realpathSync(dirname(link))) !== undefined
  return standsInside && !isAbsolute(said) ? said : join('/', at, inside)
}

function pathWithin(directory: string, file: string): string | undefined {
  const path = relative(directory, file)
  return path === '..' || path.startsWith(`..${sep}`) ? undefined : path
}

function fileEntry(file: string, path: string): TarEntry {
  const { size, mode } = statSync(file)
  return { path, type: 'file', mode: (mode & 0o100) === 0 ? 0o644 : 0o755, content: { file, size } }
}

/** Node as it runs here, with the libraries that it loads: what an image without a base needs. */
export function* runtimeEntries(program: string): Iterable<TarEntry> {
  const libraries = findLibraries(program)
  const directories = new Set([
    'data',
    'etc',
    'tmp',
    'usr/local/bin',
    ...libraries.map((file) => dirname(file).slice(1)),
  ])
  const above = new Set(
    [...directories].flatMap((path) => path.split('/').map((_, i, all) => all.slice(0, i + 1).join('/'))),
  )
  for (const path of [...above].toSorted()) yield { path, type: 'directory', ...modeOf(path) }
  for (const [path, text] of Object.entries(settings))
    yield { path, type: 'file', mode: 0o644, content: Buffer.from(text) }
  for (const file of libraries) yield fileEntry(file, file.slice(1))
  yield fileEntry(program, 'usr/local/bin/node')
}

/** Who runs in the image. */
export const imageUser = 65_532

function modeOf(path: string): { readonly mode: number; readonly uid?: number } {
  if (path === 'data') return { mode: 0o711, uid: imageUser }
  return { mode: path === 'tmp' ? 0o1777 : 0o755 }
}

const settings = {
  'etc/passwd': `root:x:0:0:root:/:/sbin/nologin\nsetpoint:x:${imageUser}:${imageUser}:setpoint:/data:/sbin/nologin\n`,
  'etc/group': `root:x:0:\nsetpoint:x:${imageUser}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
}

/** By the paths that `ldd` prints: the loader first of all. */
function findLibraries(program: string): readonly string[] {
  const { stdout, status, error } = spawnSync('ldd', [program], { encoding: 'utf8' })
  if (status !== 0)
    throw new OperatingError('UNAVAILABLE', `ldd cannot tell the libraries of ${program}: ${error?.message ?? stdout}`)
  const paths = [...stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path)
  return [...new Set(paths)].toSorted()
}
