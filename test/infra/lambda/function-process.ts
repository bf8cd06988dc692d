import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomUUID } from 'node:crypto'
import { startProgram, type Program } from '../../support/program.ts'

/**
 * One execution environment of Lambda: a process with a runtime client in it, which asks a Runtime API here for its
 * next event. Like Lambda's, it has one event at a time. What it does not do is freeze between events, and end one
 * that takes too long. Protocol: AWS Lambda Developer Guide, "Using the Lambda runtime API".
 */
export interface FunctionProcess extends AsyncDisposable {
  /** Hands in an event, and resolves with the answer. */
  invoke(event: unknown): Promise<Answer>
  /** What it has written to its log. */
  readonly log: string
  /** Resolves when it asks for its first event: Lambda's init is over. Rejects if it ends before. */
  awaitBegin(): Promise<void>
  readonly pid: number
}

export interface Answer {
  /** Undefined unless the function failed. */
  readonly error?: { readonly errorType: string; readonly errorMessage: string }
  readonly streamed: boolean
  readonly body: Buffer
}

export interface FunctionOptions {
  /** The runtime client's command line, to which the handler is added. */
  readonly client: readonly string[]
  /** Where the code is. */
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Default 512. Of it, Lambda's runtime lets Node's heap have nine tenths; more ends the process. */
  readonly memoryMb?: number
}

interface Turn {
  readonly id: string
  readonly event: unknown
  readonly answered: PromiseWithResolvers<Answer>
}

export async function startFunction(options: FunctionOptions): Promise<FunctionProcess> {
  const turns = new Map<string, Turn>()
  const waiting: Turn[] = []
  let poll: ((turn: Turn) => void) | undefined
  const begun = Promise.withResolvers<void>()

  function hand(turn: Turn): void {
    turns.set(turn.id, turn)
    if (poll === undefined) waiting.push(turn)
    else poll(turn)
    poll = undefined
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, id = '', what] = /\/runtime\/(?:invocation\/)?([^/]+)\/?(\w*)$/.exec(request.url ?? '') ?? []
    if (id === 'next') {
      begun.resolve()
      const turn = waiting.shift()
      if (turn === undefined) poll = (next) => give(next, response, options)
      else give(turn, response, options)
      return
    }
    const body = Buffer.concat(await request.toArray())
    const streamed = request.headers['lambda-runtime-function-response-mode'] === 'streaming'
    const failed = what === 'error' ? { error: JSON.parse(body.toString()) as NonNullable<Answer['error']> } : {}
    const told: Answer = { body, streamed, ...failed }
    // An error while it starts is told of no event.
    if (id === 'init') for (const { answered } of turns.values()) answered.resolve(told)
    else turns.get(id)?.answered.resolve(told)
    response.writeHead(202).end('{"status":"OK"}')
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  }).listen(0, '127.0.0.1')
  // The answer of a slow function comes on a connection that was idle for as long as the function ran.
  server.keepAliveTimeout = 0
  await once(server, 'listening')
  const program = await startProgram(process.execPath, [...options.client, 'index.handler'], {
    cwd: options.directory,
    env: environmentOf(options, (server.address() as AddressInfo).port),
  })

  return {
    invoke: (event) => {
      const turn = { id: randomUUID(), event, answered: Promise.withResolvers<Answer>() }
      hand(turn)
      return Promise.race([turn.answered.promise, endOf(program)])
    },
    awaitBegin: () => Promise.race([begun.promise, endOf(program)]),
    pid: program.pid,
    get log() {
      return program.stdout + program.stderr
    },
    [Symbol.asyncDispose]: async () => {
      await program[Symbol.asyncDispose]()
      server.closeAllConnections()
      server.close()
    },
  }
}

async function endOf(program: Program): Promise<never> {
  const { code, stdout, stderr } = await program.ended
  throw new Error(`the function ended with ${code}: ${stdout}${stderr}`)
}

const functionArn = 'arn:aws:lambda:us-east-1:123456789012:function:test'

function give({ id, event }: Turn, response: ServerResponse, { timeoutMs }: FunctionOptions): void {
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Lambda-Runtime-Aws-Request-Id': id,
    'Lambda-Runtime-Deadline-Ms': String(Date.now() + timeoutMs),
    'Lambda-Runtime-Invoked-Function-Arn': functionArn,
    'Lambda-Runtime-Trace-Id': 'Root=1-5e1b4151-5ac6c58f3daf5a2b4b2a1c5d;Parent=53995c3f42cd8ad8;Sampled=0',
  })
  response.end(JSON.stringify(event))
}

function environmentOf(
  { directory, environment, memoryMb = 512 }: FunctionOptions,
  port: number,
): Readonly<Record<string, string>> {
  return {
    AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
    AWS_LAMBDA_FUNCTION_NAME: 'test',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    NODE_OPTIONS: `--max-old-space-size=${Math.floor(0.9 * memoryMb)}`,
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/test',
    AWS_LAMBDA_LOG_STREAM_NAME: 'test',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    LAMBDA_TASK_ROOT: directory,
    _HANDLER: 'index.handler',
    ...environment,
  }
}

/** What a streaming function answers to API Gateway: status and headers, eight zero bytes, then the body. */
export function streamedReply({ body, streamed }: Answer): { readonly status: number; readonly text: string } {
  const end = body.indexOf(Buffer.alloc(8))
  if (!streamed || end < 0) throw new Error(`not a streamed reply: ${body.toString()}`)
  const { statusCode } = JSON.parse(body.subarray(0, end).toString()) as { readonly statusCode: number }
  return { status: statusCode, text: body.subarray(end + 8).toString() }
}
