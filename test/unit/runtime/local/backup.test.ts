import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writeKubeconfig } from '../../../../shared/adapters/local/https/kubeconfig.ts'
import { openGuardedDatabase } from '../../../../shared/adapters/local/sqlite/guard/guarded-database.ts'
import { backUp } from '../../../../shared/runtime/local/backup.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'
import { ok, useServers } from '../../adapters/local/https/server-harness.ts'

const directory = temporaryDirectory('backed-up')
afterAll(() => directory[Symbol.dispose]())
const { serve, authority, otherCredentials } = useServers('lean')

it.each(['another authority', 'the same certificate'])(
  'is made of the files where the control plane has ended, and one of %s has its port now',
  async (whose) => {
    const path = join(directory.path, whose)
    mkdirSync(path)
    const tls = whose === 'another authority' ? { tls: otherCredentials().tls } : {}
    const { url } = await serve(async () => ({ ...ok('Unauthorized'), status: 401 }), tls)
    writeKubeconfig(join(path, 'kubeconfig'), url, { authority: authority(), token: 't' })
    const { close } = openGuardedDatabase(join(path, 'setpoint.db'))
    // While a process has it, that process is asked.
    await expect(backUp(path, join(path, 'one'))).rejects.toThrow(url)
    close()
    expect(await backUp(path, join(path, 'one'))).toMatchObject({ resourceVersion: 1 })
    expect(existsSync(join(path, 'one'))).toBe(true)
  },
)
