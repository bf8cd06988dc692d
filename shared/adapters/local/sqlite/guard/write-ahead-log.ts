import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'

/**
 * What a write-ahead log says of its own damage. SQLite reads it up to the first frame that does not fit, and passes
 * over the rest in silence, as is right for a commit that a crash cut off.
 */
export type LogState =
  /** No file, or nothing in it. */
  | 'none'
  /** Its head is damaged: SQLite reads nothing of it. */
  | 'unreadable'
  /** Commits that were on disk lie behind damage: SQLite does not reach them. */
  | 'broken'
  /** Nothing speaks against it. Of its last commit nobody can tell damage from a commit that was not finished. */
  | 'whole'

/** Where the log of a database is: SQLite puts it beside the file itself, and not beside a link to it. */
export function nameLogFile(file: string): string {
  return `${realFile(file)}-wal`
}

/** The same of the index of the log, which is made anew at any time. */
export function nameIndexFile(file: string): string {
  return `${realFile(file)}-shm`
}

function realFile(file: string): string {
  return existsSync(file) ? realpathSync(file) : file
}

export function readLogState(file: string): LogState {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return size === 0 ? 'none' : judgeLog(readFileSync(file))
}

/** https://www.sqlite.org/fileformat2.html#walformat */
const headBytes = 32
const frameHeadBytes = 24
const bigEndianMagic = 0x377f0683
const littleEndianMagic = 0x377f0682

/**
 * A commit ends with a frame that says so, and the next is written only when that one is on disk. The checksum of a
 * frame goes on from the one before it. So a frame that fits onto the end of a commit proves that this commit was on
 * disk, and if the log does not read that far, something acknowledged is lost.
 */
function judgeLog(bytes: Buffer): LogState {
  const log = headOf(bytes)
  if (log === undefined) return 'unreadable'
  let sum: Sum = log.sum
  let isReadable = true
  let isEndOfCommit = false
  for (let at = headBytes; at + log.frameBytes <= bytes.length; at += log.frameBytes) {
    const stored = sumAt(bytes, at + 16)
    const fits = isOfLog(bytes, at, log) && isSame(sumOfFrame(bytes, at, { log, from: sum }), stored)
    if (!fits) isReadable = false
    else if (!isReadable && isEndOfCommit) return 'broken'
    isEndOfCommit = isOfLog(bytes, at, log) && bytes.readUInt32BE(at + 4) !== 0
    sum = stored
  }
  return 'whole'
}

type Sum = readonly [number, number]

interface LogHead {
  readonly isBigEndian: boolean
  readonly frameBytes: number
  /** Of this use of the file; frames of an earlier one have another. */
  readonly salt: Sum
  readonly sum: Sum
}

function headOf(bytes: Buffer): LogHead | undefined {
  if (bytes.length < headBytes) return undefined
  const magic = bytes.readUInt32BE(0)
  if (magic !== bigEndianMagic && magic !== littleEndianMagic) return undefined
  const isBigEndian = magic === bigEndianMagic
  const sum = sumAt(bytes, 24)
  if (!isSame(sumOf(bytes.subarray(0, 24), { isBigEndian, from: [0, 0] }), sum)) return undefined
  return { isBigEndian, frameBytes: frameHeadBytes + bytes.readUInt32BE(8), salt: sumAt(bytes, 16), sum }
}

function sumAt(bytes: Buffer, at: number): Sum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
}

function isSame(one: Sum, other: Sum): boolean {
  return one[0] === other[0] && one[1] === other[1]
}

function isOfLog(bytes: Buffer, at: number, { salt }: LogHead): boolean {
  return isSame(sumAt(bytes, at + 8), salt)
}

/** Of the first half of a frame's head, and of its page. */
function sumOfFrame(bytes: Buffer, at: number, { log, from }: { readonly log: LogHead; readonly from: Sum }): Sum {
  const { isBigEndian, frameBytes } = log
  const head = sumOf(bytes.subarray(at, at + 8), { isBigEndian, from })
  return sumOf(bytes.subarray(at + frameHeadBytes, at + frameBytes), { isBigEndian, from: head })
}

function sumOf(bytes: Buffer, { isBigEndian, from }: { readonly isBigEndian: boolean; readonly from: Sum }): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let [one, other] = from
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + view.getUint32(at, !isBigEndian) + other) | 0
    other = (other + view.getUint32(at + 4, !isBigEndian) + one) | 0
  }
  return [one >>> 0, other >>> 0]
}
