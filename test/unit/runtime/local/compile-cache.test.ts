import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findOwnDirectory } from '../../../../shared/runtime/local/compile-cache.ts'
import { temporaryDirectory, type TemporaryDirectory } from '../../../support/temporary-directory.ts'

let parent: TemporaryDirectory
let own: string
beforeEach(() => {
  parent = temporaryDirectory('compiled')
  own = join(parent.path, `setpoint-compiled-${process.getuid?.() ?? ''}`)
})
afterEach(() => parent[Symbol.dispose]())

describe.skipIf(process.getuid === undefined)(
  'what Node has compiled',
  { meta: { skipped: 'it is about POSIX' } },
  () => {
    it('is kept in a directory that nobody else may look into, in one of everybody', () => {
      chmodSync(parent.path, 0o1777)
      expect([findOwnDirectory(parent.path), findOwnDirectory(parent.path)]).toEqual([own, own])
      expect(statSync(own).mode & 0o777).toBe(0o700)
    })

    it.each<[string, () => void]>([
      [
        'a directory that others may write',
        () => {
          mkdirSync(own)
          chmodSync(own, 0o777)
        },
      ],
      [
        'a link',
        () => {
          mkdirSync(join(parent.path, 'other'))
          symlinkSync('other', own)
        },
      ],
      ['a file', () => writeFileSync(own, '')],
    ])('is not kept where there is %s', (_what, make) => {
      make()
      expect(findOwnDirectory(parent.path)).toBeUndefined()
    })

    it('is not kept where others may put a directory in the place of ours', () => {
      chmodSync(parent.path, 0o777)
      expect(findOwnDirectory(parent.path)).toBeUndefined()
    })

    it('is not kept where there is no place', () => {
      expect(findOwnDirectory(join(parent.path, 'nowhere'))).toBeUndefined()
    })

    it.skipIf(process.getuid?.() !== 0)(
      'is not kept in a directory of another account',
      { meta: { skipped: 'only root gives directories away' } },
      () => {
        mkdirSync(own, { mode: 0o700 })
        chownSync(own, 65_534, 65_534)
        expect(findOwnDirectory(parent.path)).toBeUndefined()
      },
    )
  },
)
