import { chownSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeKubeconfig } from '../../../../shared/adapters/local/https/kubeconfig.ts'
import { openUsers } from '../../../../shared/runtime/local/users.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

const directory = temporaryDirectory('people')
afterAll(() => directory[Symbol.dispose]())
let count = 0

/** A data directory that was started with a certificate of this name. */
function startedWith(name: string): string {
  const path = join(directory.path, String(count++))
  mkdirSync(path)
  writeKubeconfig(join(path, 'kubeconfig'), 'https://127.0.0.1:8443', { authority: undefined, token: 't', name })
  return path
}

describe('a person', () => {
  it.each([
    ['setpoint.example.com', 'https://setpoint.example.com:8443'],
    ['192.0.2.7', 'https://192.0.2.7:8443'],
    ['[2001:db8::7]', 'https://[2001:db8::7]:8443'],
  ])('calls a server of the name %s by it', (name, server) => {
    const path = startedWith(name)
    openUsers(path).add('alice', [], join(path, 'alice.kubeconfig'))
    expect(readFileSync(join(path, 'alice.kubeconfig'), 'utf8')).toContain(`server: ${server}\n`)
  })

  it.skipIf(process.getuid?.() !== 0)(
    'is let in though root has written the file of users: it is for the account of the control plane',
    { meta: { skipped: 'only root gives files away' } },
    () => {
      const path = startedWith('localhost')
      chownSync(path, 65_534, 65_533)
      const users = openUsers(path)
      const owner = () => {
        const { uid, gid, mode } = statSync(join(path, 'users'))
        return [uid, gid, mode & 0o777]
      }
      users.add('alice', [], join(path, 'alice.kubeconfig'))
      expect(owner()).toEqual([65_534, 65_533, 0o600])
      expect(() => users.rotate('alice', join(path, 'nowhere', 'alice.kubeconfig'))).toThrow('cannot write')
      expect(owner()).toEqual([65_534, 65_533, 0o600])
    },
  )

  it('has another token in the place of the one of before, and not in that of another kubeconfig', () => {
    const path = startedWith('localhost')
    const [own, other] = [join(path, 'alice.kubeconfig'), join(path, 'config')]
    const users = openUsers(path)
    users.add('alice', [], own)
    const before = readFileSync(own, 'utf8')
    users.rotate('alice', own)
    expect(readFileSync(own, 'utf8')).not.toBe(before)
    writeFileSync(other, 'apiVersion: v1\nkind: Config\nclusters:\n  - name: production\n')
    const kept = [readFileSync(join(path, 'users'), 'utf8'), readFileSync(other, 'utf8')]
    const message = `${other} is there already, and is no kubeconfig of ours: name another file (--out)`
    expect(() => users.rotate('alice', other)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', message }))
    expect([readFileSync(join(path, 'users'), 'utf8'), readFileSync(other, 'utf8')]).toEqual(kept)
  })

  it('is told in a line why the control plane cannot be found', () => {
    const path = startedWith('localhost')
    rmSync(join(path, 'kubeconfig'))
    expect(() => openUsers(path)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
    mkdirSync(join(path, 'kubeconfig'))
    const message = expect.stringContaining(`cannot read ${join(path, 'kubeconfig')}: EISDIR`)
    expect(() => openUsers(path)).toThrow(expect.objectContaining({ code: 'UNAVAILABLE', message }))
  })
})
