import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { expect, it } from 'vitest'
import { lambdaBoundary } from '../../../shared/runtime/aws-boundary.ts'
import { createRemoval } from '../../../shared/runtime/aws-removal.ts'

it('the answer to CloudFormation has no content type: its URL may be signed without one', async () => {
  const types: (string | null)[] = []
  const put = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    types.push(new Request(url, init).headers.get('content-type'))
    return new Response()
  }
  const boundary = { ...lambdaBoundary, environment: { SETPOINT_TABLE: 'table' }, dynamodb: { region: 'us-east-1' } }
  await createRemoval(boundary, put)(created as CloudFormationCustomResourceEvent)
  expect(types).toEqual([''])
})

const created = {
  RequestType: 'Create',
  ResponseURL: 'https://cloudformation-custom-resource-response-useast1.s3.amazonaws.com/answer',
  ResourceProperties: { ServiceToken: '' },
} as const satisfies Partial<CloudFormationCustomResourceEvent>
