/**
 * Loaded into every function's process ahead of its code, since MiniStack's own runtime lacks three things of Lambda's:
 *
 * - `awslambda`, for functions whose answer is a stream. The answer is given whole, when it has ended.
 * - An end that waits: MiniStack kills functions that run when their code or settings change, two seconds after it has
 *   told them. What they do is done by then, as a rule.
 * - A way from `fetch` to the emulator's STS. What verifies tokens asks the host that the token names, and MiniStack
 *   stands elsewhere; it also answers in XML where STS answers in JSON if asked to.
 */
import { Buffer } from 'node:buffer'
import { request } from 'node:https'
import readline from 'node:readline'
import { Writable } from 'node:stream'

interface Head {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
}

class Collected extends Writable {
  head: Head = { statusCode: 200, headers: {} }
  readonly chunks: Buffer[] = []

  override _write(chunk: Buffer | string, _: BufferEncoding, done: () => void): void {
    this.chunks.push(Buffer.from(chunk))
    done()
  }
}

type StreamingHandler = (event: unknown, stream: Collected, context: unknown) => Promise<unknown>

const awslambda = {
  streamifyResponse: (handler: StreamingHandler) => async (event: unknown, context: unknown) => {
    const stream = new Collected()
    const ended = new Promise((resolve, reject) => stream.once('finish', resolve).once('error', reject))
    await handler(event, stream, context)
    await ended
    return { ...stream.head, body: Buffer.concat(stream.chunks).toString() }
  },
  HttpResponseStream: {
    from: (stream: Collected, head: Head) => {
      stream.head = head
      return stream
    },
  },
}

const outside = globalThis.fetch

async function fetchHere(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input)
  return /^sts(\.[\w-]+)?\.amazonaws\.com$/.test(url.host) ? askSts(url, init?.headers) : outside(input, init)
}

/** Under the name that was signed: the emulator checks the signature, in which the host is. */
async function askSts(url: URL, given: RequestInit['headers']): Promise<Response> {
  const { hostname, port } = new URL(process.env['AWS_ENDPOINT_URL'] ?? '')
  const headers = { ...Object.fromEntries(new Headers(given)), host: url.host }
  const path = url.pathname + url.search
  return new Promise((resolve, reject) => {
    const asking = request({ hostname, port, path, servername: 'localhost', headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('end', () => {
        resolve(new Response(jsonOf(Buffer.concat(chunks).toString()), { status: answer.statusCode ?? 500 }))
      })
    })
    asking.once('error', reject).end()
  })
}

function jsonOf(xml: string): string {
  if (xml.startsWith('{"GetCallerIdentityResponse"')) throw new Error('MiniStack answers in JSON: drop this adaptation')
  const [, Arn] = /<Arn>([^<]+)<\/Arn>/.exec(xml) ?? []
  return Arn === undefined ? xml : JSON.stringify({ GetCallerIdentityResponse: { GetCallerIdentityResult: { Arn } } })
}

const work = { running: 0, isOver: false }

function endIfDone(): void {
  if (work.isOver && work.running === 0) process.exit(0)
}

const createInterface = readline.createInterface.bind(readline)
readline.createInterface = ((options: readline.ReadLineOptions) => {
  const lines = createInterface(options)
  if (options.input === process.stdin)
    // The first line says which function it is; each other one is an invocation.
    lines.once('line', () => lines.on('line', () => void work.running++))
  return lines
}) as typeof readline.createInterface

const write = process.stdout.write.bind(process.stdout)
process.stdout.write = (chunk: string | Uint8Array, ...rest: never[]) => {
  const isAnswer = work.running > 0 && /^\{"status":"(ok|error)"/.test(String(chunk).slice(0, 20))
  if (!isAnswer) return write(chunk, ...rest)
  return write(chunk, () => {
    work.running--
    endIfDone()
  })
}

process.on('SIGTERM', () => {
  work.isOver = true
  endIfDone()
})

Object.assign(globalThis, { awslambda, fetch: fetchHere })
