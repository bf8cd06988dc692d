import { createHash } from 'node:crypto'

/**
 * A dump is a script of SQL that psql can run: `gunzip -c FILE | psql -1 -v ON_ERROR_STOP=1 -d URL`. Comments tell a
 * reader without a parser for SQL where each statement ends, and that the end has not been lost:
 *
 *   -- setpoint dump 1 {"database":"orders",…}     the first line
 *   -- setpoint statement 52                       so many bytes of SQL follow, then a semicolon and a new line
 *   -- setpoint copy 43                            the same, and after it the data, up to the line `\.`
 *   -- setpoint end sha256 5d4e…                   the last line: of all that stands before it
 */
export type ScriptPart =
  { readonly statement: string } | { readonly copy: string; readonly data: AsyncIterable<Uint8Array> }

/** What stands in the first line. */
export interface DumpHeader {
  readonly database: string
  /** Of the server. */
  readonly version: string
  readonly takenAt: string
  /** What the database has and the dump has not, in words. */
  readonly leftOut: readonly string[]
}

/** The script as bytes, with its digest at the end. */
export async function* writeScript(header: DumpHeader, parts: AsyncIterable<ScriptPart>): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const bytes of bodyOf(header, parts)) {
    hash.update(bytes)
    yield bytes
  }
  yield Buffer.from(`${mark}end sha256 ${hash.digest('hex')}\n`)
}

const mark = '-- setpoint '

async function* bodyOf(header: DumpHeader, parts: AsyncIterable<ScriptPart>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${mark}dump 1 ${JSON.stringify(header)}\n`)
  for await (const part of parts) {
    if ('statement' in part) yield frame('statement', part.statement)
    else {
      yield frame('copy', part.copy)
      yield* part.data
      yield Buffer.from('\\.\n')
    }
  }
}

function frame(what: 'statement' | 'copy', sql: string): Uint8Array {
  return Buffer.from(`${mark}${what} ${Buffer.byteLength(sql)}\n${sql};\n`)
}

/** A script that cannot be trusted: cut off, altered, or not ours. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
}

/** Reads a script back. `header` first; then the parts, each of which must be read to its end before the next. */
export interface ScriptReader {
  header(): Promise<DumpHeader>
  /** Ends only where the script's end stands, and its digest is right; throws a ScriptError otherwise. */
  parts(): AsyncGenerator<ScriptPart>
}

export function readScript(content: AsyncIterable<Uint8Array>): ScriptReader {
  const source = createSource(content)
  return {
    header: async () => {
      const [, version, json = ''] = /^-- setpoint dump (\d+) (.*)$/.exec(await source.line()) ?? []
      if (version !== '1') throw new ScriptError('this is not a dump of Setpoint in a version that is known here')
      return JSON.parse(json) as DumpHeader
    },
    async *parts() {
      for (;;) {
        const digest = source.digest()
        const [, what, rest = ''] = /^-- setpoint (statement|copy|end) (.*)$/.exec(await source.line()) ?? []
        if (what === undefined)
          throw new ScriptError('the dump is damaged: a line that begins a statement is not there')
        if (what === 'end') return source.expectEnd(rest, `sha256 ${digest}`)
        const sql = await source.statement(Number(rest))
        if (what === 'statement') yield { statement: sql }
        else yield { copy: sql, data: source.copyData() }
      }
    },
  }
}

const endOfData = Buffer.from('\n\\.\n')

/** The bytes of a script, in portions of what is asked for. */
function createSource(content: AsyncIterable<Uint8Array>) {
  const chunks = content[Symbol.asyncIterator]()
  const hash = createHash('sha256')
  let held: Buffer = Buffer.alloc(0)

  const more = async (): Promise<void> => {
    const { done, value } = await chunks.next()
    if (done === true) throw new ScriptError('the dump is cut off: its end is not there')
    held = held.length === 0 ? Buffer.from(value) : Buffer.concat([held, value])
  }
  const take = (bytes: number): Buffer => {
    const taken = held.subarray(0, bytes)
    held = held.subarray(bytes)
    hash.update(taken)
    return taken
  }

  const line = async (): Promise<string> => {
    while (!held.includes(10)) await more()
    return take(held.indexOf(10) + 1)
      .toString()
      .slice(0, -1)
  }

  const statement = async (bytes: number): Promise<string> => {
    while (held.length < bytes + 2) await more()
    const text = take(bytes).toString()
    if (take(2).toString() !== ';\n')
      throw new ScriptError('the dump is damaged: a statement does not end where it should')
    return text
  }

  /** Up to the line `\.`, which no row can be: COPY writes a backslash as two. */
  async function* copyData(): AsyncGenerator<Buffer> {
    while (held.length < 3) await more()
    if (held.subarray(0, 3).equals(endOfData.subarray(1))) return void take(3)
    for (;;) {
      const at = held.indexOf(endOfData)
      if (at >= 0) {
        yield take(at + 1)
        return void take(3)
      }
      if (held.length > 3) yield take(held.length - 3)
      await more()
    }
  }

  const expectEnd = async (said: string, found: string): Promise<void> => {
    if (said !== found) throw new ScriptError('the dump is damaged: its digest is not that of its content')
    if (held.length > 0 || (await chunks.next()).done !== true) throw new ScriptError('the dump goes on after its end')
  }

  return { line, statement, copyData, expectEnd, digest: () => hash.copy().digest('hex') }
}
