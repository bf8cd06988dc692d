import type { CloudFormationClientConfig } from '@aws-sdk/client-cloudformation'
import { loadOnce } from '../../model/load-once.ts'
import { clientTimeouts } from './client/client-timeouts.ts'
import { serviceFailure } from './client/service-failure.ts'

/** What CloudFormation does with a stack now, such as `UPDATE_IN_PROGRESS`. Throws UNAVAILABLE, THROTTLED, INTERNAL. */
export type FindStackStatus = (stackId: string) => Promise<string | undefined>

/** Asks CloudFormation itself. The client is loaded by the first call: most deployments need none. */
export function createFindStackStatus(config: CloudFormationClientConfig): FindStackStatus {
  const load = loadOnce(async () => {
    const sdk = await import('@aws-sdk/client-cloudformation')
    const requestHandler = clientTimeouts({ connectMs: 1_000, answerMs: 3_000 })
    return { sdk, client: new sdk.CloudFormationClient({ requestHandler, ...config }) }
  })
  return async (StackName) => {
    const { sdk, client } = await load()
    try {
      const { Stacks: [stack] = [] } = await client.send(new sdk.DescribeStacksCommand({ StackName }))
      return stack?.StackStatus
    } catch (error) {
      throw serviceFailure(error, `see what CloudFormation does with ${StackName}`)
    }
  }
}
