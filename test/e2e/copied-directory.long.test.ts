import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openApiClient } from '../support/api-client.ts'
import { startControlPlane, startLocalProgram, localProgram } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const jobs = '/apis/batch.setpoint.dev/v1alpha1/namespaces/default/cronjobs'
const job = {
  apiVersion: 'batch.setpoint.dev/v1alpha1',
  kind: 'CronJob',
  metadata: { name: 'night' },
  spec: {
    schedule: '0 0 1 1 *',
    suspend: true,
    jobTemplate: { spec: { databases: [{ name: 'orders' }], folder: 'night' } },
  },
}

const start = (dataDirectory: string, ...flags: readonly string[]) => startControlPlane({ dataDirectory, flags })

describe('a copy of a data directory', () => {
  it('is refused in a line; with --as-copy it is served and not reconciled, and with --resume it goes on', async () => {
    using scratch = temporaryDirectory('copy')
    const original = await start(join(scratch.path, 'original'))
    await original.stop()
    const copy = join(scratch.path, 'copy')
    cpSync(original.dataDirectory, copy, { recursive: true })

    await using refused = await startLocalProgram({ dataDirectory: copy })
    const { code, stderr } = await refused.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/^setpoint: cannot use \S+: setpoint\.db is a copy of .* --as-copy: .*--accept-loss: .*\n$/)

    for (const flags of [['--as-copy'], []]) {
      await using held = await start(copy, ...flags)
      expect(held.process.stdout).toContain('This is a copy of another control plane: nothing is reconciled.')
      using client = openApiClient(held.kubeconfig)
      const { status } = await client.send(`POST ${jobs}`, { body: job })
      expect(status).toBe(flags.length === 1 ? 201 : 409)
      // The second start finds it as it was sent: the first one had all its time, and ended in order.
      expect((await client.send(`GET ${jobs}/night`)).body).not.toHaveProperty('status.observedGeneration')
      expect((await client.send('GET /doctor')).body).toMatch(/look +does it act\? +no: /)
      await held.stop()
    }
    await using resumed = await start(copy, '--resume')
    expect(resumed.process.stdout).not.toContain('This is a copy')
    using client = openApiClient(resumed.kubeconfig)
    await eventually(async () => {
      const { body } = await client.send(`GET ${jobs}/night`)
      expect(body).toMatchObject({ status: { observedGeneration: 1 } })
    })
  })
})

it('a database that is gone is refused in a line, and --accept-loss begins anew', async () => {
  using scratch = temporaryDirectory('gone')
  const first = await start(join(scratch.path, 'data'))
  await first.stop()
  rmSync(join(first.dataDirectory, 'setpoint.db'))
  await using refused = await startLocalProgram({ dataDirectory: first.dataDirectory })
  expect((await refused.ended).stderr).toMatch(/^setpoint: .*setpoint\.db is missing, .*--accept-loss.*\n$/)
  await using again = await start(first.dataDirectory, '--accept-loss')
  // Who said so at once has it in the log.
  expect(await again.stop()).toMatchObject({ code: 0, stderr: expect.stringContaining('setpoint.db is missing') })
})

it('flags that say different things are refused', async () => {
  const { code, stderr } = await runProgram(process.execPath, [localProgram, '--as-copy', '--resume'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'setpoint: --as-copy and --resume say different things\n' })
})
