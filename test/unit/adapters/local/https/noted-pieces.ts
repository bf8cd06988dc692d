import { once } from 'node:events'
import { createReadStream, type ReadStream } from 'node:fs'

/** A body of pieces that notes how many were taken, and that it was given back. */
export function notedPieces(...all: readonly (string | Uint8Array)[]) {
  const told = { taken: 0, returned: 0 }
  const iterator: AsyncIterator<string | Uint8Array> = {
    next: async () => {
      const value = all[told.taken]
      if (value === undefined) return { done: true, value }
      told.taken++
      return { done: false, value }
    },
    return: async () => {
      told.returned++
      return { done: true, value: undefined }
    },
  }
  return { told, body: { [Symbol.asyncIterator]: () => iterator } }
}

/** A body that has a file open. */
export async function openBody(): Promise<ReadStream> {
  const body = createReadStream(import.meta.filename)
  await once(body, 'open')
  return body
}
