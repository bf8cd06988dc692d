import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { makeDirectory, syncDirectory } from '../../postgres/server/files.ts'
import { isNameOfDump, type Archive, type Receipt, type StoredDump } from './archive.ts'

/** An archive below a directory of this machine, for the eyes of its account alone. */
export function directoryArchive(directory: string): Archive {
  return {
    write: (name, content, signal) => writeWhole(join(directory, name), content, signal),
    list: (folder) => listDumps(directory, folder),
    read: async (name, signal) => createReadStream(join(directory, name), { signal }),
    remove: (name) => rm(join(directory, name), { force: true }),
  }
}

/** Written beside its place, flushed, and moved there when it is whole. A retry writes over what a crash left. */
async function writeWhole(file: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Receipt> {
  await makeDirectory(dirname(file), 0o700)
  await removeAbandoned(dirname(file))
  const partial = join(dirname(file), `.${basename(file)}${partialSuffix}`)
  try {
    const receipt = await writeFlushed(partial, content, signal)
    await rename(partial, file)
    // The new name is to be on disk, too.
    await syncDirectory(dirname(file))
    return receipt
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function writeFlushed(file: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Receipt> {
  const hash = createHash('sha256')
  await using handle = await open(file, 'w', 0o600)
  let sizeBytes = 0
  for await (const chunk of content) {
    signal.throwIfAborted()
    await handle.writeFile(chunk)
    hash.update(chunk)
    sizeBytes += chunk.length
  }
  await handle.sync()
  return { sizeBytes, sha256: hash.digest('hex') }
}

const partialSuffix = '.partial'
const abandonedMs = 24 * 3_600_000

/** What a crash left of a dump that nobody took up again; no run takes a day. */
async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const file = join(directory, name)
    if (name.endsWith(partialSuffix) && (await stat(file)).mtimeMs < Date.now() - abandonedMs) await rm(file)
  }
}

async function listDumps(directory: string, folder: string): Promise<readonly StoredDump[]> {
  const entries = await readdir(join(directory, folder), { recursive: true, withFileTypes: true }).catch(noneIfAbsent)
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.') && isNameOfDump(entry.name))
  const dumps = await Promise.all(files.map((entry) => dumpAt(directory, join(entry.parentPath, entry.name))))
  return dumps.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function dumpAt(directory: string, file: string): Promise<StoredDump> {
  const { size, mtimeMs } = await stat(file)
  return { name: relative(directory, file).replaceAll(sep, '/'), sizeBytes: size, storedMs: mtimeMs }
}

function noneIfAbsent(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return []
  throw error
}
