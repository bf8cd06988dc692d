import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../../shared/testing/seeded-random.ts'
import { openApiClient } from '../support/api-client.ts'
import { startControlPlane, startLocalProgram } from '../support/control-plane-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/**
 * Kills a control plane in its first start, at a random moment, and starts it again: what keeps it from working then.
 */
export async function killFirstStart(program: string, random: SeededRandom): Promise<readonly string[]> {
  using directory = temporaryDirectory('first-start')
  const dataDirectory = join(directory.path, 'data')
  const first = await startLocalProgram({ program, dataDirectory })
  const momentMs = Math.round(random.next() * 700)
  await sleep(momentMs)
  await first.stop('SIGKILL')
  try {
    await using plane = await startControlPlane({ program, dataDirectory })
    using client = openApiClient(plane.kubeconfig)
    const { status } = await client.send('GET /api/v1/namespaces/default')
    return status === 200 ? [] : [`killed ${momentMs} ms after its first start, it answers ${status}`]
  } catch (error) {
    return [`killed ${momentMs} ms after its first start: ${(error as Error).message}`]
  }
}
