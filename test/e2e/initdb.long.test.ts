import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { openApiClient } from '../support/api-client.ts'
import { startControlPlane } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { endServers, serverPid } from '../support/postgres-servers.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { underLoad } from '../support/under-load.ts'

const directory = temporaryDirectory('initdb')
// So that the account of the server can reach it, and its files are below.
chmodSync(directory.path, 0o711)
const dataDirectory = join(directory.path, 'data')
afterAll(async () => {
  await endServers(dataDirectory)
  directory[Symbol.dispose]()
})

const clusters = '/apis/postgres.setpoint.dev/v1alpha1/namespaces/default/postgresclusters'
const main = { apiVersion: 'postgres.setpoint.dev/v1alpha1', kind: 'PostgresCluster', metadata: { name: 'main' } }

it.skipIf(process.platform !== 'linux')(
  'a stop while initdb stands still takes initdb with it, leaves no half of a server, and the next start makes one',
  { meta: { skipped: 'only Linux lists processes below /proc' } },
  async () => {
    const first = await startControlPlane({ dataDirectory })
    using client = openApiClient(first.kubeconfig)
    expect(await client.send(`POST ${clusters}`, { body: main })).toMatchObject({ status: 201 })
    process.kill(await firstOf(/initdb/), 'SIGSTOP')

    const startMs = performance.now()
    expect(await first.stop()).toMatchObject({ code: 0 })
    expect(performance.now() - startMs).toBeLessThan(underLoad(10_000))
    await eventually(async () => expect(programs(/initdb|postgres/)).toEqual([]))

    await using second = await startControlPlane({ dataDirectory })
    using again = openApiClient(second.kubeconfig)
    await eventually(async () => {
      const { body } = await again.send(`GET ${clusters}/main`)
      expect(body.status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
    })
    expect(await second.stop()).toMatchObject({ code: 0 })
    expect(serverPid(dataDirectory, 'default_main')).toBeDefined()
  },
)

/** Processes that are given something below the data directory. */
function programs(name: RegExp): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      const line = commandLine(pid)
      return name.test(line.split('\0')[0] ?? '') && line.includes(dataDirectory)
    })
    .map(Number)
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Looks often: initdb is done in less than half a second. */
async function firstOf(name: RegExp): Promise<number> {
  for (;;) {
    const [pid] = programs(name)
    if (pid !== undefined) return pid
    await sleep(5)
  }
}
