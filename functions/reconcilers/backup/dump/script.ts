import { createHash } from 'node:crypto'
import * as z from 'zod'

/**
 * A dump is a script of SQL that psql can run: `gunzip -c FILE | psql -1 -v ON_ERROR_STOP=1 -d URL`. Comments tell a
 * reader without a parser for SQL where each statement ends, and that the end has not been lost:
 *
 *   -- setpoint dump 1 {"database":"orders",…}     the first line
 *   -- setpoint statement 52                       so many bytes of SQL follow, then a semicolon and a new line
 *   -- setpoint copy 43                            the same, and after it the data, up to the line `\.`
 *   -- setpoint end sha256 5d4e…                   the last line: of all that stands before it
 *
 * What `pg_dump` wrote, in its own format, stands between a first line with a 2 and the same last line, as it is:
 * `gunzip -c FILE | tail -n +2 | pg_restore -1 --no-owner -d URL`.
 */
export type ScriptPart =
  | { readonly statement: string }
  | { readonly copy: string; readonly data: AsyncIterable<Uint8Array> }

/** What stands in the first line. */
export interface DumpHeader {
  readonly database: string
  /** Of the server. */
  readonly version: string
  readonly takenAt: string
  /** What the database has and the dump has not, in words. */
  readonly leftOut: readonly string[]
  /** Left out where the script is ours. */
  readonly tool?: ToolMark
}

/** Who made the dump, and what a database must have to take it. */
export interface ToolMark {
  readonly program: 'pg_dump'
  readonly version: string
  readonly extensions: readonly string[]
  /** Tables of extensions, with rows that users put there. */
  readonly extensionTables: readonly string[]
}

/** Our script as bytes, with its digest at the end. */
export function writeScript(header: DumpHeader, parts: AsyncIterable<ScriptPart>): AsyncGenerator<Uint8Array> {
  return withEnds(`${mark}dump 1 ${JSON.stringify(header)}\n`, bodyOf(parts))
}

/** The same of what a program wrote: `body` is taken as it is. */
export function writeToolScript(
  header: DumpHeader & { readonly tool: ToolMark },
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  return withEnds(`${mark}dump 2 ${JSON.stringify(header)}\n`, body)
}

async function* withEnds(firstLine: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256').update(firstLine)
  yield Buffer.from(firstLine)
  for await (const bytes of body) {
    hash.update(bytes)
    yield bytes
  }
  yield Buffer.from(lastLine(hash.digest('hex')))
}

const mark = '-- setpoint '

function lastLine(digest: string): string {
  return `${mark}end sha256 ${digest}\n`
}

async function* bodyOf(parts: AsyncIterable<ScriptPart>): AsyncGenerator<Uint8Array> {
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

/** Reads a script back. `header` first; then what follows, by who wrote it. */
export interface ScriptReader {
  header(): Promise<DumpHeader>
  /**
   * Of our script; each part must be read to its end before the next. Ends only where the script's end stands, and its
   * digest is right; throws a ScriptError otherwise.
   */
  parts(): AsyncGenerator<ScriptPart>
  /** Of a script that a program wrote: the same promise about its end. */
  body(): AsyncGenerator<Uint8Array>
}

export function readScript(content: AsyncIterable<Uint8Array>): ScriptReader {
  const source = createSource(content)
  return {
    header: async () => {
      const [, version, json = ''] = /^-- setpoint dump (\d+) (.*)$/.exec(await source.line()) ?? []
      if (version !== '1' && version !== '2')
        throw new ScriptError('this is not a dump of Setpoint in a version that is known here')
      return readHeader(version, json)
    },
    body: () => readBody(source),
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

const texts = z.array(z.string())
const headerSchema = z.object({
  database: z.string(),
  version: z.string(),
  takenAt: z.string(),
  leftOut: texts,
  tool: z
    .object({
      program: z.literal('pg_dump'),
      version: z.string().regex(/^\d+\.\d+$/),
      extensions: texts,
      extensionTables: texts,
    })
    .exactOptional(),
})

/** A dump of version 2 is one that a program made. */
function readHeader(version: string, json: string): DumpHeader {
  try {
    const header = headerSchema.parse(JSON.parse(json))
    if ((header.tool !== undefined) === (version === '2')) return header
  } catch (cause) {
    throw new ScriptError('the dump is damaged: its first line cannot be read', { cause })
  }
  throw new ScriptError('the dump is damaged: its first line does not say who made it')
}

/** Of the first line, and of each that begins a statement. */
const lineBytesMax = 1024 * 1024

/**
 * Everything but the last line, which is always as long as this one. The last portion is handed on only when the digest
 * has been found to be right: a reader that needs all of it is not done before.
 */
async function* readBody(source: ReturnType<typeof createSource>): AsyncGenerator<Uint8Array> {
  const endBytes = lastLine('0'.repeat(64)).length
  yield* source.allBut(endBytes + lastPortionBytes)
  const last = source.takeAllBut(endBytes)
  const digest = source.digest()
  const said = source.takeAllBut(0).toString()
  if (!said.startsWith(`${mark}end sha256 `)) throw new ScriptError('the dump is cut off: its end is not there')
  if (said !== lastLine(digest)) throw new ScriptError('the dump is damaged: its digest is not that of its content')
  if (last.length > 0) yield last
}

const lastPortionBytes = 1024

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
    while (!held.includes(10)) {
      if (held.length > lineBytesMax) throw new ScriptError('this is not a dump of Setpoint: its first line has no end')
      await more()
    }
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

  /** All but the last so many bytes, as they come. */
  async function* allBut(bytes: number): AsyncGenerator<Buffer> {
    for (let next: IteratorResult<Uint8Array> | undefined; next?.done !== true; next = await chunks.next()) {
      if (next !== undefined) held = Buffer.concat([held, next.value])
      if (held.length > bytes) yield take(held.length - bytes)
    }
  }

  const takeAllBut = (bytes: number): Buffer => take(Math.max(0, held.length - bytes))

  return { line, statement, copyData, allBut, takeAllBut, expectEnd, digest: () => hash.copy().digest('hex') }
}
