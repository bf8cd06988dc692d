import { OperatingError, stop } from '../../../../shared/index.ts'
import { directoryArchive } from './directory.ts'
import type { Archive } from './archive.ts'

/**
 * The archive at `s3://bucket/prefix`, or in a directory. S3 is reached as the standard AWS variables say. Without a
 * location every use of it stops the object that needs it, with what to do. Throws BAD_REQUEST for another URL, or half
 * of one.
 */
export function archiveAt(location?: string): Archive {
  if (location === undefined) return noArchive
  const match = /^s3:\/\/([^/]+)\/?(.*)$/.exec(location)
  if (match === null && /^[a-z][a-z0-9+.-]+:/i.test(location))
    throw new OperatingError(
      'BAD_REQUEST',
      `${location} is not a place for dumps: give s3://bucket/prefix, or a directory (BACKUP_ARCHIVE)`,
    )
  if (match === null) return directoryArchive(location)
  const [, bucket = '', path = ''] = match
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`
  return lazily(async () => {
    // Loaded when it is used: it would slow every start of a control plane that keeps its dumps in a directory.
    const { S3Client } = await import('@aws-sdk/client-s3')
    const { s3Archive } = await import('./s3.ts')
    // What is virtual-hosted at AWS is a path at most other servers that speak S3.
    const forcePathStyle =
      process.env['AWS_ENDPOINT_URL_S3'] !== undefined || process.env['AWS_ENDPOINT_URL'] !== undefined
    return s3Archive({ client: new S3Client({ forcePathStyle }), bucket, prefix })
  })
}

const failWithoutArchive = async (): Promise<never> => {
  throw stop(
    'NoArchive',
    'no place for dumps is configured: set BACKUP_ARCHIVE to s3://bucket/prefix or to a directory',
  )
}
const noArchive: Archive = {
  write: failWithoutArchive,
  list: failWithoutArchive,
  read: failWithoutArchive,
  remove: failWithoutArchive,
}

function lazily(open: () => Promise<Archive>): Archive {
  let opened: Promise<Archive> | undefined
  const archive = (): Promise<Archive> => (opened ??= open())
  return {
    write: async (...given) => (await archive()).write(...given),
    list: async (...given) => (await archive()).list(...given),
    read: async (...given) => (await archive()).read(...given),
    remove: async (...given) => (await archive()).remove(...given),
  }
}
