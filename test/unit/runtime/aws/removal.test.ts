import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { describe, expect, it, vi } from 'vitest'
import { lambdaBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { createRemoval } from '../../../../shared/runtime/aws/removal.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const created = {
  RequestType: 'Create',
  ResponseURL: 'https://cloudformation-custom-resource-response-useast1.s3.amazonaws.com/answer',
  ResourceProperties: { ServiceToken: '' },
} as const satisfies Partial<CloudFormationCustomResourceEvent>

type Put = typeof fetch

/** Answers with each of these in turn, an Error by throwing it, and with 200 from then on. */
function answering(...results: readonly (number | Error)[]) {
  const sent: Request[] = []
  const put: Put = async (url, init) => {
    const result = results[sent.length] ?? 200
    sent.push(new Request(url, init))
    init?.signal?.throwIfAborted()
    if (result instanceof Error) throw result
    return new Response(null, { status: result })
  }
  return { put, sent }
}

async function removed(put: Put): Promise<void> {
  const clock = createVirtualClock()
  const boundary = {
    ...lambdaBoundary,
    clock,
    environment: { SETPOINT_TABLE: 'table' },
    dynamodb: { region: 'us-east-1' },
  }
  const ended = createRemoval(boundary, put)(created as CloudFormationCustomResourceEvent)
  ended.catch(() => {})
  await clock.advance(60_000)
  return ended
}

describe('the answer to CloudFormation', () => {
  it('has no content type: its URL may be signed without one', async () => {
    const { put, sent } = answering()
    await removed(put)
    expect(sent.map(({ headers }) => headers.get('content-type'))).toEqual([''])
  })

  it.each([
    ['S3 is out of order', 503],
    ['the connection breaks', new TypeError('fetch failed')],
  ])('is sent again while %s', async (_, trouble) => {
    const { put, sent } = answering(trouble, trouble, trouble)
    await removed(put)
    const texts = await Promise.all(sent.map((one) => one.text()))
    expect([texts.length, new Set(texts).size]).toEqual([4, 1])
  })

  it('is not waited for longer than ten seconds, and sent again then', async () => {
    const over = AbortSignal.abort(new DOMException('it took too long', 'TimeoutError'))
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(over)
    const { put, sent } = answering()
    await removed(put)
    expect([sent.length, timeout.mock.calls]).toEqual([2, [[10_000], [10_000]]])
    timeout.mockRestore()
  })

  it('is given up after five times: Lambda begins anew', async () => {
    const { put, sent } = answering(...Array<number>(9).fill(403))
    await expect(removed(put)).rejects.toThrow('CloudFormation did not take the answer: 403')
    expect(sent).toHaveLength(5)
  })
})
