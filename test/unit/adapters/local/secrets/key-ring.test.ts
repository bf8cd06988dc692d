import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createKey, readKeyRing, writeKeyRing } from '../../../../../shared/adapters/local/secrets/key-ring.ts'
import { recordDiskCalls } from '../../../../support/disk-calls.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

const directory = temporaryDirectory('keys')
afterAll(() => directory[Symbol.dispose]())
const file = join(directory.path, 'secrets.key')

const line = (bytes: number, fill = 7): string => `${Buffer.alloc(bytes, fill).toString('base64')}\n`
const idsIn = (text: string): unknown => {
  fs.writeFileSync(file, text)
  const keys = readKeyRing(file)
  return typeof keys === 'string' ? keys : keys.map(({ id, bytes }) => `${id} of ${bytes.length}`)
}

it.each<[string, string, unknown]>([
  ['a key', line(32), ['4bb06f8e of 32']],
  ['two keys, the one that encrypts first', line(32) + line(32, 8), ['4bb06f8e of 32', '2578ccf8 of 32']],
  ['empty lines', `\n${line(32)}\n\n`, ['4bb06f8e of 32']],
  ['nothing', '', 'damaged'],
  ['a key that is cut', line(31), 'damaged'],
  ['a key that is too long', line(33), 'damaged'],
  ['a second key that is cut', line(32) + line(16), 'damaged'],
])('a file with %s is read: %#', (_what, text, expected) => expect(idsIn(text)).toEqual(expected))

it('a file that is not there has no keys', () => expect(readKeyRing(join(directory.path, 'none'))).toBe('missing'))

it('each key is another one, and is read as it was written, by its owner alone', () => {
  const keys = [createKey(), createKey()] as const
  writeKeyRing(file, keys)
  expect(readKeyRing(file)).toEqual(keys)
  expect(keys[0].bytes.equals(keys[1].bytes)).toBe(false)
  expect((fs.statSync(file).mode & 0o777).toString(8)).toBe('600')
})

it('is on disk when it is written, its name too, and nothing stays open', () => {
  const { did, left } = recordDiskCalls(directory.path, () => writeKeyRing(file, [createKey()]))
  expect(did).toEqual([expect.stringMatching(/^sync \/secrets\.key\.\d+\.[0-9a-f]{8}\.tmp$/), 'rename', 'sync '])
  expect(left).toBe(0)
})
