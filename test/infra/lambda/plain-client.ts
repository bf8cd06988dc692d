import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PassThrough, type Writable } from 'node:stream'

/**
 * A Lambda runtime client without anything native in it: for machines where AWS's own cannot be compiled, and for tests
 * that look at what functions ask of AWS rather than at how they are called.
 */
type Handler = (event: unknown, output: unknown, context?: object) => Promise<unknown>

const streaming = Symbol('streaming')

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: Handler) => Object.assign(handler, { [streaming]: true }),
    HttpResponseStream: {
      from: (output: Writable, prelude: object) => {
        output.write(JSON.stringify(prelude))
        output.write(Buffer.alloc(8))
        return output
      },
    },
  },
})

const api = `http://${process.env['AWS_LAMBDA_RUNTIME_API'] ?? ''}/2018-06-01/runtime/invocation`
const { handler } = createRequire(join(process.cwd(), 'index.mjs'))('./index.mjs') as { readonly handler: Handler }

for (;;) {
  const next = await fetch(`${api}/next`)
  const event: unknown = await next.json()
  const id = next.headers.get('lambda-runtime-aws-request-id') ?? ''
  const deadlineMs = Number(next.headers.get('lambda-runtime-deadline-ms'))
  const context = { awsRequestId: id, getRemainingTimeInMillis: () => deadlineMs - Date.now() }
  try {
    await (streaming in handler ? stream(id, event, context) : buffer(id, event, context))
  } catch (error) {
    const { name, message } = error as Error
    await fetch(`${api}/${id}/error`, {
      method: 'POST',
      body: JSON.stringify({ errorType: name, errorMessage: message }),
    })
  }
}

async function buffer(id: string, event: unknown, context: object): Promise<void> {
  const result = (await handler(event, context)) ?? null
  await fetch(`${api}/${id}/response`, { method: 'POST', body: JSON.stringify(result) })
}

async function stream(id: string, event: unknown, context: object): Promise<void> {
  const output = new PassThrough()
  const collected = output.toArray()
  await handler(event, output, context)
  output.end()
  const body = Buffer.concat((await collected) as Buffer[])
  await fetch(`${api}/${id}/response`, {
    method: 'POST',
    headers: { 'Lambda-Runtime-Function-Response-Mode': 'streaming' },
    body,
  })
}
