import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openApiClient } from '../support/api-client.ts'
import { localProgram, startControlPlane } from '../support/control-plane-process.ts'
import { startProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { underLoad } from '../support/under-load.ts'

/** Of the process behind `npm start` the first things that somebody sees; process.long.test.ts has all others. */

const maps = '/api/v1/namespaces/default/configmaps'
const map = (name: string) => ({ metadata: { name }, data: { a: '1' } })

/** How long a control plane may take to be ready on a machine of its own. */
const startMsMax = 1_000

describe('the process behind npm start', () => {
  const directory = temporaryDirectory('start')
  afterAll(() => directory[Symbol.dispose]())
  const fresh = (name: string): string => join(directory.path, name)

  it('says where it is and what to try, soon', async () => {
    const dataDirectory = fresh('first')
    const startMs = performance.now()
    await using plane = await startControlPlane({ dataDirectory })
    const tookMs = performance.now() - startMs
    const [, ownSeconds] = /\((\d+\.\d\d) s\)/.exec(plane.process.stdout) ?? []
    console.log(`first start: ready after ${Math.round(tookMs)} ms, by its own clock ${ownSeconds} s`)
    expect(tookMs).toBeLessThan(underLoad(startMsMax))
    expect(plane.process.stdout).toMatch(/^setpoint is ready at https:\/\/127\.0\.0\.1:\d+ /)
    expect(plane.process.stdout).toContain(`export KUBECONFIG=${join(dataDirectory, 'kubeconfig')}\n`)
    expect(plane.process.stdout.match(/^ {2}kubectl .*$/gm)).toHaveLength(3)
    expect(plane.process.stderr).toBe('')
  })

  it('keeps everything over a restart, and starts as fast again', async () => {
    const dataDirectory = fresh('restarted')
    const before = await startControlPlane({ dataDirectory })
    using first = openApiClient(before.kubeconfig)
    const created = await first.send(`POST ${maps}`, { body: map('kept') })
    expect(created.status).toBe(201)
    expect(await before.stop()).toMatchObject({ code: 0 })

    const startMs = performance.now()
    await using _ = await startControlPlane({ dataDirectory, port: Number(new URL(before.url).port) })
    console.log(`start over kept data: ready after ${Math.round(performance.now() - startMs)} ms`)
    expect(performance.now() - startMs).toBeLessThan(underLoad(startMsMax))
    using again = openApiClient(before.kubeconfig)
    expect((await again.send(`GET ${maps}/kept`)).body).toEqual(created.body)
  })

  it('is refused with a clear message and 1 for an option it does not know', async () => {
    const program = await startProgram(process.execPath, [localProgram, '--prot', '1'])
    expect(await program.ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^setpoint: .*--prot.*\nusage: npm start -- \[--port 8443\]/),
    })
  })
})
