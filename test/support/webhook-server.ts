import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAuthority } from './client-certificate.ts'

/** A server of webhooks on this machine, with a certificate of an authority of its own. */
export interface WebhookServer extends AsyncDisposable {
  readonly url: string
  /** PEM of who signed its certificate, in base64. */
  readonly caBundle: string
  /** What was asked, and by which path. */
  readonly asked: { readonly path: string; readonly body: Asked }[]
  /** What it answers from now on, as it is. Silence: nothing, ever. */
  answer: (body: Asked, path: string) => Answer | 'silence'
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into requests of every shape
type Asked = any

interface Answer {
  readonly status?: number
  readonly body: string
}

export async function startWebhookServer(): Promise<WebhookServer> {
  const authority = createAuthority('webhook authority')
  const asked: WebhookServer['asked'] = []
  const server = createServer(authority.issueServer(), (request, response) => {
    void respond(request, response)
  })
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? ''
    const body: Asked = JSON.parse(await readBody(request))
    asked.push({ path, body })
    const answer = started.answer(body, path)
    if (answer === 'silence') return
    response.statusCode = answer.status ?? 200
    response.end(answer.body)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const started: WebhookServer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: Buffer.from(authority.pem).toString('base64'),
    asked,
    answer: (body) => allow(body),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return started
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** An AdmissionReview that allows the request, with what else is said. */
export function allow({ request }: Asked, more: object = {}): Answer {
  return review({ uid: request.uid, allowed: true, ...more })
}

/** The same that does not. */
export function deny({ request }: Asked, status?: object): Answer {
  return review({ uid: request.uid, allowed: false, ...(status && { status }) })
}

/** The same with a JSON patch. */
export function patchWith(body: Asked, operations: readonly object[]): Answer {
  return allow(body, { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') })
}

export function review(response: object, more: object = {}): Answer {
  return {
    body: JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response, ...more }),
  }
}
