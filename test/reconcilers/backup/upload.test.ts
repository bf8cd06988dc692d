import { UploadPartCommand, type S3Client } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { s3Archive } from '../../../functions/reconcilers/backup/archive/s3.ts'
import { deadline } from '../postgres/temporary-server.ts'

it.each([
  ['one part', 1],
  ['several parts', 6],
])('ends what makes a dump of %s, such as pg_dump, when S3 refuses it', async (_, chunks) => {
  const client = {
    send: async (command: object) => {
      if (!(command instanceof UploadPartCommand) && chunks > 1) return { UploadId: '1' }
      throw new Error('SlowDown')
    },
  } as unknown as S3Client
  let hasEnded = false
  const content = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (let i = 0; i < chunks; i++) yield Buffer.alloc(10)
    } finally {
      hasEnded = true
    }
  }
  const archive = s3Archive({ client, bucket: 'dumps', prefix: '', partBytes: 10 })
  await expect(archive.write('n/p/a/1.pgdump.gz', content(), deadline())).rejects.toThrow('SlowDown')
  expect(hasEnded).toBe(true)
})
