import { createHash } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3'
import { isNameOfDump, type Archive, type StoredDump } from './archive.ts'

export interface S3ArchiveOptions {
  readonly client: S3Client
  readonly bucket: string
  /** Put before every name; empty, or ending in a slash. */
  readonly prefix: string
  /** Of an upload in parts; S3 takes 5 MiB to 5 GiB, and 10,000 of them. Default 16 MiB, so 160 GB at most. */
  readonly partBytes?: number
}

interface Place {
  readonly client: S3Client
  readonly Bucket: string
  readonly Key: string
}

/**
 * An archive in a bucket. An object of S3 appears whole or not at all; the parts that a crash leaves are invisible, and
 * cost storage until a lifecycle rule (AbortIncompleteMultipartUpload) takes them away.
 */
export function s3Archive({ client, bucket, prefix, partBytes = 16 * 1024 * 1024 }: S3ArchiveOptions): Archive {
  const placeOf = (name: string): Place => ({ client, Bucket: bucket, Key: `${prefix}${name}` })
  return {
    write: async (name, content, signal) => {
      const hash = createHash('sha256')
      let sizeBytes = 0
      const measureContent = async function* () {
        for await (const chunk of content) {
          hash.update(chunk)
          sizeBytes += chunk.length
          yield chunk
        }
      }
      // Where S3 refuses a part, what makes the dump would otherwise wait for its reader for ever.
      await using parts = inParts(measureContent(), partBytes)
      await upload(placeOf(name), parts, signal)
      return { sizeBytes, sha256: hash.digest('hex') }
    },
    list: async (folder, abortSignal) => {
      const dumps: StoredDump[] = []
      const pages = paginateListObjectsV2(
        { client },
        { Bucket: bucket, Prefix: `${prefix}${folder}/` },
        { abortSignal },
      )
      for await (const { Contents = [] } of pages)
        for (const { Key = '', Size = 0, LastModified } of Contents)
          if (isNameOfDump(Key))
            dumps.push({ name: Key.slice(prefix.length), sizeBytes: Size, storedMs: LastModified?.getTime() ?? 0 })
      return dumps
    },
    read: async (name, abortSignal) => {
      const { Body } = await client.send(new GetObjectCommand(keyOf(placeOf(name))), { abortSignal })
      if (Body === undefined) throw new Error(`s3://${bucket}/${prefix}${name} has no body`)
      return Body as unknown as AsyncIterable<Uint8Array>
    },
    remove: async (name, abortSignal) => {
      await client.send(new DeleteObjectCommand(keyOf(placeOf(name))), { abortSignal })
    },
  }
}

function keyOf({ Bucket, Key }: Place): { readonly Bucket: string; readonly Key: string } {
  return { Bucket, Key }
}

/** What fits into one part is one request; more is an upload in parts, given up as a whole when one fails. */
async function upload(place: Place, parts: AsyncIterator<Buffer>, abortSignal: AbortSignal): Promise<void> {
  const first = await parts.next()
  const second = await parts.next()
  if (second.done === true) {
    const Body = first.done === true ? Buffer.alloc(0) : first.value
    await place.client.send(new PutObjectCommand({ ...keyOf(place), Body }), { abortSignal })
    return
  }
  const { UploadId } = await place.client.send(new CreateMultipartUploadCommand(keyOf(place)), { abortSignal })
  const target = { ...keyOf(place), UploadId }
  try {
    const Parts: CompletedPart[] = []
    for (let next: IteratorResult<Buffer> = first; next.done !== true;) {
      const PartNumber = Parts.length + 1
      const part = new UploadPartCommand({ ...target, PartNumber, Body: next.value })
      const { ETag } = await place.client.send(part, { abortSignal })
      Parts.push({ PartNumber, ETag })
      next = PartNumber === 1 ? second : await parts.next()
    }
    await place.client.send(new CompleteMultipartUploadCommand({ ...target, MultipartUpload: { Parts } }), {
      abortSignal,
    })
  } catch (error) {
    // Not by the same signal: it may be what ended us. If this fails, too, the bucket's lifecycle rule cleans up.
    await place.client.send(new AbortMultipartUploadCommand(target)).catch(() => {})
    throw error
  }
}

async function* inParts(content: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Buffer> {
  let chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < partBytes) continue
    yield Buffer.concat(chunks)
    chunks = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(chunks)
}
