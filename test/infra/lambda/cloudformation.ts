import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FunctionProcess } from './function-process.ts'

export interface CustomResourceAnswer {
  readonly Status: 'SUCCESS' | 'FAILED'
  readonly Reason?: string
  readonly PhysicalResourceId: string
}

/** A controller as the template names it. */
interface Deployed {
  readonly name: string
  readonly group: string
  readonly kind: string
  readonly finalizer?: string
}

export interface Question {
  readonly type: 'Create' | 'Update' | 'Delete'
  readonly before?: readonly Deployed[]
  readonly after: readonly Deployed[]
}

export const shelfController = { name: 'shelf', group: 'example.dev', kind: 'Shelf', finalizer: 'example.dev/shelf' }
export const lampController = { name: 'lamp', group: 'example.dev', kind: 'Lamp' }

/**
 * Asks the function behind the custom resource as CloudFormation does, and takes its answer at the URL that it was
 * told.
 */
export async function askCloudFormation(
  removal: FunctionProcess,
  { type, before, after }: Question,
): Promise<CustomResourceAnswer> {
  const { promise, resolve } = Promise.withResolvers<CustomResourceAnswer>()
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => {
      resolve(JSON.parse(text) as CustomResourceAnswer)
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { error } = await removal.invoke({
      RequestType: type,
      ResponseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer`,
      StackId: 'arn:aws:cloudformation:us-east-1:123456789012:stack/Test/1',
      RequestId: 'request',
      LogicalResourceId: 'Controllers',
      ResourceType: 'Custom::SetpointControllers',
      ResourceProperties: { ServiceToken: 'token', controllers: after },
      ...(type !== 'Create' && { PhysicalResourceId: 'Controllers' }),
      ...(before && { OldResourceProperties: { ServiceToken: 'token', controllers: before } }),
    })
    if (error !== undefined) throw new Error(error.errorMessage)
    return await promise
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
