import { parentPort } from 'node:worker_threads'
import { allow, deny, patchWith, startWebhookServer } from './webhook-server.ts'

/**
 * A server of webhooks in a thread of its own, so that what it costs counts for nobody else. The path of a request says
 * what is answered.
 */
const server = await startWebhookServer()
server.answer = (body, path) => {
  server.asked.length = 0
  const [, name = ''] = path.split(/[/?]/)
  if (name === 'patch') {
    const key = `k${Math.random()}`
    return patchWith(body, [{ op: 'add', path: '/metadata/labels', value: { [key]: 'x' } }])
  }
  if (name === 'replace') {
    const value = { ...body.request.object.spec, r: Math.random() }
    return patchWith(body, [{ op: 'replace', path: '/spec', value }])
  }
  if (name === 'shift') {
    const operation = { op: 'add', path: '/spec/s/0', value: 1 }
    return patchWith(
      body,
      Array.from({ length: 500 }, () => operation),
    )
  }
  if (name === 'talk') return allow(body, { warnings: ['x'.repeat(1_000_000)] })
  return name === 'deny' ? deny(body) : allow(body)
}
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is of windows
parentPort?.postMessage({ url: server.url, caBundle: server.caBundle })
