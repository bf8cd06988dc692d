import { expect, it } from 'vitest'
import { HttpError } from 'setpoint'
import { createTestEnv } from 'setpoint/testing'
import { Mailbox, mailboxReconciler, type MailApi } from './mailbox.ts'

type Box = Record<string, string | number>

/** A provider in memory. */
function createProvider(): MailApi & { readonly boxes: Map<string, Box>; loseNextAnswer: boolean } {
  const boxes = new Map<string, Box>()
  const work = (method: string, id: string, body: object): Box | undefined => {
    const byOwner = [...boxes.values()].find(({ owner }) => `by-owner/${owner}` === id)
    const found = method === 'POST' ? { id: `m${boxes.size + 1}` } : (boxes.get(id) ?? byOwner)
    if (found === undefined) return undefined
    const box = { ...found, ...body }
    if (method === 'DELETE') boxes.delete(id)
    else boxes.set(String(box.id), box)
    return box
  }
  return {
    boxes,
    loseNextAnswer: false,
    async call(request, body = {}) {
      const [method = '', id = ''] = request.replace('/mailboxes', '').replace(' /', ' ').split(' ')
      const box = work(method, id, body)
      if (box === undefined) throw new HttpError(404, 'no such mailbox')
      if (!this.loseNextAnswer) return box
      this.loseNextAnswer = false
      throw new TypeError('fetch failed')
    },
  }
}

it('makes one mailbox, though the answer is lost, keeps it as declared, and takes it away', async () => {
  const provider = createProvider()
  await using env = await createTestEnv({ reconcilers: [mailboxReconciler(provider)] })
  provider.loseNextAnswer = true
  await env.apply(Mailbox, { metadata: { name: 'info' }, spec: { address: 'info@example.dev' } })
  await env.advance('10s')
  expect([...provider.boxes.values()]).toMatchObject([{ id: 'm1', address: 'info@example.dev', quotaMb: 500 }])
  expect(await env.get(Mailbox, 'info')).toMatchObject({ status: { id: 'm1', webmail: 'https://mail.example/m1' } })

  provider.boxes.set('m1', { ...provider.boxes.get('m1'), quotaMb: 1 })
  await env.advance('5m')
  expect(provider.boxes.get('m1')).toMatchObject({ quotaMb: 500 })

  await env.delete(Mailbox, 'info')
  await env.settle()
  expect(provider.boxes.size).toBe(0)
})

it('takes over a mailbox that is there already, and only one object may have it', async () => {
  const provider = createProvider()
  provider.boxes.set('m7', { id: 'm7', address: 'info@example.dev', quotaMb: 500 })
  await using env = await createTestEnv({ reconcilers: [mailboxReconciler(provider)] })
  const adopting = (name: string) => ({
    metadata: { name, annotations: { 'setpoint.dev/external-id': 'm7', 'setpoint.dev/adopt': 'override' } },
    spec: { address: 'info@example.dev', quotaMb: 900 },
  })
  await env.apply(Mailbox, adopting('info'))
  await env.settle()
  expect([...provider.boxes.values()]).toMatchObject([{ id: 'm7', quotaMb: 900, owner: expect.any(String) }])

  await env.apply(Mailbox, adopting('thief'))
  await env.settle()
  const thief = await env.get(Mailbox, 'thief')
  expect(thief?.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Stalled', reason: 'OwnedByAnother' }),
  )
})
