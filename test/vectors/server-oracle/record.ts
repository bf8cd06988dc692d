import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../../shared/model/json.ts'
import { play, userAgent, type Reply } from './play.ts'
import type { Step } from './requests.ts'
import { drawSession } from './sessions.ts'

/**
 * `node record.ts A B`: plays the sessions of these seeds on the server of `serve.sh`, and prints each with the
 * answers. The server must not have seen them before.
 */
const server = 'https://127.0.0.1:16443'
const token = 'oracle'

async function ask({ line, type, body }: Step): Promise<Reply> {
  const [method = '', target = ''] = line.split(' ')
  const headers = { authorization: `Bearer ${token}`, 'user-agent': userAgent, accept: 'application/json' }
  const response = await fetch(server + target, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': type ?? 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
  return {
    status: response.status,
    warning: response.headers.get('warning') ?? undefined,
    body: isJson ? JSON.parse(text) : text,
  }
}

/** A definition is served, and takes objects, a moment after it was created. */
async function send(step: Step): Promise<Reply> {
  const reply = await ask(step)
  if (!step.line.endsWith('/customresourcedefinitions') || reply.status !== 201) return reply
  if (!isObject(step.body) || !isObject(step.body['metadata'])) return reply
  const [plural = '', ...group] = String(step.body['metadata']['name']).split('.')
  const path = `/apis/${group.join('.')}/v1/namespaces/default/${plural}`
  for (;;) {
    const [seen, taken] = [await ask({ line: `GET ${path}` }), await ask({ line: `POST ${path}?dryRun=All`, body: {} })]
    if (seen.status === 200 && ![404, 405, 503].includes(taken.status)) return reply
    await sleep(50)
  }
}

const [from = 0, to = 0] = process.argv.slice(2).map(Number)
for (let seed = from; seed <= to; seed++) {
  const want = await play(drawSession(seed), send)
  console.log(JSON.stringify({ seed, want }))
  const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/s${seed}s.s${seed}.example.dev`
  await ask({ line: `DELETE ${definition}` })
}
