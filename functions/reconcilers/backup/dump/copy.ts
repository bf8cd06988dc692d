import { once } from 'node:events'
import type { Connection, Submittable } from 'pg'

/**
 * COPY by the extension point that the driver has for it (`Submittable`): it calls the `handle…` methods with the
 * messages of the protocol (PostgreSQL manual, "Message Flow", COPY Operations).
 */

/** What the driver's connection can do beyond its published type. */
interface CopyConnection extends Connection {
  sendCopyFromChunk(chunk: Uint8Array): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

/** What becomes of an error of the server's, or of the connection. */
type Failed = (error: unknown) => never

/** Bytes that may wait for the reader before the server is asked to pause. */
const highWaterBytes = 1024 * 1024

/** `COPY … TO STDOUT`. */
export class CopyOut implements Submittable {
  readonly #statement: string
  readonly #failed: Failed
  #connection: Connection | undefined
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #end: { readonly error?: Error } | undefined
  #abandoned = false
  #wake = (): void => {}

  constructor(statement: string, failed: Failed) {
    this.#statement = statement
    this.#failed = failed
  }

  submit(connection: Connection): void {
    this.#connection = connection
    connection.query(this.#statement)
  }

  /** The data in order. A reader that is slow slows the server: memory stays flat. */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      yield* this.#untilEnd()
    } finally {
      // A reader that stops early leaves nothing paused: the connection could not even be closed.
      this.#abandoned = true
      this.#connection?.stream.resume()
    }
  }

  async *#untilEnd(): AsyncGenerator<Buffer> {
    for (;;) {
      const [chunks, end] = [this.#waiting, this.#end]
      this.#waiting = []
      this.#waitingBytes = 0
      this.#connection?.stream.resume()
      // Each row is a message of its own: handed on together, or every row would pass through all that comes after.
      if (chunks.length > 0) yield Buffer.concat(chunks)
      if (this.#waiting.length > 0) continue
      if (end?.error !== undefined) this.#failed(end.error)
      if (end !== undefined) return
      if (this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.#abandoned) return
    // The driver's parser writes the next message over this one.
    this.#waiting.push(Buffer.from(chunk))
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes > highWaterBytes) this.#connection?.stream.pause()
    this.#wake()
  }

  handleError(error: Error): void {
    this.#finish({ error })
  }

  handleReadyForQuery(): void {
    this.#finish({})
  }

  handleCommandComplete(): void {}

  #finish(end: { readonly error?: Error }): void {
    this.#end ??= end
    this.#wake()
  }
}

/** `COPY … FROM STDIN`. */
export class CopyIn implements Submittable {
  readonly #statement: string
  readonly #failed: Failed
  readonly #started = Promise.withResolvers<CopyConnection>()
  readonly #ended = Promise.withResolvers<void>()

  constructor(statement: string, failed: Failed) {
    this.#statement = statement
    this.#failed = failed
  }

  submit(connection: Connection): void {
    connection.query(this.#statement)
  }

  async feed(data: AsyncIterable<Uint8Array>): Promise<void> {
    // A refusal may come at any time, and is what `feed` ends with.
    this.#started.promise.catch(() => {})
    this.#ended.promise.catch(() => {})
    const connection = await this.#started.promise.catch(this.#failed)
    try {
      for await (const chunk of data) {
        connection.sendCopyFromChunk(chunk)
        if (connection.stream.writableNeedDrain)
          await Promise.race([once(connection.stream, 'drain'), this.#ended.promise.catch(this.#failed)])
      }
      connection.endCopyFrom()
    } catch (error) {
      connection.sendCopyFail('the data could not be read')
      throw error
    }
    await this.#ended.promise.catch(this.#failed)
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#started.resolve(connection)
  }

  handleError(error: Error): void {
    this.#started.reject(error)
    this.#ended.reject(error)
  }

  handleReadyForQuery(): void {
    this.#ended.resolve()
  }

  handleCommandComplete(): void {}
}
