import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { buildApp } from 'fauxqs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Archive } from '../../../functions/reconcilers/backup/archive/archive.ts'
import { directoryArchive } from '../../../functions/reconcilers/backup/archive/directory.ts'
import { archiveAt } from '../../../functions/reconcilers/backup/archive/location.ts'
import { s3Archive } from '../../../functions/reconcilers/backup/archive/s3.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { deadline } from '../postgres/temporary-server.ts'

const directory = temporaryDirectory('archive')
const server = buildApp({ logger: false })
let client: S3Client
let url: string

beforeAll(async () => {
  const endpoint = (url = await server.listen({ host: '127.0.0.1', port: 0 }))
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  await client.send(new CreateBucketCommand({ Bucket: 'dumps' }))
})
afterAll(async () => {
  client.destroy()
  await server.close()
  directory[Symbol.dispose]()
})

// The smallest part that S3 takes, so that three of them are not much.
const partBytes = 5 * 1024 * 1024

const archives: Readonly<Record<string, () => Archive>> = {
  directory: () => directoryArchive(join(directory.path, 'dumps')),
  bucket: () => s3Archive({ client, bucket: 'dumps', prefix: 'a/', partBytes }),
}

async function* bytes(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function* failing(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 12; i++) yield randomBytes(1024 * 1024)
  throw new Error('the database went away')
}

async function read(archive: Archive, name: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await archive.read(name, deadline())) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const names = async (archive: Archive, folder: string) =>
  (await archive.list(folder, deadline())).map(({ name }) => name)

describe.each(Object.entries(archives))('an archive in a %s', (_, open) => {
  it.each([0, 10, partBytes, partBytes * 2 + 1])(
    'gives back the %i bytes it was given, with their digest',
    async (size) => {
      const archive = open()
      const content = randomBytes(size)
      const name = `default/sizes/orders/${size}.sql.gz`
      const receipt = await archive.write(
        name,
        bytes(content.subarray(0, size >> 1), content.subarray(size >> 1)),
        deadline(),
      )
      expect(receipt).toEqual({ sizeBytes: size, sha256: createHash('sha256').update(content).digest('hex') })
      expect((await read(archive, name)).equals(content)).toBe(true)
      const [found] = (await archive.list('default/sizes', deadline())).filter((one) => one.name === name)
      expect(found).toMatchObject({ sizeBytes: size })
      expect(Math.abs((found?.storedMs ?? 0) - Date.now())).toBeLessThan(60_000)
    },
  )

  it('lists a folder and what is below, and nothing that only begins like it', async () => {
    const archive = open()
    for (const name of ['n/p/a/2.sql.gz', 'n/p/b/1.sql.gz', 'n/pp/a/1.sql.gz', 'n/p/a/note.txt'])
      await archive.write(name, bytes(Buffer.from('x')), deadline())
    expect(await names(archive, 'n/p')).toEqual(['n/p/a/2.sql.gz', 'n/p/b/1.sql.gz'])
    expect(await names(archive, 'n/none')).toEqual([])
  })

  it('stores nothing of a dump that fails on the way, and keeps the one that was there', async () => {
    const archive = open()
    await expect(archive.write('default/f/orders/1.sql.gz', failing(), deadline())).rejects.toThrow('went away')
    expect(await names(archive, 'default/f')).toEqual([])
    await archive.write('default/f/orders/1.sql.gz', bytes(Buffer.from('old')), deadline())
    await expect(archive.write('default/f/orders/1.sql.gz', failing(), deadline())).rejects.toThrow('went away')
    expect((await read(archive, 'default/f/orders/1.sql.gz')).toString()).toBe('old')
  })

  it('removes, also what is not there', async () => {
    const archive = open()
    await archive.write('r/p/a/1.sql.gz', bytes(Buffer.from('x')), deadline())
    await archive.remove('r/p/a/1.sql.gz', deadline())
    await archive.remove('r/p/a/1.sql.gz', deadline())
    expect(await names(archive, 'r/p')).toEqual([])
  })
})

describe('an archive in a directory', () => {
  it('is for the eyes of its account alone, and clears away what a crash left a day ago', async () => {
    const archive = directoryArchive(join(directory.path, 'private'))
    await archive.write('n/p/a/1.sql.gz', bytes(Buffer.from('x')), deadline())
    const folder = join(directory.path, 'private/n/p/a')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, '1.sql.gz')).mode & 0o777).toBe(0o600)
    for (const [name, hours] of [
      ['old', 25],
      ['young', 1],
    ] as const) {
      const file = join(folder, `.${name}.sql.gz.partial`)
      writeFileSync(file, '')
      const seconds = Date.now() / 1000 - hours * 3600
      utimesSync(file, seconds, seconds)
    }
    await archive.write('n/p/a/2.sql.gz', bytes(Buffer.from('x')), deadline())
    expect(readdirSync(folder).sort()).toEqual(['.young.sql.gz.partial', '1.sql.gz', '2.sql.gz'])
    expect(await names(archive, 'n')).toHaveLength(2)
  })
})

describe('an archive in a bucket', () => {
  it('leaves no upload open that failed', async () => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'dumps' }))
    expect(Uploads).toEqual([])
  })
})

describe('a location', () => {
  it('is a directory', async () => {
    const archive = archiveAt(join(directory.path, 'at'))
    await archive.write('n/p/a/1.sql.gz', bytes(Buffer.from('x')), deadline())
    expect(await names(archive, 'n')).toEqual(['n/p/a/1.sql.gz'])
  })

  it.each(['s3:/dumps', 's3://', 'S3://dumps', 'https://dumps.s3.amazonaws.com/'])('is not %s', (location) => {
    const message = `${location} is not a place for dumps: give s3://bucket/prefix, or a directory (BACKUP_ARCHIVE)`
    expect(() => archiveAt(location)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', message }))
  })

  it.skipIf(!existsSync('/proc/self'))(
    'fails where the system lets nobody make a directory',
    { meta: { skipped: 'this system has no /proc' } },
    async () => {
      const written = archiveAt('/proc/setpoint/dumps').write('n/p/a/1.sql.gz', bytes(Buffer.from('x')), deadline())
      await expect(written).rejects.toThrow("ENOENT: no such file or directory, mkdir '/proc/setpoint'")
    },
  )

  it.each(['s3://dumps/deep/er', 's3://dumps/deep/er/'])('is a bucket with a prefix: %s', async (location) => {
    const environment = {
      AWS_ENDPOINT_URL_S3: url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
    }
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const archive = archiveAt(location)
    await archive.write('n/p/a/1.sql.gz', bytes(Buffer.from('x')), deadline())
    expect(await names(archive, 'n')).toEqual(['n/p/a/1.sql.gz'])
    const whole = s3Archive({ client, bucket: 'dumps', prefix: '' })
    expect(await names(whole, 'deep')).toEqual(['deep/er/n/p/a/1.sql.gz'])
    vi.unstubAllEnvs()
  })

  it('that nobody gave stops what needs it, with what to do', async () => {
    await expect(archiveAt().list('n', deadline())).rejects.toMatchObject({ reason: 'NoArchive' })
  })
})
