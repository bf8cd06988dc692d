import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'

interface RotatingFileOptions {
  readonly file: string
  /** A file that is longer is put aside, and a new one begun. */
  readonly bytesMax: number
  /** So many older ones are kept: `file.1` is the newest of them. */
  readonly kept: number
  /** Told once of each time that lines are lost, until they can be written again. */
  readonly report: (error: unknown) => void
}

/** A line whose text is asked for when it is written. */
interface LateLine {
  /** Without its end. */
  line(): string
}

/** Lines at the end of a file. */
interface RotatingFile {
  /** Written with the others of 200 ms, or of so many bytes. Never throws. */
  append(line: LateLine): void
  close(): void
}

/**
 * One write for many lines. A write costs 70 µs whatever its length, as much as to answer a request from memory: with a
 * thousand requests a second and 20 ms, that were 4 µs for each. At ten thousand a second the lines of 200 ms take a
 * megabyte: with a buffer of an eighth of that, each took 0.1 µs more.
 */
const restMs = 200
const bufferBytes = 1_048_576
/**
 * So many texts are made in a row: what one needs is out of the processor's caches when it is made alone, and what they
 * are made of is when hundreds wait.
 */
const waitingMax = 32
/** Of what JavaScript holds as one unit of a text. */
const bytesPerUnitMax = 3

/** A file for its owner's eyes only, which grows to a size and is then replaced. */
export function openRotatingFile(options: RotatingFileOptions): RotatingFile {
  const file = createPieces(options)
  /** Bytes at once: to join the texts of many lines takes twice as long. */
  const buffer = Buffer.allocUnsafeSlow(bufferBytes)
  let filled = 0
  const waiting: LateLine[] = []
  let timer: NodeJS.Timeout | undefined

  const writeFilled = (): void => {
    if (filled > 0) file.write(buffer.subarray(0, filled))
    filled = 0
  }

  const add = (text: string): void => {
    const room = text.length * bytesPerUnitMax
    if (filled + room > bufferBytes) writeFilled()
    if (room > bufferBytes) file.write(Buffer.from(text))
    else filled += buffer.write(text, filled)
  }

  const makeTexts = (): void => {
    let text = ''
    for (const one of waiting.splice(0)) text += `${one.line()}\n`
    add(text)
  }

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    makeTexts()
    writeFilled()
  }

  return {
    append: (line) => {
      waiting.push(line)
      if (waiting.length >= waitingMax) makeTexts()
      timer ??= setTimeout(flush, restMs)
    },
    close: () => {
      flush()
      file.close()
    },
  }
}

/** Bytes at the end of the file, or of the next one. */
function createPieces({ file, bytesMax, kept, report }: RotatingFileOptions) {
  let descriptor: number | undefined
  let size = 0
  let isLosing = false

  const open = (): number => {
    const opened = (descriptor = openSync(file, 'a+', 0o600))
    size = fstatSync(opened).size
    if (size > 0 && isCutShort(opened, size)) size += writeSync(opened, '\n')
    return opened
  }

  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }

  const rotate = (): void => {
    close()
    rmSync(`${file}.${kept}`, { force: true })
    for (let i = kept - 1; i >= 0; i--) rename(i === 0 ? file : `${file}.${i}`, `${file}.${i + 1}`)
  }

  const write = (bytes: Uint8Array): void => {
    try {
      if (size > 0 && size + bytes.length > bytesMax) rotate()
      const target = descriptor ?? open()
      for (let at = 0; at < bytes.length;) at += writeSync(target, bytes, at)
      size += bytes.length
      isLosing = false
    } catch (error) {
      close()
      if (!isLosing) report(error)
      isLosing = true
    }
  }
  return { write, close }
}

/** A disk that was full, or a process that was killed, left a part of a line: the next one does not go on with it. */
function isCutShort(descriptor: number, size: number): boolean {
  const last = Buffer.alloc(1)
  readSync(descriptor, last, 0, 1, size - 1)
  return last.toString() !== '\n'
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
