import { expect, it } from 'vitest'
import { HttpError, parseRetryAfter } from 'setpoint'
import { createTestEnv, startFarSide } from 'setpoint/testing'
import { Mailbox, mailboxReconciler, type MailApi } from './mailbox.ts'

/** The API by `fetch`, as a program calls it that is deployed. */
function openMailApi(url: string): MailApi {
  return {
    async call(request, body?) {
      const [method = '', path = ''] = request.split(' ')
      const answer = await fetch(`${url}${path}`, { method, ...(body && { body: JSON.stringify(body) }) })
      if (answer.ok) return (await answer.json()) as Record<string, string | number>
      const retryAfterMs = parseRetryAfter(answer.headers.get('retry-after'), Date.now())
      throw new HttpError(answer.status, await answer.text(), retryAfterMs === undefined ? {} : { retryAfterMs })
    },
  }
}

it('makes one mailbox over HTTP, though the far side is too busy, and an answer is lost', async () => {
  const boxes: Record<string, string>[] = []
  await using far = await startFarSide(({ method, path, body }) => {
    if (method === 'POST') boxes.push({ id: `m${boxes.length + 1}`, ...(body as object) })
    const box = boxes.find(({ id, owner }) => path.endsWith(`/${id}`) || path.endsWith(`/${owner}`)) ?? boxes.at(-1)
    return box === undefined ? { status: 404, body: {} } : { body: box }
  })
  far.faults.answer({ status: 503 }, { when: ({ method }) => method === 'POST' })
  far.faults.lose({ when: ({ method }) => method === 'POST' })

  const reconcilers = [mailboxReconciler(openMailApi(far.url))]
  await using env = await createTestEnv({ reconcilers, isBusy: () => far.isBusy() })
  await env.apply(Mailbox, { metadata: { name: 'info' }, spec: { address: 'info@example.dev' } })
  await env.advance('1m')
  expect(boxes).toMatchObject([{ id: 'm1', address: 'info@example.dev' }])
  expect(await env.get(Mailbox, 'info')).toMatchObject({ status: { id: 'm1' } })
})
