import { closeSync, openSync, readSync, writeSync } from 'node:fs'

/** One entry of an archive. Its time is always the same: the same files make the same bytes. */
export type TarEntry = {
  /** Relative to the root, without a slash at its end. */
  readonly path: string
  readonly mode: number
  /** Who owns it in the image. */
  readonly uid?: number
} & (
  | { readonly type: 'file'; readonly content: Uint8Array | { readonly file: string; readonly size: number } }
  | { readonly type: 'directory' }
  | { readonly type: 'link'; readonly target: string }
)

const blockBytes = 512

/** Writes a tar archive (POSIX.1-2001, pax) piece by piece. */
export class TarWriter {
  readonly #write: (bytes: Uint8Array) => void

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write
  }

  add(entry: TarEntry): void {
    const target = entry.type === 'link' ? entry.target : ''
    const records = [...paxRecord('path', entry.path), ...paxRecord('linkpath', target)]
    if (records.length > 0) {
      const text = Buffer.from(records.join(''))
      this.#block({ path: 'pax', mode: 0o644, type: 'file', content: text }, 'x', text.length)
      this.#pad(text)
    }
    if (entry.type !== 'file') return this.#block(entry, entry.type === 'link' ? '2' : '5', 0)
    const { content } = entry
    this.#block(entry, '0', content instanceof Uint8Array ? content.length : content.size)
    if (content instanceof Uint8Array) this.#pad(content)
    else this.#copy(content.file, content.size)
  }

  end(): void {
    this.#write(Buffer.alloc(2 * blockBytes))
  }

  #block(entry: TarEntry, flag: string, size: number): void {
    this.#write(headOf(entry, flag, size))
  }

  #pad(bytes: Uint8Array): void {
    this.#write(bytes)
    this.#fill(bytes.length)
  }

  #fill(size: number): void {
    const rest = size % blockBytes
    if (rest > 0) this.#write(Buffer.alloc(blockBytes - rest))
  }

  #copy(file: string, size: number): void {
    const descriptor = openSync(file, 'r')
    const buffer = Buffer.alloc(1 << 20)
    try {
      let left = size
      while (left > 0) {
        const count = readSync(descriptor, buffer, 0, Math.min(buffer.length, left), null)
        if (count === 0) throw new Error(`${file} became shorter while it was read`)
        this.#write(buffer.subarray(0, count))
        left -= count
      }
    } finally {
      closeSync(descriptor)
    }
    this.#fill(size)
  }
}

const pathBytesMax = 100

/** What does not fit into the old head. */
function paxRecord(name: string, value: string): readonly string[] {
  if (Buffer.byteLength(value) <= pathBytesMax && /^[\x20-\x7e]*$/.test(value)) return []
  const rest = ` ${name}=${value}\n`
  let length = Buffer.byteLength(rest)
  // The length counts its own digits.
  while (String(length).length + Buffer.byteLength(rest) !== length)
    length = String(length).length + Buffer.byteLength(rest)
  return [`${length}${rest}`]
}

function headOf(entry: TarEntry, flag: string, size: number): Buffer {
  const head = Buffer.alloc(blockBytes)
  const octal = (value: number, at: number, length: number): void => {
    head.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1')
  }
  head.write(cut(entry.path), 0, 'latin1')
  octal(entry.mode, 100, 8)
  octal(entry.uid ?? 0, 108, 8)
  octal(entry.uid ?? 0, 116, 8)
  octal(size, 124, 12)
  octal(0, 136, 12)
  head.write(' '.repeat(8), 148, 'latin1')
  head.write(flag, 156, 'latin1')
  if (entry.type === 'link') head.write(cut(entry.target), 157, 'latin1')
  head.write('ustar\u000000', 257, 'latin1')
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return head
}

function cut(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '_').slice(0, pathBytesMax)
}

/** Opens a file for one archive, and closes it. */
export function writeTarFile(file: string, entries: Iterable<TarEntry>, see: (bytes: Uint8Array) => void): void {
  const descriptor = openSync(file, 'wx', 0o644)
  try {
    const writer = new TarWriter((bytes) => {
      see(bytes)
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
    })
    for (const entry of entries) writer.add(entry)
    writer.end()
  } finally {
    closeSync(descriptor)
  }
}
