import { parseJson } from '../../../../model/parse-json.ts'
import { closeSync, constants, fdatasyncSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { OperatingError } from '../../../../model/errors.ts'

/** What is known of a database outside of it. */
export interface Mark {
  /** Which database: a name that it was given by chance, and has inside, too. */
  readonly database: string
  /** Which file: a copy has another number, or another birth. Its birth is 0 where the file system tells none. */
  readonly inode: string
  readonly bornNs: string
  /** The resourceVersion of a write that was on disk. It lags behind by a second at the most. */
  readonly resourceVersion: number
  /** How often the database was opened. */
  readonly starts: number
  /** The database is a copy, which must not act. Left out by an earlier version. */
  readonly isHeld?: boolean
  /**
   * `new`: the database does not know its name yet, and nothing is demanded of it. `open`: a process writes, or was
   * killed, and there is a write-ahead log. `closed`: the resourceVersion is that of the very last write.
   */
  readonly state: 'new' | 'open' | 'closed'
}

/**
 * A file of two places that are written in turn, in place: what a crash leaves half written is passed over, and a full
 * disk hinders nothing.
 */
export interface MarkFile {
  readonly mark: Mark | undefined
  /** On disk when it returns. Throws UNAVAILABLE, once it is closed too: its descriptor may be that of another file. */
  write(mark: Mark): void
  /** A second time is none. */
  close(): void
}

const placeBytes = 512

export type ReadMark = Mark | 'missing' | 'damaged'

export function readMark(file: string): ReadMark {
  try {
    return newestOf(readFileSync(file))?.mark ?? 'damaged'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
    throw unavailable('read', file, error)
  }
}

/** For one process at a time. Throws UNAVAILABLE. */
export function openMarkFile(file: string): MarkFile {
  const descriptor = attempt('open', file, () => openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600))
  let isOpen = true
  let newest = attempt('read', file, () => newestOf(readFileSync(descriptor)))
  return {
    get mark() {
      return newest?.mark
    },
    write: (mark) => {
      const turn = (newest?.turn ?? 0) + 1
      const bytes = placeOf({ turn, mark })
      attempt('write', file, () => {
        if (!isOpen) throw new Error('it is closed')
        if (fstatSync(descriptor).size < 2 * placeBytes) makeRoom(file, descriptor)
        writeSync(descriptor, bytes, 0, placeBytes, (turn % 2) * placeBytes)
        fdatasyncSync(descriptor)
      })
      newest = { turn, mark }
    },
    close: () => {
      if (isOpen) closeSync(descriptor)
      isOpen = false
    },
  }
}

/** Once, so that no later write needs any. */
function makeRoom(file: string, descriptor: number): void {
  writeSync(descriptor, Buffer.alloc(2 * placeBytes, ' '), 0)
  const directory = openSync(dirname(file), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

interface Place {
  /** The place with the higher one is the newer. */
  readonly turn: number
  readonly mark: Mark
}

function newestOf(bytes: Buffer): Place | undefined {
  const places = [parse(bytes.subarray(0, placeBytes)), parse(bytes.subarray(placeBytes, 2 * placeBytes))]
  return places.filter((place) => place !== undefined).toSorted((a, b) => b.turn - a.turn)[0]
}

/** A line for people too: the checksum, and what it is of. */
function placeOf(place: Place): Buffer {
  const text = JSON.stringify(place)
  return Buffer.from(`${sumOf(text)} ${text}`.padEnd(placeBytes - 1) + '\n')
}

function parse(bytes: Buffer): Place | undefined {
  const [, sum, text = ''] = /^([0-9a-f]{8}) (.*\S) *\n$/.exec(bytes.toString('utf8')) ?? []
  return sum === sumOf(text) ? (parseJson(text) as Place) : undefined
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

function attempt<Result>(verb: string, file: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw unavailable(verb, file, error)
  }
}

function unavailable(verb: string, file: string, cause: unknown): OperatingError {
  return new OperatingError('UNAVAILABLE', `cannot ${verb} ${file}: ${(cause as Error).message}`, { cause })
}
